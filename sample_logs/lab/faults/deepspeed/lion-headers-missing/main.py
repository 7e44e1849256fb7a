import logging

import torch
from deepspeed.ops.adagrad import DeepSpeedCPUAdagrad
from deepspeed.ops.adam import DeepSpeedCPUAdam
from deepspeed.ops.lion import DeepSpeedCPULion
from labkit import pick, seed_everything

logging.basicConfig(level=logging.INFO)
seed_everything()
model = torch.nn.LSTM(16, 64, 2, batch_first=True)
chosen = pick([DeepSpeedCPULion, DeepSpeedCPUAdagrad, DeepSpeedCPUAdam])
logging.info("optimizer: %s", chosen.__name__)
optimizer = chosen(model.parameters(), lr=1e-4)
for step in range(100):
    x = torch.randn(8, 20, 16)
    loss = model(x)[0].pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    logging.info("step %d loss %.5f", step, loss.item())
