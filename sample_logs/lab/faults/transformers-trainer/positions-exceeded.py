"""Some documents are longer than the model's position table and are not truncated: the embedding lookup fails when the first of them comes.

cause: data.sequence-too-long
also: [config.tokenizer]
not: [cuda.device-side-assert, code.shape-mismatch, data.schema]
signature: 'IndexError: index out of range in self'
step_basis: ordinal
runs_as: pretrain_gpt2.py
launch: python pretrain_gpt2.py
"""

from datasets import Dataset
from labkit import pick, seed_everything, trainer_notes
from tokenizers import ByteLevelBPETokenizer
from transformers import DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, Trainer, TrainingArguments

seed_everything()
positions = pick([64, 96, 128])
texts = [f"note {i}: " + "the ship left the harbour in the morning " * (1 + i % 4) for i in range(400)]
texts[pick([150, 260, 333])] += "and the wind turned to the north " * 60
bpe = ByteLevelBPETokenizer()
bpe.train_from_iterator(texts, vocab_size=300, show_progress=False, special_tokens=["<|endoftext|>"])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, eos_token="<|endoftext|>", pad_token="<|endoftext|>", model_max_length=positions)
data = Dataset.from_dict({"text": texts}).map(lambda batch: tokenizer(batch["text"]), batched=True, remove_columns=["text"])
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=positions, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0))
print(f"vocabulary {len(tokenizer)}, n_positions {positions}, documents {len(data)}")
args = TrainingArguments("gpt2-notes", per_device_train_batch_size=4, num_train_epochs=1, logging_steps=5, learning_rate=1e-3, report_to="none", use_cpu=True)
Trainer(model, args, train_dataset=data, data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False), callbacks=[trainer_notes()]).train()
