"""Conversations are given to SFTTrainer with a base model's tokenizer, which has no chat template.

cause: config.tokenizer
also: [config.trainer]
not: [data.schema, environment.missing-package]
signature: 'ValueError: Cannot use chat template functions because tokenizer.chat_template is not set'
runs_as: sft_chat.py
launch: python sft_chat.py
environment: transformers
"""

from datasets import Dataset
from labkit import pick, seed_everything
from tokenizers import ByteLevelBPETokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

seed_everything()
topics = pick([["tea", "bread"], ["cats", "dogs", "birds"], ["rain", "snow"]])
rows = [{"messages": [{"role": "user", "content": f"Tell me about {topics[i % len(topics)]}."}, {"role": "assistant", "content": f"{topics[i % len(topics)]} are known everywhere."}]} for i in range(100)]
if pick([False, True, False]):
    for row in rows:
        row["messages"].insert(0, {"role": "system", "content": "You are short."})
bpe = ByteLevelBPETokenizer()
bpe.train_from_iterator([message["content"] for row in rows for message in row["messages"]], vocab_size=320, special_tokens=["<pad>", "</s>"], show_progress=False)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, pad_token="<pad>", eos_token="</s>")
data = Dataset.from_list(rows)
print(data[0])
model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2))
trainer = SFTTrainer(model=model, args=SFTConfig("chat", max_length=128, per_device_train_batch_size=pick([4, 8, 2]), report_to="none", use_cpu=True), train_dataset=data, processing_class=tokenizer)
trainer.train()
