"""Write the shards of a made-up spectrogram data set."""

import os

import numpy as np
from labkit import SEED, pick

draw = np.random.RandomState(SEED)
for number in range(12):
    labels = draw.randint(0, 5, 64)
    spectra = draw.normal(size=(64, 40)).astype(np.float32) + np.eye(5, 40, dtype=np.float32)[labels] * 4
    np.savez(f"shard_{number:03d}.npz", spectra=spectra, labels=labels)
place = pick([7, 5, 9])
os.truncate(f"shard_{place:03d}.npz", pick([6000, 9000, 0]))
