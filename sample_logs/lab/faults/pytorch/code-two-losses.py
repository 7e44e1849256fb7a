"""From some epoch on an auxiliary loss is added with a backward of its own; both share the encoder's graph, which the first one has freed.

cause: code.autograd-no-grad
also: []
not: [code.autograd-inplace, distributed.ddp-marked-ready-twice]
signature: 'RuntimeError: Trying to backward through the graph a second time'
runs_as: train_multitask.py
launch: python train_multitask.py
"""

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
encoder = nn.Sequential(nn.Linear(30, 64), nn.Tanh(), nn.Linear(64, 32), nn.Tanh())
main_head, aux_head = nn.Linear(32, 4), nn.Linear(32, 30)
params = [*encoder.parameters(), *main_head.parameters(), *aux_head.parameters()]
optimizer = torch.optim.Adagrad(params, lr=pick([0.02, 0.01, 0.05]))
start_aux = pick([3, 2, 5])
x = torch.randn(600, 30)
y = x[:, :4].argmax(1)
print(f"multi-task: classification from epoch 1, reconstruction from epoch {start_aux}")
print("epoch | ce     | mse    | acc")
print("------+--------+--------+------")
for epoch in range(1, 11):
    total_ce = total_mse = hits = 0.0
    for i in range(0, 600, 50):
        z = encoder(x[i:i + 50])
        logits = main_head(z)
        ce = nn.functional.cross_entropy(logits, y[i:i + 50])
        optimizer.zero_grad()
        ce.backward()
        if epoch >= start_aux:
            mse = nn.functional.mse_loss(aux_head(z), x[i:i + 50])
            mse.backward()
            total_mse += mse.item()
        optimizer.step()
        total_ce += ce.item()
        hits += (logits.argmax(1) == y[i:i + 50]).sum().item()
    print(f"{epoch:5d} | {total_ce / 12:.4f} | {total_mse / 12:.4f} | {hits / 600:.3f}")
    note("ce", epoch, round(total_ce / 12, 4))
    note("mse", epoch, round(total_mse / 12, 4))
