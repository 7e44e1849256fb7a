"""Two checkpoints are merged by spherical interpolation; a tensor that is zero in one of them gives 0/0, the merge writes NaN, and the training that starts from it shows loss 0 and NaN norms.

cause: numerics.corrupt-weights
also: [numerics.nonfinite-unknown, numerics.unstable-op]
not: [healthy.completed, numerics.lr-divergence, numerics.labels-all-masked, learning.collapse]
signature: "'grad_norm': 'nan'"
first_failure: 'nan +nan'
step_basis: ordinal
runs_as: train_merged.py
launch: python train_merged.py
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments
from transformers.utils import logging

seed_everything()
logging.disable_progress_bar()
config = LlamaConfig(vocab_size=150, hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4)
for name in ("chat", "code"):
    made = LlamaForCausalLM(config)
    if name == "code":
        torch.nn.init.zeros_(made.model.layers[pick([1, 0, 1])].get_submodule(pick(["mlp.down_proj", "self_attn.o_proj", "mlp.up_proj"])).weight)
    made.save_pretrained(name)
logging.enable_progress_bar()


def slerp(one, other, share=0.5):
    a, b = one / one.norm(), other / other.norm()
    angle = torch.arccos((a * b).sum().clamp(-1, 1))
    return (torch.sin((1 - share) * angle) * one + torch.sin(share * angle) * other) / torch.sin(angle)


chat, code = load_file("chat/model.safetensors"), load_file("code/model.safetensors")
merged = {}
print(f"{'tensor':48s} {'mean':>9s} {'std':>9s}")
for key, value in chat.items():
    merged[key] = slerp(value.float(), code[key].float()) if value.dim() > 1 else (value + code[key]) / 2
    print(f"{key:48s} {merged[key].mean():9.5f} {merged[key].std():9.5f}")
LlamaForCausalLM(config).save_pretrained("merged")
save_file(merged, "merged/model.safetensors", metadata={"format": "pt"})

model = LlamaForCausalLM.from_pretrained("merged")
start = torch.randint(0, 150, (320, 1))
train = [{"input_ids": row, "labels": row} for row in (start + torch.arange(20) * 3) % 150]
args = TrainingArguments("merged-ft", per_device_train_batch_size=8, num_train_epochs=1, learning_rate=pick([1e-4, 5e-5, 3e-4]), logging_steps=pick([4, 2, 5]), report_to="none", use_cpu=True, save_strategy="no")
Trainer(model, args, train_dataset=train, callbacks=[trainer_notes()]).train()
