"""The classifier head expects another width than the encoder gives.

cause: code.shape-mismatch
also: []
not: [code.user-exception, data.sequence-too-long, checkpoint.shape-mismatch]
signature: 'RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x48 and 64x4)'
"""

import torch


class Net(torch.nn.Module):
    """An encoder and a head that do not fit."""

    def __init__(self) -> None:
        """Build it."""
        super().__init__()
        self.encoder = torch.nn.Linear(16, 48)
        self.head = torch.nn.Linear(64, 4)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Run it."""
        return self.head(torch.relu(self.encoder(inputs)))


print("building model ... done")
model = Net()
print(sum(p.numel() for p in model.parameters()), "parameters")
model(torch.randn(8, 16)).sum().backward()
