import argparse

import deepspeed
import torch
from labkit import seed_everything

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce


def get_args():
    parser = argparse.ArgumentParser(description="CIFAR")
    parser.add_argument("--local_rank", type=int, default=-1)
    parser.add_argument("-e", "--epochs", default=30, type=int)
    return deepspeed.add_config_arguments(parser).parse_args()


def main():
    args = get_args()
    seed_everything()
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 6, 5), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(6 * 28 * 28, 10))
    print(f"rank {args.local_rank}: start, {args.epochs} epochs")
    data = torch.utils.data.TensorDataset(torch.randn(256, 3, 32, 32), torch.randint(0, 10, (256,)))
    engine, _, loader, _ = deepspeed.initialize(args=args, model=net, model_parameters=net.parameters(), training_data=data)
    for epoch in range(args.epochs):
        for images, labels in loader:
            loss = torch.nn.functional.cross_entropy(engine(images.bfloat16()).float(), labels)
            engine.backward(loss)
            engine.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
