import argparse
import math
import sys
import time

import torch
from labkit import pick, seed_everything

parser = argparse.ArgumentParser(description="LSTM language model")
parser.add_argument("--emsize", type=int, default=64)
parser.add_argument("--epochs", type=int, default=40)
parser.add_argument("--save", default="model.pt")
args = parser.parse_args()

seed_everything()
corpus = (torch.arange(9000) % 37 + torch.randint(0, 2, (9000,))) % 40
table, lstm, decoder = torch.nn.Embedding(40, args.emsize), torch.nn.LSTM(args.emsize, 64), torch.nn.Linear(64, 40)
parameters = [p for module in (table, lstm, decoder) for p in module.parameters()]
optimizer = torch.optim.SGD(parameters, lr=pick([2.0, 1.0, 3.0]))


def train(epoch):
    total, start = 0.0, time.time()
    rows = corpus.view(9, -1).t()
    for batch, at in enumerate(range(0, len(rows) - 1, 10)):
        chunk = rows[at:at + 11]
        loss = torch.nn.functional.cross_entropy(decoder(lstm(table(chunk[:-1]))[0]).flatten(0, 1), chunk[1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 0.25)
        optimizer.step()
        time.sleep(0.01)
        total += loss.item()
        if batch % 25 == 0 and batch > 0:
            print(f"| epoch {epoch:3d} | {batch:5d}/{len(rows) // 10:5d} batches | lr {optimizer.param_groups[0]['lr']:02.2f} | ms/batch {(time.time() - start) * 1000 / 25:5.2f} | loss {total / 25:5.2f} | ppl {math.exp(min(20, total / 25)):8.2f}")
            total, start = 0.0, time.time()
    print("-" * 89)


try:
    for epoch in range(1, args.epochs + 1):
        train(epoch)
        if epoch == pick([2, 3, 1]):
            open("running", "w").close()
except KeyboardInterrupt:
    print("-" * 89)
    print(pick(["Exiting from training early (KeyboardInterrupt)", "Interrupted by user, saving the model and leaving", "Ctrl-C: stopping here"]))
    torch.save(decoder.state_dict(), args.save)
    sys.exit(130)
