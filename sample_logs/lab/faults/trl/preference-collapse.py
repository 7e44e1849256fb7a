"""DPO at a rate a thousand times too high: the loss falls to nearly 0 while the log probabilities of the rejected and also of the chosen answers drop far below their start; the samples of the trained model are garbage.

cause: learning.collapse
also: [numerics.lr-divergence]
not: [healthy.completed, numerics.labels-all-masked, numerics.nonfinite-unknown, config.rl]
signature: "'loss': '[0-9.]+e-0"
outcome: completed
step_basis: ordinal
runs_as: dpo_train.py
launch: python dpo_train.py
environment: transformers
"""

import torch
from datasets import Dataset
from labkit import pick, seed_everything, trainer_notes
from tokenizers import ByteLevelBPETokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import DPOConfig, DPOTrainer

seed_everything()
rows = [{"prompt": f"Say {i} politely:", "chosen": f" please take {i} of them, it is your turn.", "rejected": f" please take {i} of it, them is you turn."} for i in range(200)]
bpe = ByteLevelBPETokenizer()
bpe.train_from_iterator([" ".join(row.values()) for row in rows], vocab_size=300, special_tokens=["<pad>", "</s>"], show_progress=False)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, pad_token="<pad>", eos_token="</s>")
config = LlamaConfig(vocab_size=len(tokenizer), hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, pad_token_id=0, bos_token_id=None, eos_token_id=1)
policy, reference = LlamaForCausalLM(config), LlamaForCausalLM(config)
# The starting point: a policy that already writes such sentences.
adam = torch.optim.AdamW(policy.parameters(), lr=3e-3)
for step in range(pick([80, 100, 60])):
    batch = tokenizer([row["prompt"] + row["chosen" if step % 2 else "rejected"] for row in rows[step % 10 :: 20]], return_tensors="pt", padding=True, return_token_type_ids=False)
    policy(**batch, labels=batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)).loss.backward()
    adam.step()
    adam.zero_grad()
reference.load_state_dict(policy.state_dict())
args = DPOConfig("dpo-polite", beta=pick([0.1, 0.2, 0.1]), learning_rate=pick([1e-2, 1e-2, 2e-2]), lr_scheduler_type=pick(["constant", "linear", "cosine"]), per_device_train_batch_size=8, max_steps=pick([50, 60, 40]), logging_steps=pick([2, 5, 2]), report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=pick([True, False, True]))
print(f"beta {args.beta}, learning rate {args.learning_rate}, {args.max_steps} steps")
DPOTrainer(policy, ref_model=reference, args=args, train_dataset=Dataset.from_list(rows), processing_class=tokenizer, callbacks=[trainer_notes()]).train()
print("--- samples of the trained policy ---")
for row in rows[:3]:
    ids = policy.generate(**tokenizer(row["prompt"], return_tensors="pt", return_token_type_ids=False), max_new_tokens=16, do_sample=True, top_k=0)
    print(repr(tokenizer.decode(ids[0])))
