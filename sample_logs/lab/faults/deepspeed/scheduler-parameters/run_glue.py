import argparse

import deepspeed
import torch
from labkit import seed_everything

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
seed_everything()
parser = argparse.ArgumentParser()
parser.add_argument("--task", default="sst2")
parser = deepspeed.add_config_arguments(parser)
args = parser.parse_args()
print("task:", args.task)
classifier = torch.nn.Sequential(torch.nn.EmbeddingBag(500, 48), torch.nn.Tanh(), torch.nn.Linear(48, 2))
engine, optimizer, _, scheduler = deepspeed.initialize(args=args, model=classifier, model_parameters=classifier.parameters())
for step in range(60):
    loss = torch.nn.functional.cross_entropy(engine(torch.randint(0, 500, (16, 20))).float(), torch.randint(0, 2, (16,)))
    engine.backward(loss)
    engine.step()
    print({"step": step, "loss": round(loss.item(), 4), "lr": scheduler.get_last_lr()})
