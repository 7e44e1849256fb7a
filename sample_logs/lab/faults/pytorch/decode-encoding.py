"""A text file in Latin-1 stands among UTF-8 files; reading it raises a UnicodeDecodeError.

cause: data.decode
not: [data.missing-file, config.tokenizer, data.schema]
signature: "UnicodeDecodeError: '(utf-8|ascii)' codec can't decode byte"
"""

import pathlib

import torch
from labkit import note, pick, seed_everything

TEXT = pick(["Die Straße führt über den Fluß, und die Bäume blühen. ", "Le garçon a mangé une pêche près de la forêt. ", "El niño soñó con un pingüino en la montaña. "])
BOOKS = pathlib.Path("books")
ENCODING = pick(["utf-8", "utf8", None])


def scan(name, encoding):
    BOOKS.mkdir(exist_ok=True)
    (BOOKS / name).write_bytes((TEXT * 40).encode(encoding))


for number in range(8):
    scan(f"book_{number}.txt", "latin-1" if number == pick([3, 5, 2]) else "utf-8")
seed_everything()

letters = sorted(set(TEXT))
print(f"alphabet: {len(letters)} characters")
net = torch.nn.Sequential(torch.nn.Embedding(len(letters), 16), torch.nn.Flatten(), torch.nn.Linear(16 * 8, 64), torch.nn.ReLU(), torch.nn.Linear(64, len(letters)))
optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
total = 0
for book in sorted(BOOKS.glob("*.txt")):
    print(f"--- {book}")
    codes = torch.tensor([letters.index(letter) for letter in book.read_text(ENCODING)])
    windows = codes.unfold(0, 9, 3)
    for chunk in windows[torch.randperm(len(windows))].split(64):
        loss = torch.nn.functional.cross_entropy(net(chunk[:, :8]), chunk[:, 8])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += 1
        if total % 2 == 0:
            print(f"  update {total:>4}  nll {loss.item():.4f}")
            note("loss", total, float(f"{loss.item():.4f}"))
