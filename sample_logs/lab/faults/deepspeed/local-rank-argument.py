"""The script's argument parser does not know --local_rank, which the deepspeed launcher adds for every process.

cause: config.arguments
seconds: 300
also: [distributed.launcher]
not: [code.user-exception, distributed.peer-failure, config.deepspeed]
signature: 'error: unrecognized arguments: --local_rank'
launch: deepspeed --num_gpus 2 --master_port $LAB_PORT train_gnn.py --hidden $(python -c "from labkit import pick; print(pick([64, 128, 32]))") --lr 0.01
runs_as: train_gnn.py
"""

import argparse

from labkit import pick, seed_everything

parser = argparse.ArgumentParser(description=pick(["Graph network", None, "GNN on DeepSpeed"]))
parser.add_argument("--hidden", type=int, default=64)
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--epochs", type=int, default=10)
args = parser.parse_args()

import deepspeed  # noqa: E402  heavy imports after the arguments
import torch  # noqa: E402

seed_everything()
model = torch.nn.Linear(16, args.hidden)
engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.Adam(model.parameters(), lr=args.lr), config={"train_batch_size": 4})
for epoch in range(args.epochs):
    loss = engine(torch.randn(2, 16)).pow(2).mean()
    engine.backward(loss)
    engine.step()
    print(epoch, loss.item())
