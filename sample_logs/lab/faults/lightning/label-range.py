r"""Labels count from 1 to the number of classes, or the head has one class too few: cross entropy refuses the first batch that holds the largest label.

cause: code.user-exception
also: [data.schema, cuda.device-side-assert, code.shape-mismatch]
not: [data.empty, numerics.bad-batch, checkpoint.shape-mismatch]
signature: 'IndexError: Target \d+ is out of bounds'
note: the taxonomy has no id for a label out of range on the CPU; cuda.device-side-assert is the same fault in a kernel, and accepted
"""

import lightning as L
import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
classes = pick([10, 5, 20])


class Classifier(L.LightningModule):
    def __init__(self, num_classes: int):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Dropout(0.1))
        self.head = nn.Linear(64, num_classes)
        self.loss = nn.CrossEntropyLoss(label_smoothing=0.0)

    def forward(self, x):
        return self.head(self.body(x))

    def training_step(self, batch, batch_idx):
        features, target = batch
        loss = self.loss(self(features), target)
        self.log("train/loss", loss, prog_bar=True)
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        note("loss", self.global_step, float(f"{self.trainer.callback_metrics['train/loss'].item():.3g}"))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)


labels = torch.randint(1, classes, (512,))
labels[pick([300, 451, 160])] = classes
features = torch.randn(512, 32)
print(f"label counts: {dict(zip(*[t.tolist() for t in labels.unique(return_counts=True)]))}")
trainer = L.Trainer(max_epochs=5, accelerator="cpu", log_every_n_steps=4, enable_checkpointing=False)
trainer.fit(Classifier(num_classes=classes), DataLoader(TensorDataset(features, labels), batch_size=16))
