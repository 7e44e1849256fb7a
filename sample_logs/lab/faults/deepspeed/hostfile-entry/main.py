import argparse

import deepspeed
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--epochs", type=int, default=1)
args = parser.parse_args()
model = torch.nn.Linear(4, 4)
engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), config={"train_batch_size": 8})
for epoch in range(args.epochs):
    loss = engine(torch.randn(4, 4)).sum()
    engine.backward(loss)
    engine.step()
    print("epoch", epoch, loss.item())
