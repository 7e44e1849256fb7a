"""Two ranks in one log: rank 1 looks up a vocabulary entry that its own tokeniser does not have; the launcher kills the other process.

cause: code.user-exception
seconds: 300
also: [data.schema]
not: [distributed.peer-failure, distributed.rank-desync, distributed.nccl-timeout, environment.missing-package]
signature: "KeyError: '\\\\w+'"
launch: deepspeed --num_gpus 2 --master_port $LAB_PORT train_tagger.py --lang de,fr
runs_as: train_tagger.py
"""

import argparse

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
WORDS = {
    "de": "der die das ein eine haus baum hund katze ist war geht nach bei mit klein alt neu".split(),
    "fr": "le la les un une maison arbre chien chat est va vers chez avec petit vieux".split(),
}
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--lang", default="de,fr")
args = parser.parse_args()
seed_everything()
language = args.lang.split(",")[args.local_rank]
vocabulary = {word: index for index, word in enumerate(WORDS[language])}
model = nn.Sequential(nn.Embedding(32, 16), nn.Linear(16, 4))
engine, _, _, _ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters()), config={"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 2}})
print(f"rank {args.local_rank}: language {language}, {len(vocabulary)} words")
unseen = pick([25, 33, 18])
for step in range(1, 61):
    words = [WORDS[language][int(i)] for i in torch.randint(0, len(vocabulary), (6,))]
    if language == "fr" and step == unseen:
        words[2] = pick(["grenouille", "nouveau", "fenetre"])
    tokens = torch.tensor([[vocabulary[word] for word in words]])
    loss = nn.functional.cross_entropy(engine(tokens)[0], tokens[0] % 4)
    engine.backward(loss)
    engine.step()
    if args.local_rank == 0 and step % 5 == 0:
        print(f"step {step}/60 loss {loss.item():.4f}")
