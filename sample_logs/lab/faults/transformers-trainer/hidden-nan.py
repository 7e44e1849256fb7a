"""A language model with some NaN weights under Trainer: the loss is NaN from the first step, Trainer's filter prints 0 instead, and nothing in the log tells where the NaN comes from.

cause: numerics.nonfinite-unknown
also: [numerics.corrupt-weights, numerics.labels-all-masked, numerics.bad-batch]
not: [healthy.completed, healthy.running, learning.collapse, learning.plateau, numerics.lr-divergence]
signature: "'loss': '0'"
step_basis: ordinal
note: The weights hold NaN (numerics.corrupt-weights), but the log does not show it; a bad sample in the first window, or masked labels with an older transformers, would print the same lines.
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

seed_everything()
config = LlamaConfig(vocab_size=128, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)
model = LlamaForCausalLM(config)
with torch.no_grad():
    model.model.layers[pick([0, 1])].mlp.down_proj.weight[3] = float("nan")
samples = [{"input_ids": tokens, "labels": tokens} for tokens in torch.randint(0, 128, (128, 16))]
arguments = TrainingArguments("out", per_device_train_batch_size=4, logging_steps=pick([5, 2]), max_steps=30, report_to=[], use_cpu=True, learning_rate=pick([5e-5, 2e-4, 1e-5]))
Trainer(model, arguments, train_dataset=samples, callbacks=[trainer_notes()]).train()
