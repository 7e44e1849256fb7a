import ctypes
import os

import numpy as np
import torch
from labkit import pick, seed_everything
from torch.utils.data import DataLoader, Dataset

library = ctypes.CDLL(os.path.abspath("librecord.so"))
library.unpack.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int]


class Sketches(Dataset):
    def __init__(self, count, newer):
        self.window = torch.hann_window(256)
        draw = np.random.default_rng(0)
        self.records = []
        for number in range(count):
            runs = draw.integers(1, 60, (16, 2), dtype=np.uint8)
            runs[:, 0] += np.uint8(60 * (number % 4))
            self.records.append((bytes([3 if number == newer else 2, 16]) + runs.tobytes(), number % 4))

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        record, label = self.records[index]
        pixels = np.zeros(256, dtype=np.float32)
        for _ in range(12):
            pixels += 0.01 * torch.stft(torch.randn(16384), 256, return_complex=True, window=self.window).abs().mean(1)[0].item()
        library.unpack(record, len(record), pixels.ctypes.data, 256)
        return torch.from_numpy(pixels), label


if __name__ == "__main__":
    seed_everything()
    loader = DataLoader(Sketches(800, pick([605, 428, 658])), batch_size=pick([16, 10, 20]), num_workers=pick([1, 2, 1]))
    net = torch.nn.Sequential(torch.nn.Linear(256, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
    for step, (pixels, labels) in enumerate(loader, 1):
        loss = torch.nn.functional.cross_entropy(net(pixels), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"{step}/{len(loader)} loss: {loss.item():.4f} lr: 0.2")
