"""A checkpoint written on the card is read without map_location where no GPU can be seen.

cause: cuda.not-available
also: [code.device-mismatch, checkpoint.resume-mismatch]
not: [checkpoint.corrupt, checkpoint.unsafe-load, memory.cuda-oom]
signature: 'Attempting to deserialize object on a CUDA device'
runs_as: main.py
launch: |
  python main.py train
  CUDA_VISIBLE_DEVICES= python main.py eval
needs: [gpu]
kept: []
seconds: 300
"""

import sys
import torch
from labkit import pick, seed_everything

seed_everything()
net = torch.nn.Linear(16, pick([4, 8, 2]))
if sys.argv[1] == "train":
    net.cuda()
    opt = torch.optim.SGD(net.parameters(), 0.1)
    for epoch in range(5):
        loss = (net(torch.randn(64, 16, device="cuda")) - 1).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    torch.save({"model": net.state_dict(), "epoch": 5}, "last.pt")
    print("saved last.pt")
else:
    print("loading last.pt")
    net.load_state_dict(torch.load("last.pt")["model"])
