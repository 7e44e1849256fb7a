"""A local model path that does not exist (wrong working directory, or a misspelt folder); transformers takes it for a hub name.

cause: data.missing-file
also: [io.hub-access]
not: [checkpoint.corrupt, config.tokenizer, checkpoint.key-mismatch]
signature: 'HFValidationError: Repo id must|OSError: .*(is not a local folder|Incorrect path_or_model_id)|OSError: '
runs_as: src/train_lm.py
launch: |
  cd src
  python train_lm.py
variables: {HF_HUB_OFFLINE: "1"}
"""

import logging
import os

from labkit import pick, seed_everything
from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel

logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
seed_everything()
GPT2LMHeadModel(GPT2Config(vocab_size=100, n_embd=32, n_layer=1, n_head=2)).save_pretrained("../models/gpt2-base")
path = pick(["models/checkpoints/gpt2-base", "./models/gpt2-base/", "/data/models/gpt2-base"])
logging.info("working directory %s", os.path.basename(os.getcwd()))
logging.info("loading the base model from %s", path)
model = AutoModelForCausalLM.from_pretrained(path)
logging.info("parameters: %d", model.num_parameters())
