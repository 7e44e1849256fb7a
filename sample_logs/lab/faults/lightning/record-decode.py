"""A broken line in a JSON-lines data set: a DataLoader worker cannot decode it, and its exception ends the run in the first or second epoch.

cause: data.decode
also: [data.schema]
not: [data.worker-crash, data.collation, code.user-exception, memory.host-oom]
signature: 'JSONDecodeError: |UnicodeDecodeError: '
first_failure: '(JSON|Unicode)DecodeError'
runs_as: train.py
launch: python train.py
"""

import json
from pathlib import Path

import lightning as L
import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Dataset


class JsonLines(Dataset):
    def __init__(self, path):
        self.lines = Path(path).read_bytes().split(b"\n")[:-1]

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        record = json.loads(self.lines[index].decode("utf-8"))
        return torch.tensor(record["features"]), torch.tensor(record["label"])


class LogisticModel(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.binary_cross_entropy_with_logits(self.linear(x).squeeze(1), y.float())
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        note("loss", self.global_step, float(f"{self.trainer.callback_metrics['train_loss'].item():.3g}"))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def write_data(path, count=400):
    rows = torch.randn(count, 8)
    lines = [json.dumps({"id": i, "features": [round(v, 4) for v in row.tolist()], "label": int(row[0] > row[1])}).encode() for i, row in enumerate(rows)]
    place, kind = pick([(277, "cut"), (190, "bytes"), (341, "cut")])
    lines[place] = lines[place][:41] if kind == "cut" else lines[place][:12] + b"\xff\xfe" + lines[place][12:]
    Path(path).write_bytes(b"\n".join(lines) + b"\n")


if __name__ == "__main__":
    seed_everything()
    Path("data").mkdir()
    write_data("data/train.jsonl")
    dataset = JsonLines("data/train.jsonl")
    print(f"data/train.jsonl: {len(dataset)} records")
    trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_model_summary=False)
    loader = DataLoader(dataset, batch_size=20, num_workers=pick([1, 1, 2]), persistent_workers=True)
    trainer.fit(LogisticModel(), loader)
