r"""model.safetensors is no whole file: a Git LFS pointer, a cut copy, or an overwritten header.

cause: checkpoint.corrupt
also: []
not: [checkpoint.key-mismatch, checkpoint.unsafe-load, io.hub-access]
signature: 'Error while deserializing header'
runs_as: eval.py
launch: |
  python -c "
  from transformers import LlamaConfig, LlamaForCausalLM
  LlamaForCausalLM(LlamaConfig(vocab_size=99, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)).save_pretrained('base')" > /dev/null 2>&1
  cd base
  case $LAB_SEED in
    0) printf '%s\n' 'version https://git-lfs.github.com/spec/v1' 'oid sha256:2d1c9f0f3d5b8a0c6f0d8a1d1d2b1c7e5b4a39281706f5e4d3c2b1a09f8e7d6c' 'size 13200872' > model.safetensors ;;
    1) truncate -s 60% model.safetensors 2>/dev/null || truncate -s $(($(stat -c %s model.safetensors) * 6 / 10)) model.safetensors ;;
    *) printf 'xxxxxxxxxxxx' | dd of=model.safetensors bs=1 seek=8 conv=notrunc status=none ;;
  esac
  cd ..
  ls -l base | awk 'NR > 1 {print $5, $9}'
  python eval.py
"""

import torch
from labkit import seed_everything
from transformers import AutoModelForCausalLM

seed_everything()
print("loading ./base")
model = AutoModelForCausalLM.from_pretrained("./base")
model.eval()
with torch.no_grad():
    print("loss", model(input_ids=torch.ones(1, 8, dtype=torch.long), labels=torch.ones(1, 8, dtype=torch.long)).loss.item())
