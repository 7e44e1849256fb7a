"""An evaluation of a saved model: no training step at all, a table of results at the end.

cause: healthy.completed
also: [healthy.running]
not: [hang.startup, learning.plateau, data.empty, unknown.no-cause-shown]
outcome: completed
runs_as: evaluate.py
launch: |
  python evaluate.py --train --checkpoint model.pt > /dev/null
  python evaluate.py --checkpoint model.pt --split test
"""

import argparse
import time

import torch
from labkit import pick, seed_everything

parser = argparse.ArgumentParser()
parser.add_argument("--train", action="store_true")
parser.add_argument("--checkpoint")
parser.add_argument("--split", default="val")
args = parser.parse_args()
seed_everything()
classes = pick([["cat", "dog", "horse", "ship"], ["neg", "neu", "pos"], ["A", "B", "C", "D", "E"]])
centres = torch.randn(len(classes), 16)
labels = torch.randint(0, len(classes), (3000,))
inputs = centres[labels] + 0.9 * torch.randn(3000, 16)
model = torch.nn.Linear(16, len(classes))
if args.train:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(150):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
    torch.save(model.state_dict(), args.checkpoint)
    raise SystemExit
print(f"loading {args.checkpoint} ... {model.load_state_dict(torch.load(args.checkpoint))}")
print(f"evaluating on {args.split}: {len(inputs)} samples")
model.eval()
confusion = torch.zeros(len(classes), len(classes), dtype=torch.long)
total, start = 0.0, time.time()
with torch.no_grad():
    for number, rows in enumerate(torch.arange(3000).split(100), 1):
        logits = model(inputs[rows])
        total += torch.nn.functional.cross_entropy(logits, labels[rows]).item()
        confusion.index_put_((labels[rows], logits.argmax(1)), torch.ones(len(rows), dtype=torch.long), accumulate=True)
        print(f"Test: [{number:2d}/30]  Time {(time.time() - start) / number:.3f}  Loss {total / number:.4f}  Acc@1 {100 * confusion.diag().sum().item() / confusion.sum().item():.3f}")
print("              precision    recall   support")
for index, name in enumerate(classes):
    right = confusion[index, index].item()
    print(f"{name:>12} {right / confusion[:, index].sum().item():10.3f} {right / confusion[index].sum().item():9.3f} {confusion[index].sum().item():9d}")
print(f" * Acc@1 {100 * confusion.diag().sum().item() / 3000:.3f} loss {total / 30:.4f}")
