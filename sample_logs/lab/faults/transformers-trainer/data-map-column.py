"""The tokenising function reads the column "text", which this data set calls otherwise: map stops with a KeyError.

cause: data.schema
also: [code.user-exception]
not: [config.tokenizer, data.missing-file, checkpoint.key-mismatch]
signature: "^KeyError: 'text'"
runs_as: run_mlm.py
"""

from datasets import Dataset
from labkit import pick, seed_everything
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

seed_everything()
COLUMN = pick(["sentence", "content", "review_body"])
words = "the film was good bad long short and i liked hated it".split()
core = Tokenizer(models.WordLevel({word: number for number, word in enumerate(["[PAD]", "[UNK]", *words])}, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]")
raw = Dataset.from_dict({COLUMN: [" ".join(words[i % 5:i % 5 + 6]) for i in range(300)], "label": [i % 2 for i in range(300)]})
print(raw)
print(f"vocabulary of {len(tokenizer)} words")


def tokenize(examples):
    return tokenizer(examples["text"], truncation=True, max_length=16)


train = raw.map(tokenize, batched=True)
print(train[0])
