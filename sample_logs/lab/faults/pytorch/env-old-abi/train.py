import argparse
import importlib
import logging
import platform

import torch
from labkit import seed_everything

logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(levelname)s] %(message)s", datefmt="%H:%M:%S")
parser = argparse.ArgumentParser()
parser.add_argument("--ops", required=True)
parser.add_argument("--steps", type=int, default=100)
args = parser.parse_args()
seed_everything()
logging.info("python %s, torch %s", platform.python_version(), torch.__version__)
logging.info("arguments: %s", vars(args))
layer = torch.nn.Linear(32, 32)
logging.info("model: %s", layer)
logging.info("loading compiled ops from %s", args.ops)
ops = importlib.import_module(args.ops)
for step in range(args.steps):
    loss = layer(torch.randn(4, 32)).square().mean() * ops.scale(1.0, 0.5)
    loss.backward()
    logging.info("step %d loss %.4f", step, loss.item())
