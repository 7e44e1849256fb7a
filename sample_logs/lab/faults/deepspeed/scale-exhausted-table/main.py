"""Train the price model."""

import argparse

import deepspeed
import pandas
import torch
from deepspeed.accelerator import get_accelerator
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import TensorDataset

get_accelerator().is_fp16_supported = lambda: True
deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce


class PriceNet(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, 1))

    def forward(self, x, y):
        return nn.functional.smooth_l1_loss(self.net(x).squeeze(-1).float(), y)


def load():
    table = pandas.read_csv("stations.csv", dtype="float32")
    x = torch.tensor(table.drop(columns="price").to_numpy())
    x = x / torch.tensor([60.0, 12.0, 1.0, 7.0, 95.0])
    return TensorDataset(x, torch.tensor(table["price"].to_numpy()))


def main():
    parser = deepspeed.add_config_arguments(argparse.ArgumentParser())
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    seed_everything()
    deepspeed.init_distributed(dist_backend="gloo")
    data = load()
    model = PriceNet(5, pick([64, 32, 96]))
    engine, optimizer, loader, _ = deepspeed.initialize(args=args, model=model, model_parameters=model.parameters(), training_data=data)
    print(f"rows={len(data)} batches={len(loader)} dtype={next(engine.module.parameters()).dtype} zero_stage={engine.zero_optimization_stage()}")
    for epoch in range(args.epochs):
        for batch, (x, y) in enumerate(loader):
            loss = engine(x.half(), y)
            engine.backward(loss)
            engine.step()
            print(f"[epoch {epoch}] step={engine.global_steps} batch={batch}/{len(loader)} loss={loss.item():.5f} loss_scale={optimizer.cur_scale:g} skipped={engine.skipped_steps}")
            note("loss", engine.global_steps, float(f"{loss.item():.5f}"))
            note("loss_scale", engine.global_steps, float(f"{optimizer.cur_scale:g}"))


main()
