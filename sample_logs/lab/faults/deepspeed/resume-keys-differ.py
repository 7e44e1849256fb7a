"""The model got another head (or lost a norm) since its checkpoint was written: load_checkpoint finds missing and unexpected keys.

cause: checkpoint.key-mismatch
seconds: 300
not: [checkpoint.corrupt, checkpoint.shape-mismatch, environment.version-incompatible, config.peft]
also: [checkpoint.resume-mismatch]
signature: 'RuntimeError: Error\\(s\\) in loading state_dict for'
launch: |
  env RANK=0 LOCAL_RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT python tools/train.py --work-dir work/base > base.log 2>&1
  deepspeed --num_gpus 1 --master_port $LAB_PORT tools/train.py --work-dir work/new --load-from work/base --head $(python -c "from labkit import pick; print(pick(['cosine', 'mlp', 'both']))")
runs_as: tools/train.py
"""

import argparse
import time

import deepspeed
import torch
from labkit import seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce


class Classifier(nn.Module):
    def __init__(self, head):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
        if head == "linear":
            self.head = nn.Linear(128, 10)
        if head in ("mlp", "both"):
            self.head_mlp = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
        if head in ("cosine", "both"):
            self.prototypes = nn.Parameter(torch.randn(10, 128))
        self.kind = head

    def forward(self, x):
        x = self.backbone(x)
        return self.head(x) if self.kind == "linear" else self.head_mlp(x) if self.kind != "cosine" else nn.functional.cosine_similarity(x[:, None], self.prototypes[None], dim=-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=0)
    parser.add_argument("--work-dir")
    parser.add_argument("--load-from")
    parser.add_argument("--head", default="linear")
    args = parser.parse_args()
    seed_everything()
    model = Classifier(args.head)
    print(f"{time.strftime('%H:%M:%S')} head={args.head} params={sum(p.numel() for p in model.parameters())}")
    engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3), config={"train_batch_size": 8, "zero_optimization": {"stage": 1}})
    if args.load_from:
        print(f"{time.strftime('%H:%M:%S')} loading {args.load_from}")
        engine.load_checkpoint(args.load_from, load_optimizer_states=False)
    for step in range(6):
        loss = nn.functional.cross_entropy(engine(torch.randn(8, 3, 20, 20)), torch.randint(0, 10, (8,)))
        engine.backward(loss)
        engine.step()
        print(f"{time.strftime('%H:%M:%S')} step={step} loss={loss.item():.4f}")
    engine.save_checkpoint(args.work_dir)


if __name__ == "__main__":
    main()
