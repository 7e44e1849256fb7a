r"""The language filter throws every text of the second source away, and stacking nothing fails.

cause: data.empty
also: [code.user-exception]
not: [data.collation, data.missing-file, code.shape-mismatch]
signature: '(RuntimeError: stack expects a non-empty TensorList|ValueError: torch.cat\(\): expected a non-empty list of Tensors)'
"""

import logging

import torch
from labkit import note, pick, seed_everything

logging.basicConfig(level="INFO", format="%(levelname).1s %(asctime)s %(module)s:%(lineno)d] %(message)s", datefmt="%m%d %H:%M:%S")
join = pick([torch.stack, torch.cat, torch.stack])
FLOOR = pick([0.65, 0.8, 0.7])
SOURCES = {"wiki": 0.9, pick(["crawl", "forum", "subtitles"]): 0.3, "news": 0.85}


def read(quality, count=400):
    scores = (quality + 0.05 * torch.randn(count)).tolist()
    return [{"tokens": torch.randint(0, 30, (16,)).sort().values, "score": score} for score in scores]


def prepare(name, records):
    kept = [record["tokens"] for record in records if record["score"] >= FLOOR]
    logging.info("source %s: %d records, %d kept with language score >= %s", name, len(records), len(kept), FLOOR)
    return join(kept).view(-1, 16)


seed_everything()
model = torch.nn.Sequential(torch.nn.Embedding(30, 20), torch.nn.Linear(20, 30))
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
steps = 0
for name, quality in SOURCES.items():
    data = prepare(name, read(quality))
    for batch in data.split(16):
        loss = torch.nn.functional.cross_entropy(model(batch[:, :-1]).transpose(1, 2), batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps += 1
        logging.info("steps=%d source=%s train/loss=%.3f", steps, name, loss.item())
        note("loss", steps, float(f"{loss.item():.3f}"))
