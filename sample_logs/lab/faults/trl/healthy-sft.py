"""A normal supervised fine-tuning with TRL on prompts and completions: TRL's notices, its metrics, a falling loss.

cause: healthy.completed
also: [healthy.running]
not: [config.tokenizer, numerics.labels-all-masked, numerics.untrained-embeddings, learning.plateau]
outcome: completed
step_basis: ordinal
runs_as: sft_colours.py
launch: python sft_colours.py
environment: transformers
"""

from datasets import Dataset
from labkit import pick, seed_everything, trainer_notes
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

seed_everything()
colours = ["red", "green", "blue", "white", "black", "brown", "grey", "pink"]
rows = [{"prompt": f"which colour is number {i} ?", "completion": f" it is {colours[i % 8]} ."} for i in range(320)]
words = sorted({word for row in rows for word in (row["prompt"] + row["completion"]).split()})
backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(["<pad>", "</s>", "<unk>", *words])}, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, pad_token_id=0, bos_token_id=None, eos_token_id=1))
args = SFTConfig("colours", per_device_train_batch_size=16, num_train_epochs=3, learning_rate=pick([3e-3, 2e-3, 4e-3]), logging_steps=5, report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=pick([True, False, True]))
trainer = SFTTrainer(model, args, train_dataset=Dataset.from_list(rows), processing_class=tokenizer, callbacks=[trainer_notes()])
trainer.train()
print("done, final loss", round(trainer.state.log_history[-1]["train_loss"], 3))
