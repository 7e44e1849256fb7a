"""DDP over gloo; a head is used in some steps only, and the log has both ranks' lines.

cause: distributed.ddp-unused-parameters
also: []
not: [distributed.nccl-timeout, distributed.rank-desync, distributed.peer-failure]
signature: 'Expected to have finished reduction in the prior iteration'
runs_as: train_multitask.py
launch: torchrun --nproc-per-node 2 --master-port $LAB_PORT train_multitask.py
"""
import logging
import torch
import torch.distributed as dist
from torch import nn
from labkit import pick, seed_everything

seed_everything()
dist.init_process_group("gloo")
rank = dist.get_rank()
logging.basicConfig(level=logging.INFO, format=f"[%(asctime)s][rank{rank}][%(levelname)s] %(message)s")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.boxes, self.masks = nn.Linear(32, 48), nn.Linear(48, 4), nn.Linear(48, 8)

    def forward(self, x, with_masks):
        h = self.body(x).relu()
        return self.boxes(h).pow(2).mean() + (self.masks(h).pow(2).mean() if with_masks else 0)


model = nn.parallel.DistributedDataParallel(Net())
opt = torch.optim.SGD(model.parameters(), 1e-2)
for it in range(30):
    loss = model(torch.randn(16, 32), it < pick([12, 17, 8]))
    opt.zero_grad()
    loss.backward()
    opt.step()
    logging.info(f"iter {it}/30 loss {loss.item():.4f} lr 0.0100")
dist.destroy_process_group()
