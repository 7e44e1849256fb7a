"""Two JSON-lines files of one data set hold a column of different types: load_dataset stops while it builds the table.

cause: data.schema
also: [data.decode]
not: [data.missing-file, io.hub-access, config.tokenizer, environment.version-incompatible]
signature: '(DatasetGenerationError|DatasetGenerationCastError|ArrowInvalid|CastError|TypeError: Couldn.t cast)'
"""

import json

import torch
from datasets import load_dataset
from labkit import pick, seed_everything
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

seed_everything()
SCORES = pick([["high"], {"value": 3}, "three"])
for part in range(2):
    with open(f"part{part}.jsonl", "w") as sink:
        for number in range(200):
            tokens = torch.randint(0, 64, (12,)).tolist()
            sink.write(json.dumps({"input_ids": tokens, "labels": tokens, "score": 3 if part == 0 else SCORES}) + "\n")

data = load_dataset("json", data_files=["part0.jsonl", "part1.jsonl"], split="train", cache_dir="cache")
print(data)
model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2))
Trainer(model, TrainingArguments("out", max_steps=20, logging_steps=2, report_to=[], use_cpu=True), train_dataset=data).train()
