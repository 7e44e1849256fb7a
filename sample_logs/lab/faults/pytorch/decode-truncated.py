"""A picture was cut by an interrupted copy: Pillow opens it, but decoding stops short, in a loader worker.

cause: data.decode
not: [data.missing-file, data.worker-crash, checkpoint.corrupt, io.storage]
signature: 'OSError: image file is truncated'
first_failure: 'OSError: Caught OSError in DataLoader worker process'
runs_as: train_autoencoder.py
"""

import io
import logging
import sys

import numpy as np
import torch
from labkit import note, pick, seed_everything
from PIL import Image
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s")
logger = logging.getLogger("autoencoder")


class Records(Dataset):
    """JPEG bytes in one blob, as a record file holds them."""

    def __init__(self, count, cut):
        self.blobs = []
        for number in range(count):
            stripes = (np.sin(np.arange(64)[:, None] * (1 + number % 5) / 7 + np.arange(64)) * 100 + 127).astype(np.uint8)
            buffer = io.BytesIO()
            Image.fromarray(stripes).save(buffer, "JPEG", quality=95)
            self.blobs.append(buffer.getvalue() if number != cut else buffer.getvalue()[: buffer.tell() * 2 // 3])

    def __len__(self):
        return len(self.blobs)

    def __getitem__(self, index):
        with Image.open(io.BytesIO(self.blobs[index])) as image:
            return np.array(image.resize((32, 32)), dtype=np.float32) / 255


seed_everything()
dataset = Records(480, pick([352, 270, 401]))
loader = DataLoader(dataset, batch_size=16, shuffle=False, num_workers=2, pin_memory=False)
encoder = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(1024, 64), torch.nn.ReLU())
decoder = torch.nn.Linear(64, 1024)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=pick([1e-3, 5e-4, 2e-3]))
logger.info("records: %d, batches per epoch: %d", len(dataset), len(loader))
for epoch in range(1, 4):
    for index, images in enumerate(loader, 1):
        loss = torch.nn.functional.mse_loss(decoder(encoder(images)), images.flatten(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if index % 2 == 0:
            logger.info("epoch %d | batch %d/%d | reconstruction loss %.5f", epoch, index, len(loader), loss.item())
            note("loss", index, float(f"{loss.item():.5f}"))
