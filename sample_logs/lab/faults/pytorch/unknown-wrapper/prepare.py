import torch
from labkit import seed_everything

seed_everything()
torch.save(torch.randn(400, 30), "features.pt")
print("wrote features.pt: 400 x 30")
