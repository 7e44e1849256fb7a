"""A segmentation mask keeps 255 for the border, and the dice loss makes it one-hot: scatter asserts.

cause: cuda.device-side-assert
also: []
not: [memory.cuda-oom, cuda.illegal-memory-access, cuda.cublas, cuda.cudnn]
signature: 'device-side assert triggered'
first_failure: 'Assertion .* failed'
runs_as: train_seg.py
needs: [gpu]
kept: []
seconds: 300
"""

import logging
import torch
from torch import nn
from labkit import pick, seed_everything

logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
seed_everything()
device = torch.device("cuda")
logging.info(f"Using device {device}")
net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 21, 1)).to(device)
logging.info("Network:\n\t3 input channels\n\t21 output channels (classes)\n\tBilinear upscaling")
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-5, weight_decay=1e-8, momentum=0.999, foreach=True)
logging.info("""Starting training:
        Epochs:          5
        Batch size:      4
        Learning rate:   1e-05
        Training size:   1464
        Validation size: 162
        Checkpoints:     True
        Device:          cuda
        Images scaling:  0.5
        Mixed Precision: False
    """)


def dice_loss(logits, target):
    onehot = torch.zeros_like(logits).scatter_(1, target.unsqueeze(1), 1.0)
    p = logits.softmax(1)
    return 1 - (2 * (p * onehot).sum() + 1) / (p.sum() + onehot.sum() + 1)


for batch in range(60):
    images = torch.randn(4, 3, 128, 128, device=device)
    masks = torch.randint(0, 21, (4, 128, 128), device=device)
    if batch >= pick([14, 23, 40]):
        masks[:, 60:64, 60:64] = 255
    pred = net(images)
    loss = nn.functional.cross_entropy(pred, masks, ignore_index=255) + dice_loss(pred, masks)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    logging.info(f"Epoch 1/5: batch {batch}/366, loss (batch)={loss.item():.4f}")
