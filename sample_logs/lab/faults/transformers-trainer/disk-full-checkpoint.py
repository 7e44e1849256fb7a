"""The disk of the output folder fills up with checkpoints until one cannot be written.

cause: io.disk-full
also: []
not: [checkpoint.save-failed, io.permission, memory.host-oom]
signature: 'No space left on device'
needs: [tmpfs]
step_basis: ordinal
runs_as: pretrain.py
launch: |
  SIZES=(22 36 47)
  export LAB_DISK=${SIZES[$LAB_SEED]}m
  unshare -m bash -c 'mkdir -p scratch && mount -t tmpfs -o size=$LAB_DISK tmpfs scratch && python pretrain.py'
"""

import shutil

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments

seed_everything()


class Space(TrainerCallback):
    def on_save(self, args, state, control, **rest):
        usage = shutil.disk_usage(args.output_dir)
        print(f"step {state.global_step}: checkpoint saved, {usage.free / 2**20:.1f} MiB free in {args.output_dir}")


model = LlamaForCausalLM(LlamaConfig(vocab_size=1000, hidden_size=pick([128, 160, 192]), intermediate_size=256, num_hidden_layers=2, num_attention_heads=4))
print(f"model of {model.num_parameters() / 1e6:.2f} M parameters")
train = [{"input_ids": row, "labels": row} for row in torch.randint(0, 1000, (256, 32))]
args = TrainingArguments("scratch/llama", max_steps=60, save_steps=10, logging_steps=5, per_device_train_batch_size=4, learning_rate=1e-3, report_to="none", use_cpu=True)
Trainer(model, args, train_dataset=train, callbacks=[Space(), trainer_notes()]).train()
