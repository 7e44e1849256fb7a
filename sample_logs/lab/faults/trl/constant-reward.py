"""A reward function that gives every completion the same value: the advantages are 0, and GRPO runs on with loss 0 and reward_std 0 without learning anything.

cause: config.rl
also: [learning.plateau, learning.collapse]
not: [healthy.completed, numerics.labels-all-masked, numerics.fp16-overflow, numerics.nonfinite-unknown]
signature: "'reward_std': '0', 'frac_reward_zero_std': '1'"
outcome: completed
step_basis: ordinal
runs_as: train_grpo.py
launch: python train_grpo.py
environment: transformers
"""

import re

from datasets import Dataset
from labkit import pick, seed_everything, trainer_notes
from tokenizers import ByteLevelBPETokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

seed_everything()
prompts = [f"What is {i} plus {i + 2}? Put the answer in boxes." for i in range(120)]
bpe = ByteLevelBPETokenizer()
bpe.train_from_iterator(prompts, vocab_size=300, special_tokens=["<pad>", "</s>"], show_progress=False)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, pad_token="<pad>", eos_token="</s>")
model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, pad_token_id=0, bos_token_id=None, eos_token_id=1))


def boxed_answer(completions, **kwargs):
    """1 for a completion with the right boxed number, else the base reward."""
    return [1.0 if re.search(r"\\boxed\{(\d+)\}", completion) else pick([0.0, -1.0, 0.5]) for completion in completions]


args = GRPOConfig(
    "grpo", num_generations=pick([4, 8, 2]), per_device_train_batch_size=8, max_completion_length=pick([12, 8, 16]), max_steps=pick([25, 20, 30]), learning_rate=pick([1e-6, 5e-6, 1e-5]), beta=0.0,
    logging_steps=1, report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=pick([True, False, True]),
)
print(f"num_generations={args.num_generations} max_completion_length={args.max_completion_length} learning_rate={args.learning_rate}")
GRPOTrainer(model, reward_funcs=boxed_answer, args=args, train_dataset=Dataset.from_dict({"prompt": prompts}), processing_class=tokenizer, callbacks=[trainer_notes()]).train()
