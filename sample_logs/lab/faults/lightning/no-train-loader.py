"""trainer.fit is called with the model alone, and the module defines no train_dataloader: Lightning refuses before the first step.

cause: config.trainer
also: [code.user-exception]
not: [data.empty, data.missing-file, healthy.completed]
signature: '(MisconfigurationException|TypeError): .*dataloader'
runs_as: finetune.py
launch: python finetune.py
"""

import lightning as L
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class TextClassifier(L.LightningModule):
    def __init__(self, vocab_size: int = 512, labels: int = 3):
        super().__init__()
        self.save_hyperparameters()
        self.embed = nn.EmbeddingBag(vocab_size, 32)
        self.classify = nn.Linear(32, labels)

    def training_step(self, batch, batch_idx):
        tokens, label = batch
        loss = nn.functional.cross_entropy(self.classify(self.embed(tokens)), label)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-4)


class ReviewData(L.LightningDataModule):
    def __init__(self, batch_size: int):
        super().__init__()
        self.batch_size = batch_size

    def setup(self, stage=None):
        self.train = TensorDataset(torch.randint(0, 512, (256, 24)), torch.randint(0, 3, (256,)))
        print(f"setup({stage!r}): {len(self.train)} reviews")

    def make_train_loader(self):
        return DataLoader(self.train, self.batch_size, shuffle=True)


data = ReviewData(batch_size=pick([32, 16, 64]))
model = TextClassifier()
trainer = L.Trainer(max_epochs=3, accelerator="cpu", devices=1, logger=False, enable_progress_bar=pick([True, False, True]))
in_module = pick([False, True, False])
if not in_module:
    trainer.fit(model, datamodule=data)
else:
    data.setup("fit")
    trainer.fit(model)
