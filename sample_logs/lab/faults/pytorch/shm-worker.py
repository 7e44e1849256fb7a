r"""A container with a tiny /dev/shm: the loader's workers cannot hand their batches over torch cannot allocate the shared memory.

cause: memory.shm-exhausted
also: [io.disk-full]
not: [data.worker-crash, memory.host-oom, code.native-crash]
signature: 'RuntimeError: unable to allocate shared memory\(shm\) for file'
first_failure: 'RuntimeError: Caught RuntimeError in DataLoader worker process'
needs: [tmpfs]
launch: unshare -m bash -c "mount -t tmpfs -o size=1m shm /dev/shm && exec python train.py"
"""

import torch
import torch.nn.functional as F
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
side, batch_size = pick([(64, 24), (48, 40), (96, 12)])


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 16, 3, stride=2), nn.ReLU())
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        return self.fc(self.features(x).mean((2, 3)))


y = torch.randint(0, 5, (400,))
x = torch.randn(400, 3, side, side) + y.view(-1, 1, 1, 1)
loader = DataLoader(TensorDataset(x, y), batch_size, shuffle=True, num_workers=2)
model = Classifier()
opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
print(f"training on {len(x)} images of {side}x{side}, batch size {batch_size}")
print(f"torch {torch.__version__}, {sum(p.numel() for p in model.parameters())} parameters")
for epoch in range(3):
    for step, (xb, yb) in enumerate(loader):
        loss = F.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"epoch {epoch} step {step} loss {loss.item():.4f}")
