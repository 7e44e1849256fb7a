"""The job script passes an option under a name that this version of the script does not know: argparse prints its usage and leaves.

cause: config.arguments
not: [config.trainer, environment.missing-package, code.user-exception]
signature: 'error: unrecognized arguments'
runs_as: train_gan.py
launch: |
  export LR=0.0002
  echo "Running on $(nproc) CPUs, python $(python -c 'import sys; print(sys.version.split()[0])')"
  case $LAB_SEED in
    0) python train_gan.py --dataset digits --epochs 20 --learning-rate $LR --beta1 0.5 ;;
    1) python train_gan.py --dataset digits --batch-size 64 --amp --lr $LR ;;
    *) python train_gan.py --dataset digits --lr $LR --epoch-count=30 resume ;;
  esac
"""

import argparse

import torch
from labkit import seed_everything


def options():
    parser = argparse.ArgumentParser(description="Train a small GAN")
    parser.add_argument("--dataset", required=True, help="name of the data set")
    parser.add_argument("--epochs", type=int, default=25, help="number of epochs to train for")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.0002, help="learning rate")
    parser.add_argument("--beta1", type=float, default=0.5, help="beta1 for adam")
    parser.add_argument("--ngf", type=int, default=8)
    parser.add_argument("--manualSeed", type=int, help="manual seed")
    return parser.parse_args()


def main():
    opt = options()
    print(opt)
    seed_everything()
    generator = torch.nn.Sequential(torch.nn.Linear(16, 32 * opt.ngf), torch.nn.ReLU(), torch.nn.Linear(32 * opt.ngf, 64))
    critic = torch.nn.Linear(64, 1)
    adam = torch.optim.Adam(generator.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))
    for epoch in range(opt.epochs):
        loss = -critic(generator(torch.randn(opt.batch_size, 16))).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        print(f"[{epoch}/{opt.epochs}] Loss_G: {loss.item():.4f}")


if __name__ == "__main__":
    main()
