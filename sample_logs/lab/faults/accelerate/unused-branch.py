"""Two data-parallel processes train a model one of whose heads takes no part in the loss: DistributedDataParallel waits for gradients that never come.

cause: distributed.ddp-unused-parameters
also: [config.trainer]
not: [distributed.peer-failure, distributed.nccl-timeout, code.autograd-no-grad]
signature: 'RuntimeError: Expected to have finished reduction in the prior iteration'
runs_as: train_multitask.py
launch: torchrun --standalone --nproc-per-node 2 train_multitask.py
seconds: 240
environment: transformers
"""

import torch
from accelerate import Accelerator
from labkit import pick, seed_everything
from transformers import BertConfig, BertModel


class TwoHeads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = BertModel(BertConfig(vocab_size=200, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64), add_pooling_layer=False)
        self.topic = torch.nn.Linear(32, 4)
        self.language = torch.nn.Linear(32, pick([7, 12, 3]))

    def forward(self, tokens, task):
        state = self.encoder(input_ids=tokens).last_hidden_state[:, 0]
        return self.topic(state) if task == "topic" else self.language(state)


accelerator = Accelerator(cpu=True)
seed_everything()
model = TwoHeads()
optimizer = torch.optim.AdamW(model.parameters(), lr=pick([1e-4, 5e-4, 1e-3]))
rows = [(torch.randint(0, 200, (16,)), i % 4) for i in range(128)]
model, optimizer, loader = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(rows, batch_size=8, shuffle=True))
accelerator.print(accelerator.state)
for step, (tokens, topics) in enumerate(loader):
    loss = torch.nn.functional.cross_entropy(model(tokens, "topic"), topics)
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    accelerator.print(f"step {step} loss {loss.item():.4f}")
