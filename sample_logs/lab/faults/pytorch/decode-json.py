"""A line of a JSON-lines corpus was cut when two writers shared the file; the streaming reader raises a JSONDecodeError in the middle of the run.

cause: data.decode
also: [data.schema]
not: [data.missing-file, data.empty, config.tokenizer]
signature: 'json.decoder.JSONDecodeError: '
"""

import json

import torch
from labkit import note, pick, seed_everything

WORDS = "the model reads a line of text and learns which word comes next in it".split()


def write(path, count):
    draw = torch.Generator().manual_seed(3)
    with open(path, "w") as sink:
        for number in range(count):
            start = int(torch.randint(0, len(WORDS), (1,), generator=draw))
            record = json.dumps({"id": f"doc-{number}", "text": " ".join(WORDS[(start + offset) % len(WORDS)] for offset in range(12))})
            sink.write((record if number != pick([388, 240, 505]) else record[: pick([37, 5, 60])]) + "\n")


def stream(path, batch_size):
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(WORDS))}
    batch = []
    with open(path) as source:
        for line in source:
            batch.append([vocabulary[word] for word in json.loads(line)["text"].split()])
            if len(batch) == batch_size:
                yield torch.tensor(batch)
                batch = []


seed_everything()
write("corpus.jsonl", 640)
vocab = len(set(WORDS))
embed, cell, out = torch.nn.Embedding(vocab, 24), torch.nn.LSTM(24, 48, batch_first=True), torch.nn.Linear(48, vocab)
params = [p for module in (embed, cell, out) for p in module.parameters()]
optimizer = torch.optim.Adam(params, lr=5e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 20, 0.5)
for step, tokens in enumerate(stream("corpus.jsonl", 8)):
    hidden, _ = cell(embed(tokens[:, :-1]))
    loss = torch.nn.functional.cross_entropy(out(hidden).flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
    scheduler.step()
    print(f"step={step} loss={loss.item():.3f} ppl={loss.exp().item():.2f} grad_norm={norm.item():.3f} lr={scheduler.get_last_lr()[0]:.2e}")
    note("loss", step, float(f"{loss.item():.3f}"))
    note("grad_norm", step, float(f"{norm.item():.3f}"))
    note("learning_rate", step, float(f"{scheduler.get_last_lr()[0]:.2e}"))
