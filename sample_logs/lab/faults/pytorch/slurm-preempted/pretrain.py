import time

import torch
from labkit import pick, seed_everything

seed_everything()
ACIDS, WIDTH = 20, pick([32, 40, 24])
table = torch.nn.Embedding(ACIDS + 1, WIDTH)
mix = torch.nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, batch_first=True, dropout=0.0)
head = torch.nn.Linear(WIDTH, ACIDS)
parameters = [p for module in (table, mix, head) for p in module.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=1e-3)
step, start = 0, time.time()
while step < 50000:
    step += 1
    chain = (torch.arange(24) * torch.randint(1, 4, (8, 1)) + torch.randint(0, ACIDS, (8, 1))) % ACIDS
    hidden = torch.rand(chain.shape) < 0.15
    hidden[0, 0] = True
    logits = head(mix(table(chain.masked_fill(hidden, ACIDS))))
    loss = torch.nn.functional.cross_entropy(logits[hidden], chain[hidden])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.02)
    if step % 10 == 0:
        print({"step": step, "mlm_loss": round(loss.item(), 4), "elapsed": round(time.time() - start, 1)})
    if step == pick([120, 150, 90]):
        open("steady", "w").close()
