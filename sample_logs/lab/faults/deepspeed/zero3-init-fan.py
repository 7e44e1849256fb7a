"""A model is built inside deepspeed.zero.Init, so every weight is partitioned as soon as its layer exists; the constructor then initialises them again with Xavier and finds empty tensors.

cause: distributed.sharding
seconds: 300
not: [code.user-exception, code.shape-mismatch, numerics.corrupt-weights, config.deepspeed]
also: [code.shape-mismatch, code.user-exception]
seeds: [0]
signature: 'ValueError: Fan in and fan out can not be computed for tensor with fewer than 2 dimensions'
launch: torchrun --nproc_per_node 2 --master_port $LAB_PORT pretrain_big.py
runs_as: pretrain_big.py
"""

import logging
import os

import deepspeed
import torch
from deepspeed.utils.logging import set_log_level_from_string
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
set_log_level_from_string("info")
rank = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO if rank == 0 else logging.ERROR, format="%(levelname).1s %(asctime)s %(message)s")


class Decoder(nn.Module):
    def __init__(self, vocab, width, depth):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, norm_first=True) for _ in range(depth)])
        self.head = nn.Linear(width, vocab, bias=False)
        for name, weight in self.named_parameters():
            if name.endswith("weight") and "norm" not in name:
                pick([nn.init.xavier_uniform_, nn.init.kaiming_normal_, nn.init.xavier_normal_])(weight)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def main():
    seed_everything()
    deepspeed.init_distributed("gloo")
    config = {"train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 3}, "bf16": {"enabled": True}}
    logging.info("building the model under zero.Init (stage 3)")
    with deepspeed.zero.Init(config_dict_or_path=config):
        model = Decoder(256, 64, pick([4, 2, 6]))
    engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters()), config=config)
    for step in range(50):
        tokens = torch.randint(0, 256, (2, 33))
        loss = nn.functional.cross_entropy(engine(tokens[:, :-1]).float().flatten(0, 1), tokens[:, 1:].flatten())
        engine.backward(loss)
        engine.step()
        logging.info("step %d loss %.4f", step, loss)


main()
