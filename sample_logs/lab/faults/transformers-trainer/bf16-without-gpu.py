"""bf16=True on a machine where torch is a CPU-only build: TrainingArguments refuses.

cause: cuda.not-available
also: [config.trainer, cuda.insufficient-precision-support]
not: [numerics.fp16-overflow, memory.cuda-oom]
signature: "ValueError: Your setup doesn't support bf16/gpu"
needs: [no-gpu]
runs_as: train_vit.py
launch: python train_vit.py
"""

import torch
from labkit import pick, seed_everything
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification

seed_everything()
print("torch", torch.__version__, "| cuda available:", torch.cuda.is_available())
size = pick([32, 48, 64])
config = ViTConfig(hidden_size=48, num_hidden_layers=2, num_attention_heads=2, intermediate_size=96, image_size=size, patch_size=16, num_labels=10)
model = ViTForImageClassification(config)
images = [{"pixel_values": torch.randn(3, size, size), "labels": i % 10} for i in range(64)]
print(f"train: {len(images)} images of {size}x{size}, {model.num_parameters() / 1e6:.2f} M parameters")
args = TrainingArguments(
    output_dir="vit-tiny", per_device_train_batch_size=pick([8, 16, 4]), num_train_epochs=2, bf16=True, logging_steps=4, remove_unused_columns=False, report_to="none"
)
trainer = Trainer(model=model, args=args, train_dataset=images)
trainer.train()
