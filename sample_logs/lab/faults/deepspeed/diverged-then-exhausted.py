"""SGD with momentum and a rate far too high, fp16 under ZeRO-2: the loss climbs over some ten steps to infinity, and the scaler then runs down to its minimum and ends the run.

cause: numerics.lr-divergence
seconds: 300
also: [numerics.gradient-explosion, numerics.loss-scale-exhausted]
not: [numerics.bad-batch, numerics.corrupt-weights, config.deepspeed, numerics.labels-all-masked]
signature: '(loss|grad_norm)=(inf|nan)'
kept: [0, 1]
launch: deepspeed --num_gpus 1 --master_port $LAB_PORT run_sft.py --learning_rate $(python -c "from labkit import pick; print(pick([0.12, 0.15, 0.14]))")
runs_as: run_sft.py
note: 'the device check for fp16 on a CPU was lifted in the script (get_accelerator().is_fp16_supported), so that DeepSpeed trains in fp16 without a GPU; DeepSpeed''s log level is INFO as it was up to 0.17'
"""

import argparse

import deepspeed
import torch
from deepspeed.accelerator import get_accelerator
from deepspeed.utils.logging import set_log_level_from_string
from labkit import note, pick, seed_everything
from torch import nn

get_accelerator().is_fp16_supported = lambda: True
deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
set_log_level_from_string("info")
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--learning_rate", type=float, default=5e-5)
parser.add_argument("--num_steps", type=int, default=300)
args = parser.parse_args()
seed_everything()


class Reward(nn.Module):
    def __init__(self, vocab=200, width=32):
        super().__init__()
        self.embed = nn.EmbeddingBag(vocab, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.LeakyReLU(0.2), nn.Linear(4 * width, 1))

    def forward(self, tokens):
        return self.mlp(self.embed(tokens)).squeeze(-1)


ds_config = {
    "train_micro_batch_size_per_gpu": 32,
    "gradient_accumulation_steps": 1,
    "gradient_clipping": 0.0,
    "steps_per_print": 5000,
    "zero_allow_untested_optimizer": True,
    "zero_optimization": {"stage": 2, "allgather_bucket_size": 2e8, "reduce_bucket_size": 2e8},
    "fp16": {"enabled": True, "initial_scale_power": 8, "loss_scale_window": 500, "hysteresis": 1},
}
model = Reward()
optimizer = torch.optim.SGD(model.parameters(), lr=args.learning_rate, momentum=0.9)
engine, optimizer, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, config=ds_config)
if engine.global_rank == 0:
    print(f"args: {vars(args)}")
tokens = torch.randint(0, 200, (4096, 12))
scores = (tokens % 7).float().mean(1) * 3
for step in range(args.num_steps):
    rows = torch.randint(0, 4096, (32,))
    prediction = engine(tokens[rows])
    loss = nn.functional.mse_loss(prediction.float(), scores[rows])
    engine.backward(loss)
    engine.step()
    norm = float(engine.get_global_grad_norm() or 0.0)
    print(f"step={step} loss={loss.item():.4f} grad_norm={norm:.3f} lr={engine.get_lr()[0]:g}")
    note("loss", step, float(f"{loss.item():.4f}"))
    note("grad_norm", step, float(f"{norm:.3f}"))
    if optimizer.overflow:
        note("loss_scale", step, optimizer.cur_scale)
