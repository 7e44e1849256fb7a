import os

import torch
import torch.distributed as dist
from labkit import pick, seed_everything


def main():
    dist.init_process_group("gloo")
    seed_everything()
    rank = dist.get_rank()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, pick([2, 3, 4])))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(20):
        loss = model(torch.randn(4, 8)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"rank {rank} step {step} loss {loss.item():.4f}")
    torch.save(model.state_dict(), os.environ["CHECKPOINT_FOLDER"] + "/last.pt")


main()
