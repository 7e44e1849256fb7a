"""A healthy Trainer run under ZeRO-2 in bf16 on two ranks with evaluation and a checkpoint at the end.

cause: healthy.completed
also: [healthy.running]
seconds: 300
not: [numerics.nonfinite-unknown, config.deepspeed, environment.version-incompatible]
outcome: completed
launch: deepspeed --num_gpus 2 --master_port $LAB_PORT run_mlm.py
runs_as: run_mlm.py
step_basis: ordinal
"""

import argparse

import deepspeed
import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.parse_args()
seed_everything()
arguments = TrainingArguments(
    "checkpoints",
    per_device_train_batch_size=4,
    learning_rate=pick([1e-3, 2e-3, 5e-4]),
    warmup_steps=5,
    max_steps=40,
    logging_steps=pick([4, 5, 2]),
    eval_strategy="steps",
    eval_steps=20,
    save_steps=40,
    bf16=True,
    use_cpu=True,
    report_to=[],
    deepspeed={
        "bf16": {"enabled": "auto"},
        "zero_optimization": {"stage": 2, "allgather_partitions": True, "reduce_bucket_size": "auto"},
        "gradient_accumulation_steps": "auto",
        "gradient_clipping": "auto",
        "train_batch_size": "auto",
        "train_micro_batch_size_per_gpu": "auto",
    },
)
model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2))
starts = torch.arange(160)[:, None]
rows = (starts * 7 + torch.arange(24)[None] * 3) % 64
samples = [{"input_ids": row, "labels": row} for row in rows]
callbacks = [trainer_notes()] if arguments.process_index == 0 else []
trainer = Trainer(model, arguments, train_dataset=samples[:128], eval_dataset=samples[128:], callbacks=callbacks)
trainer.train()
if arguments.process_index == 0:
    print("saved to", trainer.state.best_model_checkpoint or "checkpoints/checkpoint-40")
