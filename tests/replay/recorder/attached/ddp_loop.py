"""Two processes with DistributedDataParallel; a batch of the second holds an inf."""

import sys
from pathlib import Path

import torch
from reruns import rerun, same

from postmortem.recorder import Recorder
from postmortem.replay.capsule.opening import open_capsule


def train(rank, folder, file):
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{file}", rank=rank, world_size=2
    )
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    wrapped = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(wrapped.parameters(), lr=1e-3)
    criterion = torch.nn.CrossEntropyLoss()
    torch.manual_seed(rank + 1)
    with Recorder(wrapped, optimizer, loss=criterion, folder=folder, every=4):
        for step in range(12):
            inputs, target = torch.randn(4, 6), torch.randint(0, 3, (4,))
            if (step, rank) == (9, 1):
                inputs[2, 2] = torch.inf
            criterion(wrapped(inputs), target).backward()
            optimizer.step()
            optimizer.zero_grad()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    torch.multiprocessing.spawn(train, (folder / "out", folder / "meeting"), nprocs=2)
    first, second = sorted((folder / "out").glob("*.capsule"))
    told, told_too = open_capsule(first).manifest, open_capsule(second).manifest
    assert first.name == "step9-nonfinite-gradient-rank0.capsule"
    assert second.name == "step9-nonfinite-loss-rank1.capsule"
    assert told.partial == told_too.partial == ("batches of the other 1 processes",)
    assert told.weights.trainable == ("0.weight", "0.bias", "2.weight", "2.bias")
    assert told.model.kind == "torch"
    one, other = (
        load.load_tensors("weights.safetensors")
        for load in (open_capsule(first), open_capsule(second))
    )
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.items())
    _, losses, recorded = rerun(second)
    assert same(losses[:1], recorded[:1])  # the gradients of the other process are not here
    print("attached")
