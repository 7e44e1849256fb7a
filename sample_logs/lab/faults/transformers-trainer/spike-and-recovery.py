"""In the middle of a stream that the model learns well comes a stretch of foreign text: the loss jumps to several times its level and comes back after it.

cause: numerics.loss-spike
also: []
not: [numerics.lr-divergence, numerics.fp16-overflow, learning.collapse, numerics.nonfinite-unknown]
signature: "'loss': '[4-9]\\\\.\\\\d+', 'grad_norm': '[^']+', 'learning_rate': '[^']+', 'epoch': '(0\\\\.[4-7]|[4-7])"
outcome: completed
step_basis: ordinal
runs_as: continual_pretraining.py
launch: python continual_pretraining.py
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM, Trainer, TrainingArguments

seed_everything()
STEPS, BATCH = pick([200, 160, 240]), 8
FIRST, LAST = pick([(100, 108), (90, 96), (110, 122)])


class Shards(torch.utils.data.IterableDataset):
    """The shards of the corpus one after the other, without shuffling."""

    def __iter__(self):
        draw = torch.Generator().manual_seed(torch.initial_seed() % 1000)
        for step in range(STEPS):
            for _ in range(BATCH):
                start = torch.randint(0, 250, (1,), generator=draw)
                row = (start + torch.arange(24) * 3) % 250
                if FIRST <= step < LAST:
                    row = torch.randint(0, 250, (24,), generator=draw)
                yield {"input_ids": row, "labels": row}


model = GPTNeoXForCausalLM(GPTNeoXConfig(vocab_size=256, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128))
print(f"parameters: {model.num_parameters():,}")
args = TrainingArguments("neox", per_device_train_batch_size=BATCH, max_steps=STEPS, learning_rate=pick([3e-3, 4e-3, 3e-3]), warmup_steps=10, lr_scheduler_type="cosine", logging_steps=pick([4, 2, 4]), report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=pick([True, False, True]))
Trainer(model, args, train_dataset=Shards(), callbacks=[trainer_notes()]).train()
