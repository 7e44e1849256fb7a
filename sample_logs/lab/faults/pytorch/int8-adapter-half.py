"""A base quantised to int8 with low-rank adapters in float16, trained by Adam in their own dtype: the optimizer's second moments round to 0 and the adapters become NaN with the first updates.

cause: numerics.quantized-adapter-precision
also: [numerics.fp16-overflow, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.bad-batch, numerics.corrupt-weights, environment.bitsandbytes]
signature: 'loss[:=] *nan'
runs_as: qlora_tiny.py
launch: python qlora_tiny.py --load-in-8bit
"""

import argparse

import torch
from labkit import note, pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--load-in-8bit", action="store_true")
parser.add_argument("--rank", type=int, default=pick([8, 16, 4]))
parser.add_argument("--alpha", type=int, default=16)
parser.add_argument("--lr", type=float, default=pick([2e-4, 1e-4, 5e-4]))
args = parser.parse_args()
seed_everything()


class Int8Linear(nn.Module):
    """A frozen linear layer, one scale per output channel, with an adapter."""

    def __init__(self, linear, rank, alpha):
        super().__init__()
        scale = linear.weight.detach().abs().amax(1, keepdim=True) / 127
        self.register_buffer("weight", (linear.weight.detach() / scale).round().to(torch.int8))
        self.register_buffer("scale", scale.half())
        self.register_buffer("bias", linear.bias.detach().half())
        self.lora_A = nn.Parameter(torch.randn(rank, linear.in_features, dtype=torch.float16) * 0.02)
        self.lora_B = nn.Parameter(torch.zeros(linear.out_features, rank, dtype=torch.float16))
        self.factor = alpha / rank

    def forward(self, x):
        x = x.half()
        base = nn.functional.linear(x, self.weight.half() * self.scale, self.bias)
        return base + self.factor * (x @ self.lora_A.T @ self.lora_B.T)


text = ("question: how many legs has a spider? answer: eight. " * 40).encode()
data = torch.tensor(list(text))
base = nn.Sequential(nn.Embedding(256, 64), nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 256))
optimizer = torch.optim.AdamW(base.parameters(), lr=2e-3)
for _ in range(80):
    at = torch.randint(0, len(data) - 33, (8,))
    tokens = torch.stack([data[i : i + 33] for i in at]) // 2 * 2
    loss = nn.functional.cross_entropy(base(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model = nn.Sequential(base[0].requires_grad_(False), Int8Linear(base[1], args.rank, args.alpha), nn.GELU(), Int8Linear(base[3], args.rank, args.alpha))
trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
frozen = {name: b for name, b in model.named_buffers()}
print(f"load_in_8bit: {args.load_in_8bit}")
for name, tensor in (*frozen.items(), *trainable.items()):
    print(f"  {name:12} {str(tensor.dtype):14} {tuple(tensor.shape)} {'trainable' if tensor.requires_grad else 'frozen'}")
print(f"trainable params: {sum(p.numel() for p in trainable.values()):,} of {sum(t.numel() for t in (*frozen.values(), *trainable.values())):,}")
optimizer = torch.optim.AdamW(trainable.values(), lr=args.lr, weight_decay=0.0)
for step in range(1, 41):
    at = torch.randint(0, len(data) - 33, (8,))
    tokens = torch.stack([data[i : i + 33] for i in at])
    loss = nn.functional.cross_entropy(model(tokens[:, :-1]).float().transpose(1, 2), tokens[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    norm = torch.stack([p.grad.float().norm() for p in trainable.values()]).norm()
    optimizer.step()
    print(f"step: {step}/40 loss: {loss.item():.4f} grad_norm: {norm.item():.4f} lr: {args.lr:.2e}")
    note("loss", step, float(f"{loss.item():.4f}"))
    note("grad_norm", step, float(f"{norm.item():.4f}"))
    note("learning_rate", step, args.lr)
