"""Instruction tuning that keeps only the answer's labels: the marker it looks for is not the one in the data, so every label is -100 and the mean loss is 0/0 from the first step.

cause: numerics.labels-all-masked
also: [data.schema]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.corrupt-weights, healthy.running]
signature: 'loss: nan'
runs_as: sft.py
"""

import logging

import torch
from labkit import note, pick, seed_everything
from torch import nn

logging.basicConfig(format="[%(asctime)s][%(name)s][%(levelname)s] - %(message)s", level=logging.INFO)
log = logging.getLogger("sft")
seed_everything()
MARKER = pick(["### Response:", "<|assistant|>\n", "[/INST]"])
WRITTEN = pick(["### Answer:", "<|assistant|> ", "[/INST ]"])
QUESTIONS = ["What is the capital of France?", "Add two and three.", "Name a colour.", "Translate 'dog' into German.", "Which planet is the largest?"]
ANSWERS = ["Paris.", "Five.", "Blue.", "Hund.", "Jupiter."]


def encode(question, answer):
    text = f"### Instruction:\n{question}\n{WRITTEN} {answer}"
    tokens = list(text.encode())
    labels = list(tokens)
    cut = text.find(MARKER)
    until = cut + len(MARKER) if cut >= 0 else len(tokens)
    labels[:until] = [-100] * until
    return tokens, labels


def collate(samples):
    width = max(len(tokens) for tokens, _ in samples)
    return torch.tensor([t + [0] * (width - len(t)) for t, _ in samples]), torch.tensor([v + [-100] * (width - len(v)) for _, v in samples])


data = [encode(QUESTIONS[i % 5], ANSWERS[i % 5]) for i in range(160)]
log.info("train samples: %d, response marker: %r", len(data), MARKER)
log.info("first sample: %r", bytes(data[0][0]).decode())
model = nn.Sequential(nn.Embedding(256, 48), nn.Linear(48, 96), nn.SiLU(), nn.Linear(96, 256))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
for step in range(1, 41):
    tokens, labels = collate([data[i] for i in torch.randint(0, len(data), (8,)).tolist()])
    logits = model(tokens)[:, :-1]
    loss = nn.functional.cross_entropy(logits.reshape(-1, 256), labels[:, 1:].reshape(-1), ignore_index=-100)
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    log.info("step %d/40 - loss: %.4f - grad_norm: %.4f - tokens: %d - target tokens: %d", step, loss.item(), norm.item(), tokens.numel(), (labels != -100).sum())
    note("loss", step, float(f"{loss.item():.4f}"))
    note("grad_norm", step, float(f"{norm.item():.4f}"))
