"""remove_unused_columns=False leaves a string column in the batches, which the collator cannot turn into a tensor.

cause: data.collation
also: [data.schema, config.trainer, config.tokenizer]
not: [data.sequence-too-long, code.shape-mismatch]
signature: 'ValueError: Unable to create tensor, you should probably activate truncation and/or padding'
first_failure: 'ValueError: too many dimensions'
runs_as: finetune_roberta.py
launch: python finetune_roberta.py
"""

from datasets import Dataset
from labkit import pick, seed_everything
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import DataCollatorWithPadding, PreTrainedTokenizerFast, RobertaConfig, RobertaForSequenceClassification, Trainer, TrainingArguments

seed_everything()
subjects = ["film", "plot", "cast", "music", "ending"]
texts = [f"the {subjects[i % 5]} was {'good' if i % 2 else 'bad'} " + "really " * (i % 6) for i in range(240)]
vocabulary = ["<pad>", "<unk>", *sorted({word for text in texts for word in text.split()})]
backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", unk_token="<unk>")
column = pick(["review", "sentence", "text"])
data = Dataset.from_dict({column: texts, "label": [i % 2 for i in range(240)]})
data = data.map(lambda batch: tokenizer(batch[column], truncation=True, max_length=pick([32, 64, 16])), batched=True).train_test_split(0.2, seed=0)
print(data)
model = RobertaForSequenceClassification(RobertaConfig(vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, pad_token_id=0))
args = TrainingArguments("roberta-out", per_device_train_batch_size=pick([16, 8, 4]), num_train_epochs=1, eval_strategy="epoch", remove_unused_columns=False, report_to="none", use_cpu=True)
Trainer(model, args, train_dataset=data["train"], eval_dataset=data["test"], data_collator=DataCollatorWithPadding(tokenizer)).train()
