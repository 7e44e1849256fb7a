"""Every step's hidden features are kept for a plot at the end of the epoch: the resident memory printed beside the loss grows until an allocation fails under the job's limit.

cause: memory.host-oom
also: [memory.cuda-leak]
not: [memory.cuda-oom, data.worker-crash, code.user-exception]
signature: 'Error: .*allocate memory'
memory_mib: 2600
runs_as: train.py
launch: |
  echo "ulimit -v: $(ulimit -v) kB"
  python train.py
"""

import lightning as L
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
WIDTH = pick([4096, 6144, 5120])


def resident_mib():
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) // 1024


class WideAutoencoder(L.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(8, width), nn.Linear(width, 8)
        self.features = []

    def training_step(self, batch, batch_idx):
        (x,) = batch
        hidden = torch.relu(self.encoder(x))
        loss = nn.functional.mse_loss(self.decoder(hidden), x)
        self.features.append(hidden)
        if batch_idx % 2 == 0:
            print(f"step {self.global_step:4d}  loss {loss.item():.4f}  rss {resident_mib()} MiB", flush=True)
        return loss

    def on_train_epoch_end(self):
        torch.save(torch.cat(self.features).mean(0), f"features-{self.current_epoch}.pt")
        self.features.clear()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-2)


trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
data = TensorDataset(torch.randn(2048, 8).repeat(100, 1))
trainer.fit(WideAutoencoder(WIDTH), DataLoader(data, batch_size=2048))
