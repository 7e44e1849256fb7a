"""A model is built on the meta device and given memory by to_empty; the checkpoint lacks one layer's tensors, so these stay uninitialised (deterministic torch fills such memory with NaN) and every loss is NaN.

cause: numerics.corrupt-weights
also: [checkpoint.key-mismatch, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.bad-batch, memory.cuda-oom]
signature: 'missing keys'
first_failure: 'loss=nan'
runs_as: run.py
"""

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
torch.use_deterministic_algorithms(True)
LAYERS, WIDTH = pick([(4, 32), (3, 48), (6, 32)])
LACKING = pick([2, 1, 4])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(10, WIDTH)
        self.layers = nn.ModuleList(nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, 3)

    def forward(self, x):
        x = self.encoder(x)
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)


weights = {key: value for key, value in Net().state_dict().items() if not key.startswith(f"layers.{LACKING}.1.")}
torch.save(weights, "model.pt")

print("building the model on device meta")
with torch.device("meta"):
    model = Net()
print(f"  {sum(p.numel() for p in model.parameters())} parameters, {sum(p.is_meta for p in model.parameters())} tensors on meta")
model.to_empty(device="cpu")
result = model.load_state_dict(torch.load("model.pt"), strict=False)
print(f"loaded model.pt (strict=False): {len(weights)} tensors, missing keys {result.missing_keys}, unexpected keys {result.unexpected_keys}")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.randn(400, 10)
y = (x[:, 0] > 0.4).long() + (x[:, 1] > 0).long()
step = 0
for epoch in range(1, 4):
    hits = 0
    for rows in torch.randperm(400).split(40):
        step += 1
        out = model(x[rows])
        loss = nn.functional.cross_entropy(out, y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits += (out.argmax(1) == y[rows]).sum().item()
        print(f"[epoch {epoch}] step={step} loss={loss.item():.4f}")
        note("loss", step, float(f"{loss.item():.4f}"))
    print(f"[epoch {epoch}] accuracy={hits / 400:.3f}")
