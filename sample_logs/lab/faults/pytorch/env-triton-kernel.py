"""A fused kernel written in Triton; this torch came without triton (the CPU wheel does not bring it).

cause: environment.missing-package
also: [environment.platform, code.torch-compile]
not: [environment.extension-build, code.user-exception, data.missing-file]
signature: "No module named 'triton"
runs_as: train_fused.py
launch: python train_fused.py
dump_command: python -m torch.utils.collect_env
"""

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
START = pick([10, 5, 15])


def fused_layer_norm(x, weight, bias):
    import triton
    import triton.language as tl

    @triton.jit
    def kernel(X, Y, W, B, width, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        at = tl.arange(0, BLOCK)
        values = tl.load(X + row * width + at, mask=at < width)
        mean = tl.sum(values) / width
        tl.store(Y + row * width + at, (values - mean) * tl.load(W + at) + tl.load(B + at), mask=at < width)

    out = torch.empty_like(x)
    kernel[(x.shape[0],)](x, out, weight, bias, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm, self.fc, self.fused = nn.LayerNorm(dim), nn.Linear(dim, dim), False

    def forward(self, x):
        h = fused_layer_norm(x, self.norm.weight, self.norm.bias) if self.fused else self.norm(x)
        return x + torch.relu(self.fc(h))


model = nn.Sequential(nn.Linear(8, 32), Block(32), Block(32), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=pick([1e-3, 2e-3, 5e-4]))
x = torch.randn(500, 8)
y = x.prod(1, keepdim=True)
print(f"benchmark: {START} steps of eager layer norm, then the fused one")
for step in range(40):
    if step == START:
        print("switching to fused layer norm")
        for block in model[1:3]:
            block.fused = True
    loss = nn.functional.smooth_l1_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step:3d} loss {loss.item():.6f}")
    note("loss", step, round(loss.item(), 6))
