"""A cross-entropy by hand: `log(1 - p)` of a sigmoid that has saturated at one."""

import sys

import lightning
import torch

from postmortem.recorder import LightningRecorder


class Detector(lightning.LightningModule):
    def __init__(self, width: int = 32, rate: float = 0.05) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.body = torch.nn.Sequential(
            torch.nn.Linear(16, width), torch.nn.ReLU(), torch.nn.Linear(width, 1)
        )

    def forward(self, inputs):
        return torch.sigmoid(self.body(inputs)).squeeze(-1)

    def training_step(self, batch, batch_idx):
        inputs, target = batch
        chance = self(inputs)
        loss = -(target * torch.log(chance) + (1 - target) * torch.log(1 - chance)).mean()
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.rate)


def main() -> None:
    lightning.seed_everything(6)
    inputs = torch.randn(640, 16)
    target = (inputs[:, 0] + inputs[:, 1] > 0).float()
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(4 * inputs, target), batch_size=32, shuffle=True
    )
    trainer = lightning.Trainer(
        accelerator="cpu",
        max_epochs=20,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[LightningRecorder(folder=sys.argv[1])],
        default_root_dir=sys.argv[1],
    )
    trainer.fit(Detector(), loader)


if __name__ == "__main__":
    main()
