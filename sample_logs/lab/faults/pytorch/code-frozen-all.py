"""Everything is frozen for a linear probe, but the head's name does not fit the filter, so nothing requires a gradient.

cause: code.autograd-no-grad
also: [code.user-exception]
not: [config.peft, config.checkpointing-conflict, code.autograd-inplace, checkpoint.key-mismatch]
signature: 'RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn'
runs_as: linear_probe.py
launch: python linear_probe.py
"""

import torch
from labkit import pick, seed_everything
from torch import nn

seed_everything()
HEAD = pick(["classifier", "fc", "head"])


class Encoder(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.score = nn.Linear(64, classes)

    def forward(self, x):
        return self.score(self.features(x))


model = Encoder(pick([5, 10, 3]))
for name, parameter in model.named_parameters():
    parameter.requires_grad = name.startswith(HEAD)
trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
total = sum(p.numel() for p in model.parameters())
print(f"trainable params: {trainable:,} || all params: {total:,} || trainable%: {100 * trainable / total:.4f}")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)
for step in range(100):
    x, y = torch.rand(16, 3, 32, 32), torch.randint(0, model.score.out_features, (16,))
    loss = nn.functional.cross_entropy(model(x), y)
    print(f"step {step}: loss={loss:.4f} lr={scheduler.get_last_lr()[0]:.4f}")
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    scheduler.step()
