"""The model is to come from the hub, and the hub (or the mirror that HF_ENDPOINT names) cannot be reached.

cause: io.hub-access
also: [data.missing-file]
not: [checkpoint.corrupt, config.tokenizer]
signature: "OSError: We couldn't connect to|OSError: .*couldn't connect"
runs_as: train_qa.py
launch: python train_qa.py
variables: {HF_ENDPOINT: "http://127.0.0.1:9"}
seconds: 180
"""

import time

from labkit import pick, seed_everything
from transformers import AutoModelForQuestionAnswering, AutoTokenizer, TrainingArguments

seed_everything()
name = pick(["deepset/tinyroberta-squad2", "bert-base-uncased", "distilbert/distilbert-base-cased"])
print(f"[{time.strftime('%H:%M:%S')}] loading {name}")
args = TrainingArguments("qa", num_train_epochs=2, per_device_train_batch_size=pick([12, 24, 8]), report_to="none", use_cpu=True)
print(f"[{time.strftime('%H:%M:%S')}] {args.num_train_epochs} epochs, batch {args.per_device_train_batch_size}")
if pick([True, False, True]):
    tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForQuestionAnswering.from_pretrained(name)
