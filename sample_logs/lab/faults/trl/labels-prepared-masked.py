"""A data set with labels prepared elsewhere (by an older template) is all -100; TRL is told not to prepare it again, and trains with loss 0.

cause: numerics.labels-all-masked
also: [numerics.nonfinite-unknown, data.schema]
not: [healthy.completed, numerics.lr-divergence, numerics.fp16-overflow, learning.collapse]
signature: "'loss': '(0|nan)'"
step_basis: ordinal
runs_as: sft_prepared.py
launch: python sft_prepared.py
environment: transformers
"""

import numpy
from datasets import Dataset, load_from_disk
from labkit import pick, seed_everything, trainer_notes
from tokenizers import ByteLevelBPETokenizer
from transformers import DataCollatorForSeq2Seq, PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import SFTConfig, SFTTrainer

seed_everything()
texts = [f"User: what is {i} times 3? Assistant: it is {3 * i}." for i in range(pick([160, 240, 320]))]
bpe = ByteLevelBPETokenizer()
bpe.train_from_iterator(texts, vocab_size=400, special_tokens=["<pad>", "</s>"], show_progress=False)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, pad_token="<pad>", eos_token="</s>")
encoded = tokenizer(texts)
Dataset.from_dict({"input_ids": encoded["input_ids"], "attention_mask": encoded["attention_mask"], "labels": [[-100] * len(ids) for ids in encoded["input_ids"]]}).save_to_disk("prepared", num_shards=1)

data = load_from_disk("prepared")
print(data)
first = numpy.array(data[0]["labels"])
print("labels[0]:", first.tolist())
print(f"share of ignored labels in labels[0]: {(first == -100).mean():.2%}")
model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, pad_token_id=0, bos_token_id=None, eos_token_id=1))
args = SFTConfig("sft-prepared", dataset_kwargs={"skip_prepare_dataset": True}, per_device_train_batch_size=8, max_steps=pick([40, 30, 60]), learning_rate=pick([2e-5, 1e-4, 5e-5]), logging_steps=pick([5, 2, 10]), report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=pick([True, False, True]))
SFTTrainer(model, args, train_dataset=data, data_collator=DataCollatorForSeq2Seq(tokenizer), processing_class=tokenizer, callbacks=[trainer_notes()]).train()
