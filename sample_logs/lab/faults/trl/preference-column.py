"""DPO data whose columns are named otherwise than TRL expects.

cause: data.schema
also: [config.trainer]
not: [data.missing-file, data.decode, code.user-exception]
signature: "^KeyError: '"
runs_as: dpo.py
launch: python dpo.py
environment: transformers
"""

import json
from pathlib import Path

from datasets import load_dataset
from labkit import pick, seed_everything
from tokenizers import ByteLevelBPETokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import DPOConfig, DPOTrainer

seed_everything()
names = pick([("prompt", "response_0", "response_1"), ("question", "chosen_answer", "rejected_answer"), ("prompt", "chosen", "reject")])
rows = [dict(zip(names, (f"Say {i} politely.", f"Please take {i}.", f"Take {i}!"), strict=True)) for i in range(200)]
Path("pairs.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
data = load_dataset("json", data_files="pairs.jsonl", split="train")
print(data.features)
bpe = ByteLevelBPETokenizer()
bpe.train_from_iterator([" ".join(row.values()) for row in rows], vocab_size=300, special_tokens=["<pad>", "</s>"], show_progress=False)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, pad_token="<pad>", eos_token="</s>")
config = LlamaConfig(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)
args = DPOConfig("dpo", beta=pick([0.1, 0.3, 0.05]), per_device_train_batch_size=8, num_train_epochs=1, report_to="none", use_cpu=True)
DPOTrainer(LlamaForCausalLM(config), ref_model=LlamaForCausalLM(config), args=args, train_dataset=data, processing_class=tokenizer).train()
