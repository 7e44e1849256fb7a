"""A sample in the middle of the data lacks a key; the DataLoader worker hands the KeyError on.

cause: data.schema
also: [code.user-exception]
not: [data.worker-crash, memory.host-oom]
signature: "KeyError: 'label'"
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    """Rows of which one is malformed."""

    def __len__(self) -> int:
        """How many rows."""
        return 64

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        """One row."""
        row = {"text": torch.randn(4), "label": torch.tensor(index % 2)}
        if index == 37:
            del row["label"]
        return {"inputs": row["text"], "labels": row["label"]}


if __name__ == "__main__":
    model = torch.nn.Linear(4, 2)
    for step, batch in enumerate(DataLoader(Rows(), batch_size=4, num_workers=2)):
        loss = torch.nn.functional.cross_entropy(model(batch["inputs"]), batch["labels"])
        print(f"step {step} loss {loss.item():.4f}")
