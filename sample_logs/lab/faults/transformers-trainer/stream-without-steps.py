"""A streamed data set has no length, and neither max_steps nor anything else tells the trainer how long to train.

cause: config.trainer
also: []
not: [data.empty, data.exhausted, data.schema]
signature: 'ValueError: The train_dataset does not implement __len__'
runs_as: pretrain_stream.py
launch: python pretrain_stream.py
"""

import json
from pathlib import Path

from datasets import load_dataset
from labkit import pick, seed_everything
from tokenizers import ByteLevelBPETokenizer
from transformers import DataCollatorForLanguageModeling, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, Trainer, TrainingArguments

seed_everything()
Path("shards").mkdir()
for shard in range(pick([3, 4, 2])):
    lines = [json.dumps({"text": f"record {shard} {i} says that {i * 3 % 17} follows {i % 13}"}) for i in range(200)]
    Path(f"shards/part-{shard:05d}.jsonl").write_text("\n".join(lines))
bpe = ByteLevelBPETokenizer()
bpe.train_from_iterator([json.loads(line)["text"] for line in Path("shards/part-00000.jsonl").read_text().splitlines()], vocab_size=400, special_tokens=["<pad>", "</s>"])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, pad_token="<pad>", eos_token="</s>")
stream = load_dataset("json", data_files={"train": "shards/*.jsonl"}, split="train", streaming=True).shuffle(buffer_size=pick([100, 200, 50]), seed=1)
print(stream)
stream = stream.map(lambda row: tokenizer(row["text"], truncation=True, max_length=64), remove_columns=["text"])
model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2))
args = TrainingArguments("llama-stream", num_train_epochs=pick([1, 2, 3]), per_device_train_batch_size=8, logging_steps=10, report_to="none", use_cpu=True)
Trainer(model, args, train_dataset=stream, data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False)).train()
