r"""Some records of a JSON-lines file hold the class name where the others hold its number; turning it into a tensor fails in a loader worker.

cause: data.schema
also: [code.user-exception]
not: [data.decode, data.collation, data.worker-crash, code.dtype-mismatch]
signature: '(TypeError|ValueError): (?!Caught).*(str|convert|literal)'
first_failure: '(TypeError|ValueError): Caught \w+ in DataLoader worker process'
"""

import json
import logging

import torch
from labkit import note, pick, seed_everything
from torch.utils.data import DataLoader, Dataset

logger = logging.getLogger(__name__)
logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
NAMES = ["negative", "neutral", "positive"]


def annotate(path, count, first_by_name):
    with open(path, "w") as sink:
        for number in range(count):
            label = number % 3
            tokens = (torch.randint(0, 40, (20,)) + 40 * label).tolist()
            sink.write(json.dumps({"id": number, "tokens": tokens, "label": NAMES[label] if number >= first_by_name else label}) + "\n")


class Reviews(Dataset):
    def __init__(self, path):
        self.records = [json.loads(line) for line in open(path)]

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        record = self.records[index]
        return torch.tensor(record["tokens"]), torch.tensor(record["label"])


class Numbered(Reviews):
    def __getitem__(self, index):
        record = self.records[index]
        return torch.tensor(record["tokens"]), int(record["label"])


seed_everything()
annotate("reviews.jsonl", 600, pick([420, 300, 500]))
data = pick([Reviews, Numbered, Reviews])("reviews.jsonl")
logger.info("loaded %d reviews", len(data))
bag = torch.nn.EmbeddingBag(120, 16)
head = torch.nn.Linear(16, 3)
optimizer = torch.optim.Adam([*bag.parameters(), *head.parameters()], lr=0.01)
for step, (tokens, labels) in enumerate(DataLoader(data, batch_size=10, num_workers=1), 1):
    loss = torch.nn.functional.cross_entropy(head(bag(tokens)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        logger.info("step=%d loss=%.6f", step, loss.item())
        note("loss", step, float(f"{loss.item():.6f}"))
