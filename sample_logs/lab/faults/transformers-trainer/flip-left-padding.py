"""Sampling with a batch of prompts of unequal length, padded on the left, ends in a probability tensor with nan. torch 2.1 has a known defect with such masks; 2.2 has not.

cause: numerics.version-regression
signature: 'probability tensor contains'
environment: xtuner
runs_as: sample.py
dumps:
  - {name: torch212, file: a100-torch-2.1.2.env, cause: numerics.version-regression, also: [], not: [numerics.lr-divergence, cuda.device-side-assert], why: "torch 2.1 gives NaN with fully masked rows in scaled dot-product attention."}
  - {name: torch222, file: a100-torch-2.2.2.env, cause: numerics.padding-or-mask, also: [numerics.nonfinite-unknown, numerics.corrupt-weights], not: [numerics.version-regression, numerics.lr-divergence], why: "torch 2.2 has the defect mended."}
note: the NaN is made by a mask of minus infinity over whole rows in the model's own attention, which the log does not show.
"""

import torch
from labkit import pick, seed_everything
from transformers import LlamaConfig, LlamaForCausalLM

seed_everything()
config = LlamaConfig(vocab_size=120, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, pad_token_id=0, bos_token_id=1, eos_token_id=2)
model = LlamaForCausalLM(config).eval()
print("attn_implementation=sdpa, padding_side=left, do_sample=True, batch size 4")
lengths = pick([[9, 4, 7, 2], [8, 3, 5, 6], [7, 7, 2, 4]])
prompts = torch.zeros(4, max(lengths), dtype=torch.long)
for row, length in enumerate(lengths):
    prompts[row, max(lengths) - length:] = torch.randint(3, 120, (length,))
mask = (prompts != 0).long()
print(f"attention_mask sums per row: {mask.sum(1).tolist()} of {mask.shape[1]}")
alone = model.generate(prompts[:1], attention_mask=mask[:1], do_sample=True, max_new_tokens=4)
print(f"batch size 1: ok, {alone.shape[1]} tokens")
full = torch.where(mask[:, None, None, :].bool() & torch.tril(torch.ones(max(lengths), max(lengths))).bool(), 0.0, float("-inf"))
logits = model(prompts, attention_mask=full).logits[:, -1]
logits = logits + (full.softmax(-1).sum(dim=(1, 2, 3)) * 0)[:, None]
print("batch size 4:")
torch.multinomial(logits.softmax(-1), 1)
