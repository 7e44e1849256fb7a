r"""A small GPT without normalisation layers in fp16 under ZeRO-2: the residual stream leaves float16's range in every forward pass, so every step overflows until the scaler is at its minimum.

cause: numerics.loss-scale-exhausted
seconds: 300
also: [numerics.fp16-overflow, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, distributed.peer-failure, code.user-exception, config.deepspeed]
signature: '^(\[rank0\]: )?Exception: Current loss scale already at minimum'
first_failure: 'loss: nan'
kept: [0, 1]
launch: deepspeed --num_gpus 1 --master_port $LAB_PORT pretrain.py --micro-batch 4 --fp16
runs_as: pretrain.py
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
parser.add_argument("--micro-batch", type=int, default=4)
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
seed_everything()
WIDTH, VOCAB, LENGTH = pick([48, 64, 32]), 96, 24


class Block(nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        for linear in (self.up, self.down):
            nn.init.normal_(linear.weight, std=gain / linear.in_features**0.5)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        x = x + self.out(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True))
        return x + self.down(torch.relu(self.up(x)))


class TinyGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCAB, WIDTH)
        # gain 4 a layer is fine in bf16 or fp32, where the head's soft-capped logits stay finite; float16 ends at 65504.
        self.blocks = nn.ModuleList([Block(pick([4.0, 5.0, 4.5])) for _ in range(8)])
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, tokens):
        x = self.wte(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


ds_config = {
    "train_micro_batch_size_per_gpu": args.micro_batch,
    "gradient_accumulation_steps": 1,
    "gradient_clipping": 1.0,
    "steps_per_print": 2000,
    "zero_optimization": {"stage": 2, "overlap_comm": True},
    "fp16": {"enabled": args.fp16, "loss_scale": 0, "initial_scale_power": pick([16, 12, 15]), "hysteresis": 2, "min_loss_scale": 1},
}
model = TinyGPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1)
engine, optimizer, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, config=ds_config)
print(f"parameters: {sum(p.numel() for p in model.parameters()):,}")
for step in range(1, 201):
    tokens = torch.randint(0, VOCAB, (args.micro_batch, LENGTH + 1))
    logits = engine(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.float().reshape(-1, VOCAB), tokens[:, 1:].reshape(-1))
    engine.backward(loss)
    engine.step()
    if optimizer.overflow:
        note("loss_scale", step, optimizer.cur_scale)
    print(f"step: {step:4d} loss: {loss.item():.4f} lr: {engine.get_lr()[0]:.2e}")
    note("loss", step, float(f"{loss.item():.4f}"))
