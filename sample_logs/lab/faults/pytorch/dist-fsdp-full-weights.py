r"""A full state dict is loaded into a model that fully_shard has already split: every parameter refuses the plain tensor.

cause: distributed.sharding
also: [checkpoint.resume-mismatch]
not: [checkpoint.shape-mismatch, checkpoint.key-mismatch, checkpoint.corrupt]
signature: 'got mixed torch.Tensor and DTensor'
first_failure: 'RuntimeError: Error\(s\) in loading state_dict'
runs_as: resume_fsdp.py
launch: torchrun --standalone --nproc-per-node 2 resume_fsdp.py --init-from base.pt
"""

import argparse
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

parser = argparse.ArgumentParser()
parser.add_argument("--init-from", default="")
parser.add_argument("--layers", type=int, default=pick([2, 3, 1]))
args = parser.parse_args()


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(128, 32)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(32, 2, 48, dropout=0.0, batch_first=True) for _ in range(args.layers))
        self.norm = nn.LayerNorm(32)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.norm(hidden) @ self.embed.weight.T


dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
torch.manual_seed(SEED)
model = Decoder()
if rank == 0:
    torch.save(model.state_dict(), args.init_from)
dist.barrier()
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
for layer in model.layers:
    fully_shard(layer, mp_policy=policy)
fully_shard(model, mp_policy=policy)
print(f"rank {rank}: sharded {sum(1 for _ in model.parameters())} parameters over {dist.get_world_size()} ranks, loading {args.init_from}", flush=True)
model.load_state_dict(torch.load(args.init_from, map_location="cpu"))
print(f"rank {rank}: loaded", flush=True)
