"""A loader worker is forked while another thread holds the data set's lock, and waits for that lock forever; the job script's clock shows the silence until the limit.

cause: hang.stalled
also: [scheduler.time-limit]
not: [hang.startup, healthy.running, data.worker-crash, memory.host-oom]
seconds: 100
outcome: stalled
launch: |
  date '+%F %T job started'
  timeout -k 2 --verbose ${BUDGET:-35} python -u train.py
  echo "exit status $?"
  date '+%F %T job ended'
"""

import threading
import time

import torch
from labkit import note, pick, seed_everything
from torch.utils.data import DataLoader, Dataset

STUCK = pick([3, 4, 2])


class Clips(Dataset):
    def __init__(self):
        self.lock = threading.Lock()
        self.statistics = {}

    def __len__(self):
        return 240

    def __getitem__(self, index):
        with self.lock:
            self.statistics[index] = self.statistics.get(index, 0) + 1
        generator = torch.Generator().manual_seed(index)
        return torch.randn(50, generator=generator) + index % 3, index % 3

    def summarise(self):
        with self.lock:
            time.sleep(2)
            return len(self.statistics)


seed_everything()
clips = Clips()
loader = DataLoader(clips, batch_size=12, num_workers=1)
net = torch.nn.Linear(50, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
step = 0
for epoch in range(1, 11):
    print(time.strftime("%F %T"), f"epoch {epoch}")
    if epoch == STUCK:
        # Statistics are gathered in the background while the next epoch's workers start.
        threading.Thread(target=clips.summarise, daemon=True).start()
        time.sleep(0.5)
    for samples, labels in loader:
        loss = torch.nn.functional.cross_entropy(net(samples), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 4 == 0:
            print(time.strftime("%F %T"), f"step {step} loss {loss.item():.4f}")
            note("loss", step, float(f"{loss.item():.4f}"))
