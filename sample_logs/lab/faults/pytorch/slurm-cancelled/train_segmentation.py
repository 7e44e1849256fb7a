import logging
import time

import torch
from labkit import pick, seed_everything

logging.basicConfig(format="%(asctime)s %(levelname)s: %(message)s", level=logging.INFO)
seed_everything()
net = torch.nn.Sequential(torch.nn.Conv2d(1, 12, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(12, 1, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=pick([3e-3, 1e-3, 5e-3]))
logging.info("Starting training:\n        Epochs: 50\n        Batch size: 6\n        Device: cpu")
for step in range(1, 100001):
    images = torch.rand(6, 1, 24, 24)
    masks = (torch.nn.functional.avg_pool2d(images, 3, 1, 1) > 0.5).float()
    logits = net(images)
    dice = 1 - 2 * (logits.sigmoid() * masks).sum() / (logits.sigmoid() + masks).sum()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, masks) + dice
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.02)
    if step % 10 == 0:
        logging.info("step %d loss (batch) %.4f dice %.4f", step, loss.item(), 1 - dice.item())
    if step == pick([130, 90, 180]):
        open("started", "w").close()
