"""A model of the user's own ties two layers; safetensors refuses to write tensors that share memory when the first checkpoint is due.

cause: checkpoint.save-failed
also: [checkpoint.key-mismatch]
not: [io.disk-full, io.permission, checkpoint.corrupt]
signature: 'Some tensors share memory'
first_failure: '^RuntimeError: '
step_basis: ordinal
runs_as: train_tied.py
launch: python train_tied.py
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import Trainer, TrainingArguments

seed_everything()
WORDS, WIDTH = pick([200, 300, 150]), pick([32, 48, 24])


class Tied(torch.nn.Module):
    """A small recurrent language model whose output matrix is its input matrix."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(WORDS, WIDTH)
        self.rnn = torch.nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.output = torch.nn.Linear(WIDTH, WORDS, bias=False)
        self.output.weight = self.embed.weight

    def forward(self, input_ids, labels=None):
        scores = self.output(self.rnn(self.embed(input_ids))[0])
        return {"loss": torch.nn.functional.cross_entropy(scores[:, :-1].flatten(0, 1), labels[:, 1:].flatten()), "logits": scores}


train = [{"input_ids": row, "labels": row} for row in (torch.randint(0, WORDS, (320, 1)) + torch.arange(16) * 3) % WORDS]
args = TrainingArguments("tied", max_steps=60, save_steps=pick([20, 30, 10]), logging_steps=5, per_device_train_batch_size=8, learning_rate=5e-3, report_to="none", use_cpu=True)
print(args.output_dir, args.save_steps, sum(p.numel() for p in Tied().parameters()))
Trainer(Tied(), args, train_dataset=train, callbacks=[trainer_notes()]).train()
