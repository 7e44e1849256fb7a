r"""A script written for Lightning 1.x hands the Trainer arguments that 2.x no longer has (gpus, checkpoint_callback, progress_bar_refresh_rate).

cause: config.trainer
also: [environment.version-incompatible, code.user-exception]
not: [config.arguments, cuda.not-available]
signature: 'TypeError: Trainer.__init__\(\) got an unexpected keyword argument'
runs_as: train_mnist.py
launch: python train_mnist.py
"""

import pytorch_lightning as pl
import torch
from labkit import pick, seed_everything
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
print("pytorch-lightning", pl.__version__)


class MNISTModel(pl.LightningModule):
    def __init__(self):
        super(MNISTModel, self).__init__()
        self.l1 = torch.nn.Linear(28 * 28, 10)

    def forward(self, x):
        return torch.relu(self.l1(x.view(x.size(0), -1)))

    def training_step(self, batch, batch_nb):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        return {"loss": loss, "log": {"train_loss": loss}}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.02)


train_loader = DataLoader(TensorDataset(torch.rand(320, 1, 28, 28), torch.randint(0, 10, (320,))), batch_size=32)
mnist_model = MNISTModel()
print(mnist_model)
old = pick([{"gpus": 0, "progress_bar_refresh_rate": 20}, {"checkpoint_callback": False}, {"auto_select_gpus": False, "weights_summary": "full"}])
trainer = pl.Trainer(max_epochs=3, **old)
trainer.fit(mnist_model, train_loader)
