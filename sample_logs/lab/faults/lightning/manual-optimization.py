"""A GAN with manual optimization, and a Trainer that is asked for automatic gradient clipping or accumulation at the same time.

cause: config.trainer
also: []
not: [config.deepspeed, code.user-exception, numerics.gradient-explosion]
signature: 'MisconfigurationException: Automatic gradient'
runs_as: gan.py
launch: python gan.py
"""

import lightning as L
import torch
import torch.nn.functional as F
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class GAN(L.LightningModule):
    def __init__(self, latent_dim: int = 16):
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = False
        self.generator = nn.Sequential(nn.Linear(latent_dim, 64), nn.LeakyReLU(0.2), nn.Linear(64, 49))
        self.discriminator = nn.Sequential(nn.Linear(49, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))

    def training_step(self, batch, batch_idx):
        (real,) = batch
        opt_g, opt_d = self.optimizers()
        z = torch.randn(len(real), self.hparams.latent_dim)
        d_loss = F.softplus(-self.discriminator(real)).mean() + F.softplus(self.discriminator(self.generator(z).detach())).mean()
        opt_d.zero_grad()
        self.manual_backward(d_loss)
        opt_d.step()
        g_loss = F.softplus(-self.discriminator(self.generator(z))).mean()
        opt_g.zero_grad()
        self.manual_backward(g_loss)
        opt_g.step()
        self.log_dict({"g_loss": g_loss, "d_loss": d_loss}, prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.generator.parameters(), lr=2e-4), torch.optim.Adam(self.discriminator.parameters(), lr=2e-4)


options = pick([{"gradient_clip_val": 1.0}, {"accumulate_grad_batches": 4}, {"gradient_clip_val": 0.5}])
print("trainer options:", options)
trainer = L.Trainer(accelerator="cpu", max_epochs=5, logger=False, enable_checkpointing=False, **options)
trainer.fit(GAN(), DataLoader(TensorDataset(torch.rand(512, 49)), batch_size=32, shuffle=True))
