"""SFTConfig names an end-of-turn token that the base model's tokenizer does not have.

cause: config.tokenizer
also: [config.trainer]
not: [numerics.untrained-embeddings, data.schema]
signature: 'ValueError: The specified `(eos|pad)_token`'
runs_as: instruct.py
launch: python instruct.py
environment: transformers
"""

import logging

from datasets import Dataset
from labkit import pick, seed_everything
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import MistralConfig, MistralForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

logging.basicConfig(level=logging.INFO, format="%(levelname)s - %(message)s")
seed_everything()
words = "turn left right at the next corner and go on until you see station".split()
backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(["<unk>", "<s>", "</s>", *words])}, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
logging.info("special tokens: %s", tokenizer.special_tokens_map)
rows = [{"prompt": "go to the station", "completion": " ".join(words[i % 5 :])} for i in range(80)]
model = MistralForCausalLM(MistralConfig(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=pick([2, 1, 3]), num_attention_heads=4, num_key_value_heads=2))
wanted = pick([{"eos_token": "<|im_end|>"}, {"pad_token": "<|finetune_right_pad_id|>"}, {"eos_token": "<|eot_id|>"}])
logging.info("training with %s", wanted)
SFTTrainer(model, SFTConfig("instruct", per_device_train_batch_size=8, report_to="none", use_cpu=True, **wanted), train_dataset=Dataset.from_list(rows), processing_class=tokenizer).train()
