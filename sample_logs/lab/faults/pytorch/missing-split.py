r"""Training goes well; the validation folder that the first evaluation lists does not exist.

cause: data.missing-file
not: [data.empty, io.permission, code.user-exception]
signature: 'FileNotFoundError: \[Errno 2\] No such file or directory: .*/(val|valid|validation)'
"""

import os
import time

import numpy as np
import torch
from labkit import note, pick, seed_everything

SPLIT = pick(["val", "validation", "valid"])
FOLDER = pick(["data/speech_commands", "./speech", "corpora/kws"])
WORDS = ["yes", "no", "up", "down"]


def unpack(split, count):
    # The archive of this split, as far as it was unpacked.
    for label, word in enumerate(WORDS):
        os.makedirs(f"{FOLDER}/{split}/{word}", exist_ok=True)
        for take in range(count):
            wave = np.sin(np.arange(256) * (label + 1) / 9) + 0.5 * np.random.randn(256)
            np.save(f"{FOLDER}/{split}/{word}/{take:04d}.npy", wave.astype(np.float32))


def load(split):
    waves, labels = [], []
    for label, word in enumerate(sorted(os.listdir(os.path.join(FOLDER, split)))):
        for name in sorted(os.listdir(os.path.join(FOLDER, split, word))):
            waves.append(np.load(os.path.join(FOLDER, split, word, name)))
            labels.append(label)
    return torch.from_numpy(np.stack(waves)), torch.tensor(labels)


def evaluate(model):
    waves, labels = load(SPLIT)
    with torch.no_grad():
        return (model(waves).argmax(1) == labels).float().mean().item()


seed_everything()
unpack("train", 40)
waves, labels = load("train")
print(f"=> {len(labels)} training clips, classes {WORDS}")
model = torch.nn.Sequential(torch.nn.Unflatten(1, (1, 256)), torch.nn.Conv1d(1, 8, 9, stride=4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(4))
model(waves[:2])
optimizer = torch.optim.SGD(model.parameters(), lr=pick([0.02, 0.01, 0.03]), momentum=0.9)
print(model)
start = time.time()
for step in range(1, 201):
    rows = torch.randint(0, len(labels), (16,))
    loss = torch.nn.functional.cross_entropy(model(waves[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"| step {step:4d} | loss {loss.item():6.3f} | {(time.time() - start) / step * 1000:5.1f} ms/step")
        note("loss", step, float(f"{loss.item():.3f}"))
    if step % pick([100, 60, 120]) == 0:
        print("Running evaluation ...")
        print(f"accuracy {evaluate(model):.3f}")
