"""A small GLM model trains well under Trainer, and only the evaluation loss is NaN: whether the installed torch is one with a known defect for this model, only the dump tells.

cause: numerics.version-regression
signature: "'eval_loss': nan"
environment: xtuner
runs_as: finetune.py
step_basis: ordinal
dumps:
  - {name: torch250, file: a100-torch-2.5.0.env, cause: numerics.version-regression, also: [], not: [numerics.lr-divergence, numerics.labels-all-masked, numerics.fp16-overflow], why: "torch 2.5.0 is the version whose attention gives NaN in evaluation."}
  - {name: torch241, file: a100-torch-2.4.1.env, cause: numerics.nonfinite-unknown, also: [numerics.padding-or-mask, numerics.labels-all-masked, numerics.bad-batch], not: [numerics.version-regression, numerics.lr-divergence], why: "torch 2.4.1 has no such defect."}
note: the evaluation loss is NaN because no evaluation sample has a label, which the log does not show.
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import GlmConfig, GlmForCausalLM, Trainer, TrainingArguments

seed_everything()
config = GlmConfig(vocab_size=160, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8, pad_token_id=0)
model = GlmForCausalLM(config)
print("model: THUDM/glm-4-9b-chat architecture, GlmForCausalLM, attn_implementation=sdpa, dtype=torch.bfloat16")
print(f"trainable params: {sum(p.numel() for p in model.parameters()):,}")
tokens = torch.arange(24).repeat(pick([96, 128, 80]), 1) % 19 + 3
train = [{"input_ids": row, "labels": row} for row in tokens]
evaluation = [{"input_ids": row, "labels": torch.full_like(row, -100)} for row in tokens[:16]]
arguments = TrainingArguments("out", per_device_train_batch_size=4, per_device_eval_batch_size=4, logging_steps=4, eval_strategy="steps", eval_steps=pick([12, 8, 10]), max_steps=24, save_strategy="no",
                              learning_rate=pick([1e-3, 2e-3, 5e-4]), report_to=[], use_cpu=True, disable_tqdm=True)
trainer = Trainer(model, arguments, train_dataset=train, eval_dataset=evaluation, callbacks=[trainer_notes()])
trainer.train()
