"""max_length is shorter than the prompts, so that every completion is cut off and every label masked: TRL drops all samples and nothing is left to train on.

cause: numerics.labels-all-masked
also: [data.empty, data.sequence-too-long, config.trainer]
not: [data.missing-file, data.schema, healthy.completed]
signature: '^(ValueError|IndexError|RuntimeError|KeyError|StopIteration|ZeroDivisionError)'
runs_as: sft.py
launch: python sft.py
environment: transformers
"""

from datasets import Dataset
from labkit import pick, seed_everything
from tokenizers import ByteLevelBPETokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

seed_everything()
document = "The committee met on Monday and talked about the budget, the bridge and the school. " * pick([4, 6, 3])
rows = [{"prompt": f"Document {i}: {document}\nSummary:", "completion": f" Meeting {i} about budget, bridge and school."} for i in range(160)]
bpe = ByteLevelBPETokenizer()
bpe.train_from_iterator([row["prompt"] + row["completion"] for row in rows], vocab_size=400, special_tokens=["<pad>", "</s>"], show_progress=False)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, pad_token="<pad>", eos_token="</s>")
lengths = [len(tokenizer(row["prompt"])["input_ids"]) for row in rows]
print(f"prompt tokens: min {min(lengths)} max {max(lengths)}")
model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, pad_token_id=0, bos_token_id=None, eos_token_id=1))
args = SFTConfig("sft-sum", max_length=pick([32, 48, 24]), per_device_train_batch_size=8, num_train_epochs=1, learning_rate=pick([1e-4, 2e-4, 5e-5]), logging_steps=2, report_to="none", use_cpu=True, save_strategy="no")
print("max_length:", args.max_length)
SFTTrainer(model, args, train_dataset=Dataset.from_list(rows), processing_class=tokenizer).train()
