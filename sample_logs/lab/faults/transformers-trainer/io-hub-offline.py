r"""The cluster sets HF_HUB_OFFLINE and the model or data set was never downloaded to the cache.

cause: io.hub-access
also: [data.missing-file]
not: [checkpoint.corrupt, config.tokenizer, environment.missing-package]
signature: '^(\S*Error|\S*NotFound|\S*Enabled): .*(offline|OfflineModeIsEnabled|connect)'
first_failure: '^(\S*Error|\S*NotFound|\S*Enabled): '
runs_as: sft.py
launch: |
  export HF_HUB_OFFLINE=1
  env | grep HF_HUB_OFFLINE
  python sft.py
"""

import logging

from labkit import pick, seed_everything

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(levelname)s - %(message)s")
seed_everything()
kind = pick(["data", "model", "snapshot"])
logging.info("preparing %s", kind)
if kind == "data":
    from datasets import load_dataset
    print(load_dataset("imdb", split="train[:100]"))
elif kind == "model":
    from transformers import AutoModelForCausalLM
    print(AutoModelForCausalLM.from_pretrained("gpt2"))
else:
    from huggingface_hub import snapshot_download
    print(snapshot_download("sentence-transformers/all-MiniLM-L6-v2"))
