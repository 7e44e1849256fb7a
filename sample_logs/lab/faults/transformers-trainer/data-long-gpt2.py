"""GPT-2 with few positions, texts that are longer and not truncated: the position embedding is asked for rows that it lacks.

cause: data.sequence-too-long
not: [code.shape-mismatch, config.tokenizer, cuda.device-side-assert, data.collation]
signature: 'IndexError: index out of range in self'
step_basis: ordinal
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

seed_everything()
limit = pick([64, 48, 80])
config = GPT2Config(vocab_size=128, n_positions=limit, n_embd=32, n_layer=2, n_head=2)
print(config)
lengths = [limit // 2] * 96 + [limit + 20] * 32
samples = [{"input_ids": tokens, "labels": tokens} for tokens in (torch.randint(0, 128, (length,)) for length in lengths)]
print(f"{len(samples)} samples, shortest {min(lengths)} tokens, longest {max(lengths)} tokens, n_positions {limit}")


class InOrder(Trainer):
    def _get_train_sampler(self, *rest):
        return torch.utils.data.SequentialSampler(self.train_dataset)


arguments = TrainingArguments("out", per_device_train_batch_size=4, logging_steps=2, num_train_epochs=1, report_to=[], use_cpu=True, disable_tqdm=pick([False, True, False]))
InOrder(GPT2LMHeadModel(config), arguments, train_dataset=samples, callbacks=[trainer_notes()]).train()
