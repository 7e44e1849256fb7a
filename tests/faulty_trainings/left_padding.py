"""Left-padded rows under a causal mask: a padded place may look at nothing, and softmax gives NaN."""

import sys

import torch

from postmortem.recorder import Recorder

PAD, VOCABULARY, WIDTH = 0, 50, 32


class MaskedAttention(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.projected = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.out = torch.nn.Linear(WIDTH, WIDTH)

    def forward(self, hidden, allowed):
        query, key, value = self.projected(hidden).chunk(3, dim=-1)
        scores = query @ key.transpose(1, 2) / WIDTH**0.5
        scores = scores.masked_fill(~allowed, float("-inf"))
        return self.out(scores.softmax(-1) @ value)


class Decoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH, padding_idx=PAD)
        self.attentions = torch.nn.ModuleList(MaskedAttention() for _ in range(2))
        self.head = torch.nn.Linear(WIDTH, VOCABULARY)

    def forward(self, input_ids, attention_mask):
        length = input_ids.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        allowed = causal & attention_mask.bool()[:, None, :]
        hidden = self.embedding(input_ids)
        for attention in self.attentions:
            hidden = hidden + attention(hidden, allowed)
        return self.head(hidden)


def loss_of(model, batch):
    logits = model(batch["input_ids"], batch["attention_mask"])[:, :-1]
    target = batch["input_ids"][:, 1:]
    return torch.nn.functional.cross_entropy(
        logits.reshape(-1, VOCABULARY), target.reshape(-1), ignore_index=PAD
    )


def batches():
    """Rows of one length at first; then two of another, padded on the left."""
    for number in range(40):
        rows = torch.randint(1, VOCABULARY, (6, 16))
        mask = torch.ones_like(rows)
        if number == 22:
            rows[2, :5], mask[2, :5] = PAD, 0
            rows[4, :3], mask[4, :3] = PAD, 0
        yield {"input_ids": rows, "attention_mask": mask}


def main() -> None:
    torch.manual_seed(9)
    model = Decoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    with Recorder(model, optimizer, loss=loss_of, folder=sys.argv[1]) as recorder:
        for batch in batches():
            loss = recorder.loss(model, batch)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            print(f"loss {loss.item():.4f}")
            if recorder.written:
                break


if __name__ == "__main__":
    main()
