"""A character model in fp16 under ZeRO-3 whose WarmupLR ends at a rate far too high: the loss falls at first, climbs as the rate goes on rising, becomes infinite, and the loss scaler ends the run.

cause: numerics.lr-divergence
seconds: 300
also: [numerics.gradient-explosion, numerics.loss-scale-exhausted]
not: [numerics.bad-batch, numerics.corrupt-weights, config.deepspeed, healthy.running]
signature: '"loss": (NaN|Infinity)|already at minimum'
launch: DS_ACCELERATOR=cpu deepspeed --num_gpus 1 --master_port $LAB_PORT char_model.py
runs_as: char_model.py
note: 'the device check for fp16 on a CPU was lifted in the script (get_accelerator().is_fp16_supported), so that DeepSpeed trains in fp16 without a GPU'
"""

import argparse
import json
import logging

import deepspeed
import torch
from deepspeed.accelerator import get_accelerator
from labkit import note, pick, seed_everything
from torch import nn

get_accelerator().is_fp16_supported = lambda: True
deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("char_model")
logging.getLogger("torch.distributed").setLevel(logging.WARNING)
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=0)
parser.parse_args()
seed_everything()
TEXT = torch.tensor([(i * i + 3 * i) % 31 for i in range(8000)])


class CharModel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Embedding(31, width)
        self.hidden = nn.Sequential(nn.Linear(8 * width, 256), nn.LeakyReLU(0.2), nn.Linear(256, 256), nn.LeakyReLU(0.2))
        self.head = nn.Linear(256, 31)

    def forward(self, window):
        return self.head(self.hidden(self.embed(window).flatten(1)))


config = {
    "train_batch_size": 32,
    "gradient_clipping": 0.0,
    "zero_allow_untested_optimizer": True,
    "zero_optimization": {"stage": 3},
    "steps_per_print": 10000,
    "scheduler": {"type": "WarmupLR", "params": {"warmup_min_lr": 0, "warmup_max_lr": pick([4.0, 6.0, 5.0]), "warmup_num_steps": 100, "warmup_type": "linear"}},
    "fp16": {"enabled": True, "initial_scale_power": 7, "min_loss_scale": 1},
}
model = CharModel()
sgd = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
engine, optimizer, _, scheduler = deepspeed.initialize(model=model, optimizer=sgd, config=config)
log.info("starting with %s", json.dumps(config))
for step in range(1, 201):
    starts = torch.randint(0, 7990, (32,))
    window = TEXT[starts[:, None] + torch.arange(8)]
    loss = nn.functional.cross_entropy(engine(window).float(), TEXT[starts + 8])
    rate = scheduler.get_lr()[0] if step == 1 else scheduler.get_last_lr()[0]
    engine.backward(loss)
    engine.step()
    record = {"step": step, "loss": round(loss.item(), 4), "learning_rate": round(rate, 5), "loss_scale": optimizer.loss_scale}
    log.info(json.dumps(record))
    for name in ("loss", "learning_rate", "loss_scale"):
        note(name, step, record[name])
