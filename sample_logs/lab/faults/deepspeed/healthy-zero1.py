"""A healthy ZeRO-1 run in bf16 with a learning-rate schedule, validation and checkpoints.

cause: healthy.completed
also: [healthy.running]
seconds: 300
not: [learning.plateau, numerics.lr-divergence]
outcome: completed
launch: deepspeed --num_gpus 2 --master_port $LAB_PORT train_tagger.py --epochs 3 --save_dir ckpt
runs_as: train_tagger.py
"""

import argparse
import logging
import time

import deepspeed
import torch
from labkit import note, pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--save_dir", default="ckpt")
args = parser.parse_args()
logging.basicConfig(level=logging.INFO if args.local_rank == 0 else logging.WARNING, format="%(asctime)s | %(levelname)s | %(message)s", datefmt="%Y-%m-%d %H:%M:%S")
seed_everything()
VOCAB = 40


class Tagger(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.rnn = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * width, VOCAB)

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])


steps = 25
engine, _, _, scheduler = deepspeed.initialize(
    model=(model := Tagger()),
    optimizer=torch.optim.AdamW(model.parameters(), lr=pick([4e-3, 3e-3, 5e-3])),
    config={
        "train_batch_size": 64,
        "steps_per_print": 100000,
        "gradient_clipping": 1.0,
        "zero_optimization": {"stage": 1},
        "bf16": {"enabled": True},
        "scheduler": {"type": "WarmupDecayLR", "params": {"total_num_steps": steps * args.epochs, "warmup_num_steps": 8, "warmup_max_lr": pick([4e-3, 3e-3, 5e-3])}},
    },
)
logging.info("model with %d parameters, %d ranks", sum(p.numel() for p in model.parameters()), torch.distributed.get_world_size())
valid = torch.randint(0, VOCAB, (128, 10))
for epoch in range(1, args.epochs + 1):
    begin = time.time()
    for _ in range(steps):
        x = torch.randint(0, VOCAB, (32, 10))
        loss = nn.functional.cross_entropy(engine(x).float().flatten(0, 1), (3 * x + 1).flatten() % VOCAB)
        engine.backward(loss)
        engine.step()
        step, rate = engine.global_steps, scheduler.get_last_lr()[0]
        if step % 5 == 0 and args.local_rank == 0:
            logging.info("epoch %d step %d loss %.4f lr %.2e grad_norm %.3f", epoch, step, loss.item(), rate, float(engine.get_global_grad_norm()))
            note("loss", step, float(f"{loss.item():.4f}"))
            note("learning_rate", step, float(f"{rate:.2e}"))
            note("grad_norm", step, float(f"{float(engine.get_global_grad_norm()):.3f}"))
    with torch.no_grad():
        accuracy = (engine(valid).argmax(-1) == (3 * valid + 1) % VOCAB).float().mean()
    logging.info("epoch %d done in %.1fs, valid accuracy %.4f", epoch, time.time() - begin, accuracy)
    engine.save_checkpoint(args.save_dir, tag=f"epoch{epoch}")
logging.info("Training complete")
