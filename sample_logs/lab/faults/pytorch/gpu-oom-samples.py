"""Sample images are drawn at four times the training resolution at the end of each epoch; the first time there is no room.

cause: memory.oom-at-eval
also: [memory.cuda-oom]
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak]
signature: 'CUDA out of memory'
environment: transformers
runs_as: train_unet.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from torch import nn
from tqdm import tqdm
from labkit import pick, seed_everything

seed_everything()
unet = nn.Sequential(nn.Conv2d(3, 256, 3, padding=1), nn.SiLU(), nn.Conv2d(256, 256, 3, padding=1), nn.SiLU(), nn.Conv2d(256, 3, 3, padding=1)).cuda()
opt = torch.optim.AdamW(unet.parameters(), 1e-4)
bar = tqdm(range(40), desc="Epoch 0")
for step in bar:
    x = torch.randn(8, 3, 64, 64, device="cuda")
    noise = torch.randn_like(x)
    loss = nn.functional.mse_loss(unet(x + noise), noise)
    opt.zero_grad(); loss.backward(); opt.step()
    bar.set_postfix(loss=f"{loss.item():.4f}", lr=1e-4, step=step)
bar.close()
print("Sampling: 16 images for prompt grid, guidance 7.5")
with torch.no_grad():
    image = torch.randn(16, 3, pick([4096, 5120, 4608]), 4096, device="cuda")
    for t in tqdm(range(50)):
        image = image - 0.01 * unet(image)
