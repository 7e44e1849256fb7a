"""The collator pads the inputs but not the labels of a tagging task, which differ in length: no tensor can be made of them.

cause: data.collation
not: [config.tokenizer, code.shape-mismatch, data.schema]
signature: '(Unable to create tensor|expected sequence of length)'
"""

from datasets import Dataset
from labkit import pick, seed_everything
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForTokenClassification, DataCollatorWithPadding, PreTrainedTokenizerFast, Trainer, TrainingArguments

seed_everything()
core = Tokenizer(models.WordLevel({"[PAD]": 0, "[UNK]": 1, **{f"w{n}": n + 2 for n in range(60)}}, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]")
lengths = [5 + (i * 7) % pick([9, 6, 11]) for i in range(120)]
data = Dataset.from_dict({"input_ids": [[2 + (i + k) % 60 for k in range(n)] for i, n in enumerate(lengths)], "attention_mask": [[1] * n for n in lengths], "labels": [[(i + k) % 3 for k in range(n)] for i, n in enumerate(lengths)]})
print(data)
model = BertForTokenClassification(BertConfig(vocab_size=62, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=3))
arguments = TrainingArguments("out", per_device_train_batch_size=pick([8, 4, 16]), max_steps=20, logging_steps=1, report_to=[], use_cpu=True)
Trainer(model, arguments, train_dataset=data, data_collator=DataCollatorWithPadding(tokenizer)).train()
