"""The process gets a SIGTERM from outside in the middle of training; Lightning notes it and stops at the next batch.

cause: scheduler.terminated
also: [scheduler.preempted]
not: [scheduler.cancelled, memory.host-oom, healthy.completed, distributed.peer-failure]
signature: 'Received SIGTERM'
runs_as: train.py
launch: |
  python train.py > >(tee train.out) 2>&1 &
  pid=$!
  until grep -q "step 40 " train.out 2> /dev/null; do sleep 0.05; done
  kill -TERM $pid
  wait $pid
  status=$?
  sleep 0.5
  exit $status
"""

import time

import lightning as L
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class LangModel(L.LightningModule):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(vocab, dim), nn.GRU(dim, dim, batch_first=True), nn.Linear(dim, vocab)

    def training_step(self, batch, batch_idx):
        (tokens,) = batch
        states, _ = self.rnn(self.embed(tokens[:, :-1]))
        loss = nn.functional.cross_entropy(self.out(states).flatten(0, 1), tokens[:, 1:].flatten())
        time.sleep(0.03)
        if self.global_step % 10 == 0:
            print(f"epoch {self.current_epoch} step {self.global_step} loss {loss.item():.3f} ppl {loss.exp().item():.1f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=pick([1e-3, 3e-3, 5e-4]))


tokens = torch.randint(0, pick([50, 80, 64]), (2048, 1)) + torch.arange(20)
trainer = L.Trainer(accelerator="cpu", max_epochs=20, enable_progress_bar=False, logger=False, enable_checkpointing=pick([False, True, False]))
model = LangModel(128, pick([16, 24, 32]))
trainer.fit(model, DataLoader(TensorDataset(tokens), batch_size=16, shuffle=True))
print("training finished")
