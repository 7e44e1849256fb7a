"""The adapters are merged on the card at the end: a float32 copy of the merged weights is one too many.

cause: memory.oom-at-load-or-save
also: [memory.cuda-oom]
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak]
signature: 'CUDA out of memory'
environment: transformers
runs_as: merge.py
needs: [gpu]
kept: []
seconds: 300
"""

import copy
import torch
from labkit import pick, seed_everything
from peft import LoraConfig, get_peft_model

seed_everything()
free, total = torch.cuda.mem_get_info()
layers = int(total * pick([0.7, 0.75, 0.8]) / (16384 * 16384 * 2))


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(16384, 16384, bias=False, device="cuda", dtype=torch.bfloat16) for _ in range(layers)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


with torch.no_grad():
    model = get_peft_model(Stack(), LoraConfig(r=8, target_modules=r"layers\.\d+"))
    model.print_trainable_parameters()
    print(model(torch.zeros(1, 16384, device="cuda", dtype=torch.bfloat16)).shape)
    print("Merging LoRA weights into the base model ...")
    merged = copy.deepcopy(model).merge_and_unload()
    merged.float()
    print("Saving merged model to merged/")
