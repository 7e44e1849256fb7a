r"""Pretrained weights are to be downloaded at start-up, but the node has no way out (its proxy refuses).

cause: io.hub-access
also: []
not: [data.missing-file, checkpoint.corrupt, distributed.rendezvous, environment.missing-package]
signature: 'urllib\.error\.URLError: <urlopen error '
runs_as: finetune.py
launch: |
  export https_proxy=http://127.0.0.1:9 http_proxy=http://127.0.0.1:9
  python finetune.py
"""

import torch
import torch.nn as nn
from labkit import pick, seed_everything

seed_everything()
URLS = {
    "resnet18": "https://download.pytorch.org/models/resnet18-f37072fd.pth",
    "alexnet": "https://download.pytorch.org/models/alexnet-owt-7be5be79.pth",
    "hub": "pytorch/vision:v0.10.0",
}
name = pick(["resnet18", "alexnet", "hub"])
print("===> Preparing data")
x, y = torch.rand(40, 3, 32, 32), torch.randint(0, 3, (40,))
print("===> Building model", name)
if name == "hub":
    model = torch.hub.load(URLS[name], "resnet18", pretrained=True, trust_repo=True)
else:
    state = torch.hub.load_state_dict_from_url(URLS[name], progress=True)
    model = nn.Sequential(nn.Flatten(), nn.Linear(3072, 3))
    model.load_state_dict(state)
print("===> Training")
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for epoch in range(3):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
