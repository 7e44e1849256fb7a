import argparse
import logging
from pathlib import Path

import lightning as L
import torch
from common import Encoder, data
from labkit import seed_everything

logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(levelname)-7s | %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("finetune")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--init", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    seed_everything()
    log.info("initialising from %s (%d bytes)", args.init, args.init.stat().st_size)
    encoder = Encoder.load_from_checkpoint(args.init)
    trainer = L.Trainer(max_epochs=args.epochs, accelerator="cpu", logger=False)
    trainer.fit(encoder, torch.utils.data.DataLoader(data(), batch_size=32, shuffle=True))


if __name__ == "__main__":
    main()
