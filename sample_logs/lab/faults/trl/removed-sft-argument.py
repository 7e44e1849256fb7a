r"""A TRL script of an older release: arguments of SFTConfig and SFTTrainer that were renamed since.

cause: config.trainer
also: [environment.version-incompatible, code.user-exception]
not: [config.arguments, environment.missing-package, config.peft]
signature: 'TypeError: .*__init__\(\) got an unexpected keyword argument'
runs_as: train_sft.py
launch: |
  pip list 2>/dev/null | grep -E "^(torch|transformers|trl|peft|accelerate|datasets) "
  python train_sft.py
environment: transformers
"""

from datasets import Dataset
from labkit import pick, seed_everything
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

seed_everything()
texts = [f"poem {i}: roses are red, number {i * 3} is ahead." for i in range(120)]
bpe = ByteLevelBPETokenizer()
bpe.train_from_iterator(texts, vocab_size=300, special_tokens=["<|endoftext|>"], show_progress=False)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, eos_token="<|endoftext|>", pad_token="<|endoftext|>")
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=128, n_embd=32, n_layer=2, n_head=2))
data = Dataset.from_dict({"text": texts})
print(data, f"{model.num_parameters():,} parameters", sep="\n")
args = SFTConfig(output_dir="poems", per_device_train_batch_size=4, report_to="none", use_cpu=True, **pick([{"max_seq_length": 128}, {}, {}]))
trainer = SFTTrainer(model=model, args=args, train_dataset=data, **pick([{}, {"tokenizer": tokenizer}, {"dataset_text_field": "text", "max_seq_length": 128, "packing": True}]))
trainer.train()
