r"""accelerate was upgraded beside an old transformers: Trainer passes Accelerator a keyword that is gone.

cause: environment.version-incompatible
also: []
not: [config.trainer, config.arguments, code.user-exception, environment.missing-package]
signature: 'TypeError: Accelerator\.__init__\(\) got an unexpected keyword argument'
environment: pair-accelerate
runs_as: run_glue.py
launch: python run_glue.py --max_steps 40
dump_command: python -m torch.utils.collect_env
"""

import argparse

import accelerate
import torch
import transformers
from labkit import pick, seed_everything
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--max_steps", type=int)
options = parser.parse_args()
seed_everything()
if pick([True, False, True]):
    print(f"transformers {transformers.__version__}, accelerate {accelerate.__version__}, torch {torch.__version__}")
config = BertConfig(vocab_size=120, hidden_size=32, num_hidden_layers=pick([2, 1, 3]), num_attention_heads=2, intermediate_size=64, num_labels=pick([2, 3, 5]))
model = BertForSequenceClassification(config)
samples = [{"input_ids": row, "labels": int(row[0]) % config.num_labels} for row in torch.randint(5, 120, (200, 12))]
print(f"Loaded {len(samples)} examples with {config.num_labels} labels")
arguments = TrainingArguments("glue", per_device_train_batch_size=8, max_steps=options.max_steps, logging_steps=5, report_to=[], use_cpu=True)
trainer = Trainer(model=model, args=arguments, train_dataset=samples)
print(trainer.train())
