import psutil
import torch
from labkit import pick, seed_everything


def tokenise(part):
    return torch.randint(0, 5000, (pick([6, 5, 8]) * 10**6,))


def main():
    seed_everything()
    table = torch.nn.EmbeddingBag(5000, 16)
    head = torch.nn.Linear(16, 5000)
    optimizer = torch.optim.Adagrad([*table.parameters(), *head.parameters()], lr=0.1)
    corpus = []
    for part in range(64):
        corpus.append(tokenise(part))
        used = psutil.Process().memory_info().rss / 2**20
        print(f"part {part:02d}: {sum(map(len, corpus)) / 1e6:.0f}M tokens in memory, process uses {used:.0f} MiB")
        for _ in range(4):
            rows = corpus[-1][:32 * 9].view(32, 9)
            loss = torch.nn.functional.cross_entropy(head(table(rows[:, :8])), rows[:, 8])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"part {part:02d}: loss {loss.item():.4f}")


main()
