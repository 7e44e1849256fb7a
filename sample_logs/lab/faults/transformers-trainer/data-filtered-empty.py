"""A filter on length keeps no sample at all, and Trainer cannot make a loader of an empty data set.

cause: data.empty
not: [data.missing-file, config.trainer, data.schema]
signature: 'num_samples=0'
"""

from datasets import Dataset
from labkit import pick, seed_everything
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

seed_everything()
shortest = pick([512, 256, 1024])
raw = Dataset.from_dict({"input_ids": [[(i + k) % 64 for k in range(20 + i % 30)] for i in range(400)]})
kept = raw.filter(lambda sample: len(sample["input_ids"]) >= shortest).map(lambda sample: {"labels": sample["input_ids"]})
print(f"kept {len(kept)} of {len(raw)} samples with at least {shortest} tokens")
model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2))
Trainer(model, TrainingArguments("out", num_train_epochs=1, logging_steps=5, report_to=[], use_cpu=True), train_dataset=kept).train()
