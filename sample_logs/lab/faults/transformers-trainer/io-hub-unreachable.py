"""A model is asked for by its hub name on a node without network; nothing is cached.

cause: io.hub-access
also: []
not: [data.missing-file, checkpoint.corrupt, config.arguments]
signature: '^OSError: '
runs_as: finetune.py
launch: HF_ENDPOINT=http://127.0.0.1:9 python finetune.py
seconds: 200
"""

import torch
import transformers
from labkit import pick, seed_everything
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

seed_everything()
name = pick(["bert-base-uncased", "Qwen/Qwen2.5-0.5B", "distilroberta-base"])
print(f"transformers {transformers.__version__}, torch {torch.__version__}")
print("loading", name)
if pick([True, False, True]):
    model = AutoModelForSequenceClassification.from_pretrained(name, num_labels=2)
else:
    tokenizer = AutoTokenizer.from_pretrained(name)
print(AutoConfig.from_pretrained(name))
