"""A loader worker meets a record without the field that the data set reads; the main process raises the worker's KeyError.

cause: data.schema
quick: true
also: [code.user-exception]
not: [data.worker-crash, memory.host-oom, memory.shm-exhausted, data.missing-file, checkpoint.key-mismatch]
signature: "^KeyError: '"
first_failure: '^KeyError: Caught KeyError in DataLoader worker process'
"""

import torch
from labkit import note, pick, seed_everything
from torch.utils.data import DataLoader, Dataset

seed_everything()
FIELD = pick(["answer", "mel", "caption_ids"])
LACKING = pick([733, 401, 520])


class QADataset(Dataset):
    def __init__(self, n):
        self.items = [{"question": torch.randint(0, 50, (6,)), FIELD: torch.randint(0, 50, (1,)).item()} for _ in range(n)]
        for item in self.items:
            item[FIELD] = int(item["question"].max())
        self.items[LACKING].pop(FIELD)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        item = self.items[i]
        return item["question"], item[FIELD]


dl = DataLoader(QADataset(900), batch_size=pick([30, 20, 25]), num_workers=pick([3, 2, 2]))
emb = torch.nn.Embedding(50, 32)
fc = torch.nn.Linear(6 * 32, 50)
opt = torch.optim.Adam(list(emb.parameters()) + list(fc.parameters()), lr=0.01)
for ep in range(2):
    for it, (q, a) in enumerate(dl):
        out = fc(emb(q).flatten(1))
        loss = torch.nn.functional.cross_entropy(out, a)
        opt.zero_grad()
        loss.backward()
        opt.step()
        acc = (out.argmax(1) == a).float().mean()
        print(f"[ep {ep}] it {it}/{len(dl)} loss={loss:.3f} acc={acc:.2f}")
        note("loss", it, float(f"{loss:.3f}"))
