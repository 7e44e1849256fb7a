"""GRPO with a far too high rate and no KL term: within some steps the policy writes one token for every prompt; entropy and reward_std fall to 0 while the reward stays low, and nothing is learned any more.

cause: learning.collapse
also: [config.rl, numerics.lr-divergence]
not: [healthy.completed, numerics.nonfinite-unknown, numerics.labels-all-masked]
signature: "'frac_reward_zero_std': '1', 'entropy': '(0'|0[.]0|[0-9.]+e-)"
outcome: completed
step_basis: ordinal
runs_as: rl_style.py
launch: python rl_style.py
environment: transformers
"""

from datasets import Dataset
from labkit import pick, seed_everything, trainer_notes
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

seed_everything()
words = "yes no good bad great happy sad the a film plot cast was is very really thanks please sure maybe".split()
backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(["<pad>", "</s>", "<unk>", *words])}, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
prompts = [f"the {a} was {b}" for a in ("film", "plot", "cast") for b in ("good", "bad", "great", "happy", "sad")] * 4
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=32, n_layer=2, n_head=2, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, pad_token_id=0, bos_token_id=1, eos_token_id=1))


def repeats_adjective(prompts, completions, **kwargs):
    """Share of the completion's words that repeat the adjective of the prompt."""
    return [completion.split().count(prompt.split()[-1]) / 8 for prompt, completion in zip(prompts, completions, strict=True)]


args = GRPOConfig(
    "rl-style", num_generations=8, per_device_train_batch_size=16, max_completion_length=8, max_steps=pick([60, 50, 80]), learning_rate=pick([0.1, 0.05, 0.2]), lr_scheduler_type="constant", beta=0.0,
    logging_steps=pick([2, 2, 4]), log_completions=False, report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=True,
)
print("reward: repeats_adjective | learning rate", args.learning_rate, "| beta", args.beta)
trainer = GRPOTrainer(model, reward_funcs=repeats_adjective, args=args, train_dataset=Dataset.from_dict({"prompt": prompts}), processing_class=tokenizer, callbacks=[trainer_notes()])
trainer.train()
for prompt in prompts[:4]:
    ids = model.generate(**tokenizer(prompt, return_tensors="pt", return_token_type_ids=False), max_new_tokens=12, do_sample=True, temperature=1.0, pad_token_id=0)
    print(f"{prompt!r} -> {tokenizer.decode(ids[0][len(prompt.split()):])!r}")
