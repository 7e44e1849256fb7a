import argparse

import torch
from labkit import seed_everything
from lightning.pytorch import LightningModule, Trainer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TinyLM(LightningModule):
    def __init__(self, hidden_size, layers, lr, vocab=96):
        super().__init__()
        self.lr = lr
        self.embed = nn.Embedding(vocab, hidden_size)
        block = nn.TransformerEncoderLayer(hidden_size, 4, 4 * hidden_size, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, layers)
        self.head = nn.Linear(hidden_size, vocab)

    def training_step(self, batch, batch_idx):
        (tokens,) = batch
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1] - 1)
        logits = self.head(self.blocks(self.embed(tokens[:, :-1]), mask=mask, is_causal=True))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.lr, betas=(0.9, 0.95))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden-size", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--precision", default="32-true")
    parser.add_argument("--lr", type=float, default=3e-4)
    args = parser.parse_args()
    seed_everything()
    for name, value in vars(args).items():
        print(f"{name:>12}: {value}")
    model = TinyLM(args.hidden_size, args.layers, args.lr)
    trainer = Trainer(max_steps=1000, accelerator="cpu", precision=args.precision, gradient_clip_val=1.0)
    trainer.fit(model, DataLoader(TensorDataset(torch.randint(0, 96, (512, 33))), batch_size=16, shuffle=True))


if __name__ == "__main__":
    main()
