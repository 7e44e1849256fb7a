"""A language model saved in bfloat16 is sampled in float16: a token with very large activations leaves float16's range and torch.multinomial refuses the NaN probabilities.

cause: numerics.fp16-overflow
also: [numerics.nonfinite-unknown, numerics.corrupt-weights]
not: [numerics.lr-divergence, cuda.device-side-assert, code.user-exception, numerics.padding-or-mask]
signature: 'RuntimeError: probability tensor contains'
runs_as: sample.py
launch: python sample.py --checkpoint ckpt.pt --dtype float16
"""

import argparse

import torch
from labkit import pick, seed_everything
from torch import nn

seed_everything()
parser = argparse.ArgumentParser()
parser.add_argument("--checkpoint", required=True)
parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float16", "float32"])
parser.add_argument("--temperature", type=float, default=pick([0.8, 1.0, 0.7]))
parser.add_argument("--max-new-tokens", type=int, default=24)
args = parser.parse_args()

VOCABULARY = "\n abcdefghijklmnopqrstuvwxyz.,:[]INST/"
SUPPRESSED = [VOCABULARY.index(c) for c in "[]"]
WIDTH = pick([64, 48, 80])


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.RMSNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))) ** 2)


class Model(nn.Module):
    def __init__(self, vocabulary, width, layers):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm, self.head = nn.RMSNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens).cumsum(1) / torch.arange(1, tokens.shape[1] + 1, dtype=self.embed.weight.dtype)[:, None]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


# The checkpoint stands in for one trained in bfloat16: as in real models, one channel of the first block answers the token "[" with massive activations.
trained = Model(len(VOCABULARY), WIDTH, 3)
with torch.no_grad():
    direction = torch.randn(WIDTH)
    trained.embed.weight[VOCABULARY.index("[")] = direction * 10
    for token in range(len(VOCABULARY)):
        if VOCABULARY[token] != "[":
            trained.embed.weight[token] -= trained.embed.weight[token] @ direction / (direction @ direction) * direction
    trained.blocks[0].up.weight[5] = direction * 10
torch.save({"model": trained.bfloat16().state_dict(), "iteration": 42000, "dtype": "bfloat16"}, args.checkpoint)

saved = torch.load(args.checkpoint)
print(f"loaded {args.checkpoint}: iteration {saved['iteration']}, trained in {saved['dtype']}")
model = Model(len(VOCABULARY), WIDTH, 3)
model.load_state_dict(saved["model"])
model = model.to(getattr(torch, args.dtype)).eval()
print(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M, running in {next(model.parameters()).dtype}, temperature {args.temperature}")
prompts = pick([["once upon a time", "the cat sat on", "[INST] tell me a story [/INST]"], ["dear reader,", "[INST] write a poem [/INST]"], ["a b c", "lorem ipsum", "to be or not", "[INST] sum this up [/INST]"]])
for number, prompt in enumerate(prompts, 1):
    print(f"=== prompt {number}/{len(prompts)}: {prompt!r}")
    tokens = torch.tensor([[VOCABULARY.index(c) for c in prompt]])
    with torch.no_grad():
        for _ in range(args.max_new_tokens):
            logits = model(tokens)[:, -1, :] / args.temperature
            logits[:, SUPPRESSED] = float("-inf")
            probs = torch.softmax(logits, dim=-1)
            tokens = torch.cat([tokens, torch.multinomial(probs, num_samples=1)], dim=1)
    print("".join(VOCABULARY[t] for t in tokens[0]).replace("\n", "⏎"))
