"""The configuration asks for an optimiser that DeepSpeed has no entry for, or that it does not take with this ZeRO stage.

cause: config.deepspeed
seconds: 300
not: [environment.missing-package, config.registry, code.user-exception, environment.version-incompatible]
signature: 'AssertionError: .* is not a supported DeepSpeed Optimizer'
launch: deepspeed --num_gpus 1 --master_port $LAB_PORT src/pretrain.py --zero 2
runs_as: src/pretrain.py
"""

import argparse
import logging

import deepspeed
import torch
from labkit import pick, seed_everything

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
log = logging.getLogger("pretrain")


def build(args):
    config = {
        "train_micro_batch_size_per_gpu": 8,
        "zero_optimization": {"stage": args.zero},
        "bf16": {"enabled": True},
        "optimizer": {"type": args.optimizer, "params": {"lr": 1e-4}},
    }
    model = torch.nn.Sequential(torch.nn.Embedding(100, 32), torch.nn.Flatten(), torch.nn.Linear(32 * 16, 100))
    log.info("zero stage %d, optimizer %s, %d parameters", args.zero, args.optimizer, sum(p.numel() for p in model.parameters()))
    return deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=0)
    parser.add_argument("--zero", type=int, default=1)
    parser.add_argument("--optimizer", default=pick(["AdamW8bit", "Prodigy", "OneBitAdam"]))
    args = parser.parse_args()
    seed_everything()
    engine, _, _, _ = build(args)
    for step in range(50):
        tokens = torch.randint(0, 100, (8, 17))
        loss = torch.nn.functional.cross_entropy(engine(tokens[:, :16]).float(), tokens[:, 16])
        engine.backward(loss)
        engine.step()
        log.info("step %d loss %.3f", step, loss.item())


main()
