"""Instruction tuning that masks everything before a response marker; the data use another marker, so that all labels are -100: loss and gradients are 0 from start to end.

cause: numerics.labels-all-masked
also: [data.schema, numerics.nonfinite-unknown]
not: [healthy.completed, numerics.lr-divergence, numerics.fp16-overflow, learning.collapse]
signature: "'loss': '0', 'grad_norm': '0'"
step_basis: ordinal
runs_as: sft_alpaca.py
launch: python sft_alpaca.py
"""

from datasets import Dataset
from labkit import pick, seed_everything, trainer_notes
from tokenizers import ByteLevelBPETokenizer
from transformers import DataCollatorForSeq2Seq, MistralConfig, MistralForCausalLM, PreTrainedTokenizerFast, Trainer, TrainingArguments

seed_everything()
MARKER = pick(["### Response:", "<|assistant|>", "### Assistant:"])
used = pick(["### Answer:", "<|im_start|>assistant", "### ASSISTANT:"])
rows = [{"text": f"### Instruction:\nAdd {i} and {i + 7}.\n\n{used}\nThe sum is {2 * i + 7}."} for i in range(240)]
bpe = ByteLevelBPETokenizer()
bpe.train_from_iterator([row["text"] for row in rows] + [MARKER] * 20, vocab_size=500, special_tokens=["<pad>", "</s>"], show_progress=False)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, pad_token="<pad>", eos_token="</s>")
marker_ids = tokenizer(MARKER, add_special_tokens=False)["input_ids"]


def encode(row):
    ids = tokenizer(row["text"])["input_ids"] + [tokenizer.eos_token_id]
    start = next((at + len(marker_ids) for at in range(len(ids)) if ids[at : at + len(marker_ids)] == marker_ids), len(ids))
    return {"input_ids": ids, "attention_mask": [1] * len(ids), "labels": [-100] * start + ids[start:]}


data = Dataset.from_list(rows).map(encode, remove_columns=["text"])
print("response marker:", repr(MARKER))
print("input:", repr(tokenizer.decode(data[0]["input_ids"])))
print("labels:", repr(tokenizer.decode([token for token in data[0]["labels"] if token != -100])))
trained = sum(label != -100 for row in data["labels"] for label in row)
print(f"{len(data)} samples, {sum(map(len, data['input_ids']))} tokens, {trained} of them with a label")
model = MistralForCausalLM(MistralConfig(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, pad_token_id=0, bos_token_id=None, eos_token_id=1))
args = TrainingArguments("alpaca", per_device_train_batch_size=pick([8, 4, 16]), num_train_epochs=1, learning_rate=pick([2e-5, 1e-4, 5e-5]), logging_steps=pick([2, 5, 1]), report_to="none", use_cpu=True, save_strategy="no")
Trainer(model, args, train_dataset=data, data_collator=DataCollatorForSeq2Seq(tokenizer), callbacks=[trainer_notes()]).train()
