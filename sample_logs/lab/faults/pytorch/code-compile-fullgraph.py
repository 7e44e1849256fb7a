r"""The training step is compiled with fullgraph=True and holds something dynamo cannot trace (a data-dependent branch, an unknown C function, a print to a file).

cause: code.torch-compile
also: [code.user-exception]
not: [environment.extension-build, environment.missing-package, environment.version-incompatible]
signature: '^torch\.(_dynamo\.exc\.\w+|fx\.\S+): '
runs_as: train_compiled.py
launch: python train_compiled.py
seconds: 180
"""

import time

import torch
from labkit import pick, seed_everything
from torch import nn

seed_everything()


class Router(nn.Module):
    def __init__(self, dim, experts, mode):
        super().__init__()
        self.mode = mode
        self.gate = nn.Linear(dim, experts)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(experts))

    def forward(self, x):
        weight = self.gate(x).softmax(-1)
        if self.mode == "adaptive" and weight.max() > 0.99:
            return self.experts[0](x)
        if self.mode == "logged":
            print("gate load:", weight.mean(0).tolist(), file=open("gate.log", "a"))
        if self.mode == "sparse":
            rows = torch.nonzero(weight[:, 0] > 0.5).tolist()
            x = x + len(rows)
        return sum(w.unsqueeze(-1) * e(x) for w, e in zip(weight.unbind(-1), self.experts))


model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), Router(64, pick([4, 2, 8]), pick(["adaptive", "logged", "sparse"])), nn.Linear(64, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x, y = torch.randn(512, 16), torch.randint(0, 3, (512,))
print("torch", torch.__version__.split("+")[0], "| experts", len(model[2].experts))
began = time.perf_counter()
for step in range(20):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 5 == 0:
        print(f"eager step {step} loss {loss.item():.4f}")
print(f"eager: {(time.perf_counter() - began) / 20 * 1000:.2f} ms per step")
model = torch.compile(model, fullgraph=True, backend=pick(["aot_eager", "eager", "aot_eager"]))
print("compiling ...")
for step in range(20, 100):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 5 == 0:
        print(f"compiled step {step} loss {loss.item():.4f}")
