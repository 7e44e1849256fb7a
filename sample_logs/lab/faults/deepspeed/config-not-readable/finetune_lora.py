import argparse

import deepspeed
import torch
from labkit import seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce


class LoraLinear(nn.Module):
    def __init__(self, base, rank=4):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a, self.b = nn.Linear(base.in_features, rank, bias=False), nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.b.weight)

    def forward(self, x):
        return self.base(x) + self.b(self.a(x))


parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=0)
parser.add_argument("--deepspeed", dest="ds_config")
parser.add_argument("--output_dir")
args = parser.parse_args()
seed_everything()
model = nn.Sequential(LoraLinear(nn.Linear(64, 64)), nn.GELU(), LoraLinear(nn.Linear(64, 8)))
trainable = [p for p in model.parameters() if p.requires_grad]
print(f"trainable params: {sum(p.numel() for p in trainable)} || all params: {sum(p.numel() for p in model.parameters())}")
engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=trainable, config=args.ds_config)
for step in range(1, 41):
    loss = nn.functional.cross_entropy(engine(torch.randn(8, 64).bfloat16()).float(), torch.randint(0, 8, (8,)))
    engine.backward(loss)
    engine.step()
    print(f"{step}/40 loss={loss.item():.3f}")
