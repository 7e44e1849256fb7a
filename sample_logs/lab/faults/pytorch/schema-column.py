"""The second shard of a click log was exported with a renamed column: reading it fails with a KeyError after a finished first shard.

cause: data.schema
also: [code.user-exception]
not: [data.missing-file, data.decode, data.collation, checkpoint.key-mismatch]
signature: "^KeyError: '"
"""

import csv
import os

import torch
from labkit import note, pick, seed_everything

TARGET, RENAMED = pick([("label", "Label"), ("clicked", "click"), ("target", "y")])
NUMBERS = ["age", "hour", "price", "views"]


def export(path, target):
    with open(path, "w", newline="") as sink:
        writer = csv.DictWriter(sink, [*NUMBERS, target])
        writer.writeheader()
        for _ in range(640):
            row = {name: round(torch.randn(1).item(), 4) for name in NUMBERS}
            writer.writerow({**row, target: int(row["price"] > row["views"])})


def read(path):
    with open(path, newline="") as source:
        rows = list(csv.DictReader(source))
    print(f"{path}: {len(rows)} rows, columns {list(rows[0])}")
    features = torch.tensor([[float(row[name]) for name in NUMBERS] for row in rows])
    return features, torch.tensor([float(row[TARGET]) for row in rows])


seed_everything()
os.makedirs("shards", exist_ok=True)
for number in range(4):
    export(f"shards/2024-0{number + 1}.csv", TARGET if number < pick([1, 2, 1]) else RENAMED)

model = torch.nn.Linear(len(NUMBERS), 1)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
print("features", NUMBERS, "target", TARGET)
step = 0
for shard in sorted(os.listdir("shards")):
    features, targets = read(f"shards/{shard}")
    for inputs, wanted in zip(features.split(32), targets.split(32)):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(inputs).squeeze(1), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        print({"step": step, "shard": shard, "loss": round(loss.item(), 4)})
        note("loss", step, round(loss.item(), 4))
