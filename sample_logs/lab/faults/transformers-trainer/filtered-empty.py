"""A filter keeps no sample, since the language tag is compared in the wrong spelling; the empty data set reaches the trainer.

cause: data.empty
also: [data.schema, config.trainer]
not: [data.missing-file, code.user-exception]
signature: "ValueError: No columns in the dataset match the model's forward method signature.*ignored: [[]]"
runs_as: train_mt.py
launch: python train_mt.py
"""

import csv
from pathlib import Path

from datasets import load_dataset
from labkit import pick, seed_everything
from transformers import T5Config, T5ForConditionalGeneration, Trainer, TrainingArguments

seed_everything()
with Path("pairs.csv").open("w", newline="") as sink:
    writer = csv.writer(sink)
    writer.writerow(["lang", "source", "target"])
    writer.writerows([["de_DE", f"haus {i}", f"house {i}"] for i in range(pick([500, 800, 1200]))])
data = load_dataset("csv", data_files="pairs.csv", split="train")
print("loaded:", data.num_rows, "rows", data.column_names)
wanted = pick(["de", "de-DE", "ger"])
data = data.filter(lambda row: row["lang"] == wanted)
print(f"after filtering for lang={wanted}: {data.num_rows} rows")
data = data.map(lambda row: {"input_ids": [3 + ord(c) % 90 for c in row["source"]], "labels": [3 + ord(c) % 90 for c in row["target"]]}, remove_columns=data.column_names)
model = T5ForConditionalGeneration(T5Config(vocab_size=100, d_model=32, d_ff=64, num_layers=2, num_heads=2, d_kv=16, decoder_start_token_id=0))
args = TrainingArguments("mt", per_device_train_batch_size=8, num_train_epochs=3, report_to="none", use_cpu=True)
Trainer(model, args, train_dataset=data).train()
