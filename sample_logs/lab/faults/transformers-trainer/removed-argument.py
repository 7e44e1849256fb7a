r"""A script written for transformers 4 passes an argument that transformers 5 no longer has.

cause: config.trainer
also: [environment.version-incompatible, code.user-exception]
not: [config.arguments, environment.missing-package]
signature: 'TypeError: .*__init__\(\) got an unexpected keyword argument'
runs_as: main.py
launch: python main.py
dump_command: python -m torch.utils.collect_env
"""

from labkit import pick, seed_everything
from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast, Trainer, TrainingArguments
from tokenizers import Tokenizer, models, pre_tokenizers

seed_everything()
LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
words = "the a in of at paris london anna works lives moved from to and bank city".split()
backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(["[PAD]", "[UNK]", *words])}, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", pad_token="[PAD]")
sentences = ["anna lives in paris", "the bank moved from london to paris", "anna works at the bank of london"] * 40
encoded = [{**tokenizer(text), "labels": [0] * len(text.split())} for text in sentences]
print(f"NER: {len(encoded)} sentences, {len(LABELS)} tags, vocabulary of {len(tokenizer)}")
model = BertForTokenClassification(BertConfig(vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, num_labels=len(LABELS)))
old = pick([{"evaluation_strategy": "epoch"}, {}, {"logging_dir": "./tb", "no_cuda": True}])
args = TrainingArguments("ner", num_train_epochs=3, per_device_train_batch_size=8, report_to="none", **old)
trainer = Trainer(model=model, args=args, train_dataset=encoded, eval_dataset=encoded[:20], tokenizer=tokenizer)
trainer.train()
