"""A hand-written transformer with re-entrant checkpointing gets LoRA layers: the checkpointed blocks' inputs come from a frozen embedding and need no gradient, so nothing is recorded.

cause: config.checkpointing-conflict
also: [code.autograd-no-grad, config.peft]
not: [code.autograd-inplace, learning.plateau]
signature: 'RuntimeError: element 0 of tensors does not require grad'
runs_as: train_lora.py
launch: python train_lora.py
environment: transformers
"""

import torch
from labkit import pick, seed_everything
from peft import LoraConfig, get_peft_model
from torch.utils.checkpoint import checkpoint

seed_everything()
WIDTH, DEPTH = pick([48, 64, 32]), pick([4, 3, 6])


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, hidden):
        mixed = hidden.cumsum(1) / torch.arange(1, hidden.shape[1] + 1).view(1, -1, 1)
        return hidden + self.down(torch.nn.functional.gelu(self.up(self.norm(mixed))))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(300, WIDTH)
        self.blocks = torch.nn.ModuleList(Block() for _ in range(DEPTH))
        self.head = torch.nn.Linear(WIDTH, 300)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        for block in self.blocks:
            hidden = checkpoint(block, hidden, use_reentrant=True)
        return self.head(hidden)


model = get_peft_model(Model(), LoraConfig(r=pick([8, 4, 16]), target_modules=["up", "down"]))
model.print_trainable_parameters()
print("activation checkpointing: on (re-entrant)")
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
model.train()
for step in range(200):
    tokens = torch.randint(0, 300, (8, 32))
    loss = torch.nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step} loss {loss.item():.4f}")
