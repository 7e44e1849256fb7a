"""Token sequences of different lengths and no padding: the default collate cannot stack the first batch that mixes them.

cause: data.collation
also: []
not: [code.shape-mismatch, data.sequence-too-long, data.worker-crash]
signature: 'stack expects each tensor to be equal size'
first_failure: 'RuntimeError: .*stack expects each tensor to be equal size|RuntimeError: Caught'
runs_as: train_ner.py
launch: python train_ner.py
"""

import argparse

import torch
from labkit import note, pick, seed_everything
from lightning.pytorch import LightningModule, Trainer
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self, count, longer_from):
        self.lengths = [12] * longer_from + torch.randint(6, 13, (count - longer_from,)).tolist()

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, i):
        tokens = torch.randint(0, 300, (self.lengths[i],))
        return {"input_ids": tokens, "labels": tokens % 5}


class NerModel(LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.lr = lr
        self.embed = nn.Embedding(300, 32)
        self.lstm = nn.LSTM(32, 32, batch_first=True)
        self.tags = nn.Linear(32, 5)

    def training_step(self, batch, batch_idx):
        logits = self.tags(self.lstm(self.embed(batch["input_ids"]))[0])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())
        if batch_idx % 5 == 0:
            print(f"[epoch {self.current_epoch}] batch {batch_idx}/{self.trainer.num_training_batches} loss: {loss.item():.4f}")
            note("loss", batch_idx, float(f"{loss.item():.4f}"))
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.lr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=pick([0, 2, 0]))
    parser.add_argument("--batch-size", type=int, default=pick([8, 16, 10]))
    args = parser.parse_args()
    seed_everything()
    print(vars(args))
    dataset = Sentences(320, longer_from=160)
    trainer = Trainer(max_epochs=2, accelerator="cpu", enable_progress_bar=False, logger=False, enable_checkpointing=False, enable_model_summary=False)
    trainer.fit(NerModel(1e-3), DataLoader(dataset, args.batch_size, num_workers=args.workers))
