"""Write a tiny Llama with its tokenizer, and instructions in Alpaca's format.

`python -m tinyllama [FOLDER]`, for runs of XTuner.

The weights come from the lab's seed, the data and the tokenizer are always the same. No torch here:
importing it would take longer than the writing.
"""

import json
import random
import sys
from pathlib import Path

import numpy as np
from labkit import SEED
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "models/llama-tiny"
WIDTH, INNER, LAYERS, WORDS = 64, 128, 2, 512
Path(FOLDER).mkdir(parents=True)
random.seed(5)
towns, things = (
    ["Berne", "Oslo", "Porto", "Ghent", "Turin", "Lyon", "Graz", "Cork"],
    ["bridge", "market", "tower", "garden", "harbour", "library"],
)
entries = []
for _ in range(160):
    town, thing = random.choice(towns), random.choice(things)
    answer = (
        f"The {thing} of {town} is old, and {random.choice(['many', 'few'])} people visit it "
        f"in {random.choice(['spring', 'summer', 'autumn'])}."
    )
    entries.append(
        {
            "instruction": f"Describe the {thing} of {town} in one sentence.",
            "input": "",
            "output": answer,
        }
    )
with open("alpaca_towns.json", "w", encoding="utf-8") as sink:
    json.dump(entries, sink, indent=1)
tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))  # noqa: S106  not a password
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
texts = [entry["instruction"] + entry["output"] for entry in entries] + [
    (
        "[INST] [/INST] <<SYS>> Below is an instruction that describes a task. Write a response "
        "that appropriately completes the request."
    )
]
tokenizer.train_from_iterator(
    texts,
    trainers.BpeTrainer(
        vocab_size=480,
        special_tokens=["<unk>", "<s>", "</s>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    ),
)
tokenizer.save(f"{FOLDER}/tokenizer.json")
draw = np.random.RandomState(SEED)
weights = {
    "model.embed_tokens.weight": (WORDS, WIDTH),
    "model.norm.weight": (WIDTH,),
    "lm_head.weight": (WORDS, WIDTH),
}
for layer in range(LAYERS):
    inside = {
        "self_attn.q_proj": (WIDTH, WIDTH),
        "self_attn.k_proj": (WIDTH, WIDTH),
        "self_attn.v_proj": (WIDTH, WIDTH),
        "self_attn.o_proj": (WIDTH, WIDTH),
        "mlp.gate_proj": (INNER, WIDTH),
        "mlp.up_proj": (INNER, WIDTH),
        "mlp.down_proj": (WIDTH, INNER),
        "input_layernorm": (WIDTH,),
        "post_attention_layernorm": (WIDTH,),
    }
    weights |= {f"model.layers.{layer}.{name}.weight": shape for name, shape in inside.items()}
save_file(
    {
        name: draw.normal(0, 0.05, shape).astype(np.float32)
        if len(shape) == 2
        else np.ones(shape, np.float32)
        for name, shape in weights.items()
    },
    f"{FOLDER}/model.safetensors",
    metadata={"format": "pt"},
)
files = {
    "config": {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": WORDS,
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "max_position_embeddings": 512,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "torch_dtype": "float32",
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": False,
    },
    "generation_config": {"bos_token_id": 1, "eos_token_id": 2},
    "tokenizer_config": {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "model_max_length": 512,
    },
    "special_tokens_map": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
}
for name, content in files.items():
    with open(f"{FOLDER}/{name}.json", "w", encoding="utf-8") as sink:
        json.dump(content, sink, indent=2)
