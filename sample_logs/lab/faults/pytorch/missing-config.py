r"""The experiment's config names a model config beside it that does not exist: the run ends before the first step.

cause: data.missing-file
not: [config.arguments, io.permission, checkpoint.corrupt, code.user-exception]
signature: 'FileNotFoundError: \[Errno 2\] No such file or directory'
runs_as: tools/train.py
launch: |
  mkdir -p configs/model
  echo '{"hidden": 64, "layers": 2}' > configs/model/small.json
  case $LAB_SEED in
    0) echo '{"model": "configs/model/base.json", "lr": 0.001, "seed": 7}' > configs/exp12.json ;;
    1) echo '{"model": "configs/model/Small.json", "lr": 0.0003, "seed": 7}' > configs/exp12.json ;;
    *) echo '{"model": "../model/small.json", "lr": 0.0003, "seed": 1}' > configs/exp12.json ;;
  esac
  python tools/train.py --config configs/exp12.json
"""

import argparse
import json
import logging
import platform

import torch
from labkit import seed_everything

logging.basicConfig(format="[%(asctime)s][%(levelname)s] %(message)s", datefmt="%Y-%m-%d %H:%M:%S", level=logging.INFO)


def load_config(path):
    logging.info(f"reading {path}")
    with open(path) as source:
        return json.load(source)


def build(config):
    model = load_config(config["model"])
    layers = [torch.nn.Linear(16, model["hidden"])]
    for _ in range(model["layers"]):
        layers += [torch.nn.GELU(), torch.nn.Linear(model["hidden"], model["hidden"])]
    return torch.nn.Sequential(*layers, torch.nn.Linear(model["hidden"], 2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", required=True)
    args = parser.parse_args()
    logging.info(f"torch {torch.__version__}, python {platform.python_version()}, cuda available: {torch.cuda.is_available()}")
    config = load_config(args.config)
    for key, value in config.items():
        logging.info(f"    {key}: {value}")
    seed_everything()
    model = build(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    for step in range(100):
        loss = model(torch.randn(8, 16)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        logging.info(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
