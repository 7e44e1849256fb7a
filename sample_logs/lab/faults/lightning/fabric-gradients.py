"""A recurrent net in a Fabric loop without clipping, on sequences that grow longer: at a constant low rate the gradient norm grows by orders of magnitude, then loss and norm are not finite and the loop stops itself.

cause: numerics.gradient-explosion
also: [numerics.lr-divergence]
not: [numerics.fp16-overflow, numerics.bad-batch, healthy.completed, code.user-exception]
signature: '(loss|grad_norm) (nan|inf)'
runs_as: train_fabric.py
launch: python train_fabric.py
"""

import lightning as L
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
gain, grow = pick([(1.8, 6), (1.9, 5), (1.7, 8)])
settings = {"hidden": 48, "lr": 1e-5, "init_gain": gain, "batch": 16, "clip": None, "precision": "32-true"}


class Counter(nn.Module):
    """Mean of a signal, read out of the last state of a ReLU network."""

    def __init__(self, hidden, init_gain):
        super().__init__()
        self.rnn = nn.RNN(4, hidden, nonlinearity="relu", batch_first=True)
        self.head = nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.rnn.weight_hh_l0, gain=init_gain)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


def grad_norm(model):
    return torch.linalg.vector_norm(torch.stack([p.grad.norm() for p in model.parameters()])).item()


fabric = L.Fabric(accelerator="cpu", devices=1, precision=settings["precision"])
fabric.launch()
fabric.print("settings:", settings)
model = Counter(settings["hidden"], settings["init_gain"])
optimizer = torch.optim.SGD(model.parameters(), lr=settings["lr"])
model, optimizer = fabric.setup(model, optimizer)
for step in range(60):
    length = 10 + grow * (step // 2)
    x = torch.randn(settings["batch"], length, 4)
    loss = nn.functional.mse_loss(model(x), x[:, :, 0].mean(1, keepdim=True))
    optimizer.zero_grad()
    fabric.backward(loss)
    norm = grad_norm(model)
    fabric.print(f"step {step:>3d} | length {length:>3d} | loss {loss.item():.4e} | grad_norm {norm:.4e} | lr {settings['lr']:.0e}")
    for name, value in (("loss", loss.item()), ("grad_norm", norm), ("learning_rate", settings["lr"])):
        note(name, step, float(f"{value:.4e}"))
    if not torch.isfinite(loss):
        fabric.print("loss is not finite, stopping")
        break
    optimizer.step()
