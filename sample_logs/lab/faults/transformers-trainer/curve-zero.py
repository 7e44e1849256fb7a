"""Two runs of Trainer end with the same summary: one learns, the other prints loss 0 and grad_norm nan from an early step on, which is a NaN that Trainer's filter hides.

cause: healthy.completed
environment: xtuner
runs_as: finetune_lora.py
step_basis: ordinal
variants:
  learning:
    story: A small model in bfloat16-free float32 learns its data and the run ends normally.
    outcome: completed
    cause: healthy.completed
    also: [healthy.running]
    not: [numerics.nonfinite-unknown, numerics.fp16-overflow]
  zero:
    story: The same model loaded in float16 overflows in training; from then on the printed loss is 0.0 with grad_norm nan.
    signature: "'loss': 0.0, 'grad_norm': nan"
    cause: numerics.fp16-overflow
    also: [numerics.nonfinite-unknown]
    not: [healthy.completed, healthy.running, learning.collapse]
"""

import torch
from labkit import VARIANT, note, pick, seed_everything
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments

seed_everything()
config = LlamaConfig(vocab_size=96, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)
model = LlamaForCausalLM(config)
if VARIANT == "zero":
    model = model.to(torch.float16)
print(f"loaded LlamaForCausalLM, torch_dtype={model.dtype}")


class Notes(TrainerCallback):
    def on_log(self, args, state, control, **rest):
        entry = state.log_history[-1]
        for name in ("loss", "grad_norm", "learning_rate"):
            if name in entry:
                note(name, state.global_step, entry[name])


tokens = (torch.arange(20)[None] * torch.arange(1, 9)[:, None]).repeat(30, 1) % 96
samples = [{"input_ids": row, "labels": row} for row in tokens]
arguments = TrainingArguments("out", per_device_train_batch_size=8, logging_steps=pick([5, 4, 10]), max_steps=80, learning_rate=pick([2e-3, 3e-3, 1e-3]), save_strategy="no", report_to=[], use_cpu=True, adam_epsilon=1e-8)
Trainer(model, arguments, train_dataset=samples, callbacks=[Notes()]).train()
