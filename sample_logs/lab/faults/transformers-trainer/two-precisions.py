"""A base configuration with bf16 is merged with command-line overrides that switch fp16 on: both at once are refused.

cause: config.trainer
also: [config.arguments]
not: [numerics.fp16-overflow, cuda.insufficient-precision-support]
signature: 'ValueError: At most one of fp16 and bf16 can be True'
runs_as: train_t5.py
launch: python train_t5.py --fp16 True
"""

import sys

import yaml
from labkit import pick
from transformers import T5Config, T5ForConditionalGeneration, TrainingArguments

BASE = f"""
output_dir: {pick(["runs/t5-sum", "output/summaries", "ckpt"])}
bf16: true
per_device_train_batch_size: {pick([4, 8, 2])}
gradient_accumulation_steps: {pick([4, 2, 8])}
learning_rate: 1.0e-3
optim: adafactor
max_steps: {pick([2000, 500, 10000])}
logging_steps: 20
use_cpu: true
report_to: none
"""

config = yaml.safe_load(BASE)
for name, value in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
    config[name.lstrip("-")] = yaml.safe_load(value.lower())
print("=== configuration ===")
print(yaml.safe_dump(config))
model = T5ForConditionalGeneration(T5Config(vocab_size=400, d_model=32, d_ff=64, num_layers=2, num_heads=2, d_kv=16, decoder_start_token_id=0))
print("model:", type(model).__name__, model.num_parameters())
args = TrainingArguments(**config)
