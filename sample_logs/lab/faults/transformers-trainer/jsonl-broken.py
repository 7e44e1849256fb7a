"""One line of the training file is cut in the middle (an interrupted download): the JSON reader of datasets fails.

cause: data.decode
also: [data.schema]
not: [data.missing-file, checkpoint.corrupt]
signature: 'ArrowInvalid: JSON parse error'
first_failure: 'Failed to load JSON from file'
runs_as: prepare_and_train.py
launch: python prepare_and_train.py
"""

import json
from pathlib import Path

from datasets import load_dataset
from labkit import pick, seed_everything
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

seed_everything()
lines = [json.dumps({"instruction": f"add {i} and {i + 1}", "input": "", "output": str(2 * i + 1)}) for i in range(1000)]
cut = pick([700, 421, 999])
lines[cut] = lines[cut][: pick([20, 33, 41])]
Path("alpaca.jsonl").write_text("\n".join(lines))
print("data file:", "alpaca.jsonl", Path("alpaca.jsonl").stat().st_size, "bytes")
data = load_dataset("json", data_files="alpaca.jsonl", split="train")
data = data.map(lambda row: {"input_ids": [ord(c) for c in row["instruction"]], "labels": [ord(c) for c in row["instruction"]]})
Trainer(GPT2LMHeadModel(GPT2Config(vocab_size=256, n_embd=32, n_layer=1, n_head=2)), TrainingArguments("out", report_to="none"), train_dataset=data).train()
