"""A curriculum: at each stage the texts get longer and the loss steps up, then falls again; the run ends well.

cause: healthy.completed
also: [healthy.running, numerics.loss-spike]
not: [numerics.lr-divergence, learning.collapse, numerics.bad-batch]
signature: ''
outcome: completed
runs_as: train_copy.py
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
rnn, head = nn.GRU(10, 64, batch_first=True), nn.Linear(64, 10)
opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()], pick([4e-3, 5e-3, 3e-3]))
step = 0
for stage, length in enumerate((2, 4, 7)):
    print(f"=== stage {stage}: sequence length {length}")
    for _ in range(160):
        step += 1
        ids = torch.randint(0, 8, (64, length))
        x = torch.cat([nn.functional.one_hot(ids, 10), nn.functional.one_hot(torch.full((64, length), 9), 10)], 1).float()
        out = head(rnn(x)[0][:, length:])
        loss = nn.functional.cross_entropy(out.flatten(0, 1), ids.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 8 == 0:
            print(f"stage {stage} step {step} loss {loss.item():.4f} acc {(out.argmax(-1) == ids).float().mean().item():.3f}")
            note("loss", step, float(f"{loss.item():.4f}"))
print("all stages done, saving to copy.pt")
