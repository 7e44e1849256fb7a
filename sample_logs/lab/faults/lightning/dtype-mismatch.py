"""Inputs made by NumPy are float64 (or the module is bfloat16 and its inputs are not cast): the first layer refuses them.

cause: code.dtype-mismatch
also: []
not: [numerics.fp16-overflow, code.shape-mismatch, config.trainer]
signature: '(RuntimeError|ValueError): .*(dtype|type)'
runs_as: train_forecast.py
launch: python train_forecast.py
"""

import lightning as L
import numpy as np
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Dataset

seed_everything()


class Waves(Dataset):
    def __init__(self, count):
        time = np.arange(count + 24) / 10
        self.values = np.sin(time) + 0.1 * np.random.randn(count + 24)

    def __len__(self):
        return len(self.values) - 24

    def __getitem__(self, index):
        return self.values[index : index + 24], self.values[index + 24]


class Forecast(L.LightningModule):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.net = {"mlp": nn.Linear(24, 1), "conv": nn.Conv1d(1, 4, 24), "lstm": nn.LSTM(24, 4)}[kind]

    def training_step(self, batch, batch_idx):
        history, target = batch
        if self.kind != "mlp":
            history = history.unsqueeze(1)
        out = self.net(history)
        prediction = out[0] if isinstance(out, tuple) else out
        return (prediction.flatten(1).mean(1) - target).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


kind = pick(["mlp", "conv", "lstm"])
print(f"model: {kind}, torch default dtype: {torch.get_default_dtype()}")
trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_model_summary=pick([True, False, True]))
trainer.fit(Forecast(kind), DataLoader(Waves(256), batch_size=32))
