r"""The attention matrix of a very long signal does not fit into the machine's memory: the allocator of the CPU refuses in the first step.

cause: memory.host-oom
not: [memory.cuda-oom, memory.shm-exhausted, code.shape-mismatch]
signature: 'RuntimeError: .*can.t allocate memory'
runs_as: train_signal.py
memory_mib: 9000
launch: python train_signal.py
"""

import torch
from labkit import SEED, pick
from mmengine.logging import MMLogger
from mmengine.model import BaseModel
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SignalNet(BaseModel):
    def __init__(self, width=32, heads=8):
        super().__init__()
        self.inputs = nn.Linear(4, width)
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.heads = heads
        self.output = nn.Linear(width, 2)

    def forward(self, signal, event, mode):
        hidden = self.inputs(signal)
        query, key, value = (layer(hidden).unflatten(-1, (self.heads, -1)).transpose(1, 2) for layer in (self.query, self.key, self.value))
        weights = (query @ key.transpose(-1, -2) / query.size(-1) ** 0.5).softmax(-1)
        hidden = (weights @ value).transpose(1, 2).flatten(2)
        return dict(loss=nn.functional.cross_entropy(self.output(hidden.mean(1)), event))


length, batch = pick([(30000, 4), (20000, 8), (40000, 2)])
torch.manual_seed(SEED)
signals, events = torch.randn(16, length, 4), torch.randint(0, 2, (16,))
runner = Runner(
    model=SignalNet(),
    work_dir="work_dirs/signal",
    train_dataloader=DataLoader(TensorDataset(signals, events), batch_size=batch),
    train_cfg=dict(by_epoch=True, max_epochs=5),
    optim_wrapper=dict(optimizer=dict(type="Adam", lr=1e-3)),
    randomness=dict(seed=SEED),
)
MMLogger.get_current_instance().info(f"signals {tuple(signals.shape)}, batch size {batch}")
runner.train()
