"""Plain SGD with momentum at a far too high rate and max_grad_norm=0: the loss climbs over some log lines and leaves the finite numbers; the trainer goes on.

cause: numerics.lr-divergence
also: [numerics.gradient-explosion]
not: [numerics.fp16-overflow, numerics.labels-all-masked, numerics.bad-batch, healthy.completed]
signature: "'loss': '(nan|inf)'"
step_basis: ordinal
runs_as: train_lm.py
launch: python train_lm.py
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

seed_everything()
config = LlamaConfig(vocab_size=128, hidden_size=48, intermediate_size=96, num_hidden_layers=pick([2, 3, 2]), num_attention_heads=4, tie_word_embeddings=True)
model = LlamaForCausalLM(config)
start = torch.randint(0, 128, (512, 1))
train = [{"input_ids": row, "labels": row} for row in (start + torch.arange(20) * 3) % 128]
args = TrainingArguments(
    "sgd-lm", optim="sgd", optim_args="momentum=0.9", learning_rate=pick([6.0, 10.0, 4.0]), lr_scheduler_type=pick(["constant", "linear", "cosine"]), max_grad_norm=0.0, per_device_train_batch_size=8,
    max_steps=pick([60, 48, 80]), logging_steps=pick([1, 1, 2]), logging_nan_inf_filter=False, report_to="none", use_cpu=True, save_strategy="no",
)
print("optimizer", args.optim, "| learning rate", args.learning_rate, "| schedule", args.lr_scheduler_type.value, "| max_grad_norm", args.max_grad_norm, "| dtype", model.dtype)
Trainer(model, args, train_dataset=train, callbacks=[trainer_notes()]).train()
