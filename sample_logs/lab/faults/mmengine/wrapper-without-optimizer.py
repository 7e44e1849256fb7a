r"""The optimiser's settings stand where those of its wrapper belong (or the wrapper has none): mmengine cannot build it.

cause: config.trainer
also: [config.registry, code.user-exception]
not: [environment.version-incompatible, checkpoint.key-mismatch]
signature: '^\w+Error: .+'
runs_as: run.py
launch: python run.py 2>&1
"""

import torch
from labkit import SEED, pick
from mmengine.model import BaseModel
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Autoencoder(BaseModel):
    def __init__(self, hidden=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(30, hidden), nn.Tanh())
        self.decoder = nn.Linear(hidden, 30)

    def forward(self, signal, mode="tensor"):
        restored = self.decoder(self.encoder(signal))
        return dict(loss_rec=(restored - signal).abs().mean()) if mode == "loss" else restored


torch.manual_seed(SEED)
signals = torch.sin(torch.linspace(0, 6, 30) + 6 * torch.rand(512, 1))
wrapper = pick([dict(type="OptimWrapper", lr=1e-3, betas=(0.9, 0.99)), dict(type="Adam", lr=1e-3), dict(type="OptimWrapper", clip_grad=dict(max_norm=1.0))])
print("optim_wrapper:", wrapper)
runner = Runner(
    model=Autoencoder(),
    work_dir="work_dirs/signals",
    train_dataloader=DataLoader(TensorDataset(signals), batch_size=64, shuffle=True),
    train_cfg=dict(by_epoch=True, max_epochs=3),
    optim_wrapper=wrapper,
)
runner.train()
