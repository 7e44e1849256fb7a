"""Chat tokens are added to a base model, and their new embedding rows are left at zero: the first RMSNorm turns a zero row into a gradient of millions, and the first step destroys the weights.

cause: numerics.untrained-embeddings
also: [numerics.gradient-explosion]
not: [numerics.fp16-overflow, numerics.labels-all-masked, numerics.bad-batch, healthy.completed]
signature: "'grad_norm': '(nan|inf|\\\\d+(\\\\.\\\\d+)?e\\\\+)"
step_basis: ordinal
runs_as: chat_sft.py
launch: python chat_sft.py
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer, GemmaConfig, GemmaForCausalLM, PreTrainedTokenizerFast, Trainer, TrainingArguments
from transformers.utils import logging

seed_everything()
# The base model: a few steps of plain text, without any chat token.
logging.set_verbosity_error()
logging.disable_progress_bar()
words = [f"w{i:03d}" for i in range(198)]
backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(["<pad>", "<unk>", *words])}, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", unk_token="<unk>").save_pretrained("base")
base = GemmaForCausalLM(GemmaConfig(vocab_size=200, hidden_size=64, intermediate_size=128, num_hidden_layers=pick([2, 3, 2]), num_attention_heads=4, num_key_value_heads=4, head_dim=16, pad_token_id=0, bos_token_id=None, eos_token_id=None))
text = 2 + (torch.randint(0, 198, (640, 1)) + torch.arange(24) * 7) % 198
adam = torch.optim.AdamW(base.parameters(), lr=3e-3)
for first in range(0, 640, 8):
    base(input_ids=text[first : first + 8], labels=text[first : first + 8]).loss.backward()
    adam.step()
    adam.zero_grad()
base.save_pretrained("base")
logging.set_verbosity_warning()
logging.enable_progress_bar()

tokenizer = AutoTokenizer.from_pretrained("base")
model = AutoModelForCausalLM.from_pretrained("base")
added = tokenizer.add_special_tokens({"additional_special_tokens": pick([["<|im_start|>", "<|im_end|>", "<|tool|>"], ["<start_of_turn>", "<end_of_turn>"], ["<|user|>", "<|assistant|>", "<|end|>", "<|think|>"]])})
model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
with torch.no_grad():
    model.get_input_embeddings().weight[-added:] = 0
norms = model.get_input_embeddings().weight.norm(dim=-1)
print(f"added {added} special tokens, vocabulary {len(tokenizer) - added} -> {len(tokenizer)}")
print(f"embedding row norms: old rows mean {norms[:-added].mean():.4f} min {norms[:-added].min():.4f} | new rows {[round(value, 4) for value in norms[-added:].tolist()]}")
special = tokenizer.all_special_tokens[-added:]
chats = [f"{special[0]} " + " ".join(words[int(i) - 2] for i in row[:10]) + f" {special[1]} {special[0]} " + " ".join(words[int(i) - 2] for i in row[10:20]) + f" {special[1]}" for row in text[:320]]
print("sample:", chats[0][:90], "...")
train = [{"input_ids": ids, "labels": ids} for ids in tokenizer(chats)["input_ids"]]
args = TrainingArguments("chat", optim="sgd", learning_rate=pick([0.02, 0.05, 0.01]), lr_scheduler_type="constant", max_grad_norm=0, per_device_train_batch_size=8, max_steps=pick([30, 24, 40]), logging_steps=pick([1, 1, 2]), logging_nan_inf_filter=pick([False, True, False]), report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=pick([False, True, False]))
Trainer(model, args, train_dataset=train, callbacks=[trainer_notes()]).train()
