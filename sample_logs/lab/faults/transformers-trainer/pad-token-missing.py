"""A GPT-2-like tokenizer has no padding token, and the collator is asked to pad.

cause: config.tokenizer
also: [data.collation]
not: [code.user-exception, data.schema]
signature: 'ValueError: Asking to pad but the tokenizer does not have a padding token'
runs_as: train_clm.py
launch: python train_clm.py
"""

import logging

from datasets import Dataset
from labkit import pick, seed_everything
from tokenizers import ByteLevelBPETokenizer
from transformers import DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, GPT2TokenizerFast, Trainer, TrainingArguments

logging.basicConfig(level=logging.INFO, format="[%(levelname)s|%(filename)s:%(lineno)d] %(message)s")
log = logging.getLogger("clm")
seed_everything()
topic = pick(["weather", "chess", "harbour"])
texts = [f"The {topic} report number {i} was short." + " It went on." * (i % 9) for i in range(300)]
bpe = ByteLevelBPETokenizer()
bpe.train_from_iterator(texts, vocab_size=pick([350, 400, 500]), special_tokens=["<|endoftext|>"], show_progress=False)
bpe.save_model(".")
tokenizer = GPT2TokenizerFast(vocab="vocab.json", merges="merges.txt")
log.info("tokenizer: %d tokens, special tokens %s", len(tokenizer), tokenizer.special_tokens_map)
data = Dataset.from_dict({"text": texts}).map(lambda row: tokenizer(row["text"]), batched=True, remove_columns=["text"])
log.info("%s", data)
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=128, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0))
args = TrainingArguments("clm-out", per_device_train_batch_size=pick([8, 4, 16]), num_train_epochs=1, report_to="none", use_cpu=True, logging_steps=5)
Trainer(model=model, args=args, train_dataset=data, data_collator=DataCollatorForLanguageModeling(tokenizer=tokenizer, mlm=False)).train()
