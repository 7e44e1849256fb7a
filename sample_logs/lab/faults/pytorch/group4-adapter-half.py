"""A base quantised to 4 bits in groups and a bottleneck adapter kept in float16, trained by plain SGD: while the float32 loss falls, the outputs of the adapter rise past 65504 and are inf from then on.

cause: numerics.quantized-adapter-precision
also: [numerics.fp16-overflow, numerics.nonfinite-unknown]
not: [numerics.bad-batch, numerics.corrupt-weights, environment.bitsandbytes, numerics.labels-all-masked]
signature: "'adapter_max': (inf|nan)"
runs_as: tune_adapter.py
"""

import pprint

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
BITS, GROUP, WIDTH = 4, pick([32, 16, 32]), pick([64, 64, 96])


def quantised(weight):
    groups = weight.reshape(-1, GROUP)
    scale = groups.abs().amax(1, keepdim=True) / 7
    return (groups / scale).round().clamp(-8, 7).to(torch.int8), scale


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        for name in ("first", "second"):
            codes, scale = quantised(torch.randn(WIDTH, WIDTH) / WIDTH**0.5)
            self.register_buffer(f"{name}_codes", codes)
            self.register_buffer(f"{name}_scale", scale)

    def forward(self, x):
        for name in ("first", "second"):
            weight = (getattr(self, f"{name}_codes") * getattr(self, f"{name}_scale")).reshape(WIDTH, WIDTH)
            x = x + torch.relu(x @ weight.T)
        return x


class Adapter(nn.Module):
    def __init__(self, rank):
        super().__init__()
        self.down, self.up = nn.Linear(WIDTH, rank), nn.Linear(rank, 1)
        self.half()

    def forward(self, x):
        hidden = torch.relu(self.down(x.half()))
        out = self.up(hidden)
        return out.float(), out


base, adapter = Base(), Adapter(pick([16, 8, 16]))
x = torch.randn(2048, WIDTH)
with torch.no_grad():
    target = base(x).abs().sum(1, keepdim=True) * pick([900, 1100, 600])
pprint.pprint({
    "base": {"quantisation": f"{BITS}-bit, groups of {GROUP}", "parameters": 2 * WIDTH * WIDTH, "compute dtype": "torch.float32"},
    "adapter": {name: str(p.dtype) for name, p in adapter.named_parameters()},
    "target": {"mean": round(target.mean().item(), 1), "max": round(target.max().item(), 1)},
})
optimizer = torch.optim.SGD(adapter.parameters(), lr=pick([0.02, 0.02, 0.02]))
for step in range(1, 81):
    rows = torch.randint(0, len(x), (64,))
    predicted, out = adapter(base(x[rows]))
    loss = nn.functional.l1_loss(predicted, target[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print({"step": step, "loss": round(loss.item(), 2), "adapter_max": out.abs().max().item(), "adapter_dtype": str(out.dtype)})
    note("loss", step, round(loss.item(), 2))
