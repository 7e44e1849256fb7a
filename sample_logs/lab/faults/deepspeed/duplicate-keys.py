"""Two snippets were pasted into one DeepSpeed file: a section stands there twice, and DeepSpeed refuses duplicate keys.

cause: config.deepspeed
seconds: 300
not: [data.decode, data.schema, code.user-exception]
signature: 'ValueError: Duplicate keys in DeepSpeed config'
launch: |
  printf '{\\n  "train_batch_size": 32,\\n  "%s": {"enabled": true},\\n  "zero_optimization": {"stage": 1},\\n  "%s": {"enabled": true}\\n}\\n' $(python -c "from labkit import pick; print(pick(['bf16 bf16', 'zero_optimization bf16', 'wall_clock_breakdown wall_clock_breakdown']))") > ds.json
  RANK=0 LOCAL_RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT python train_tabular.py
runs_as: train_tabular.py
"""

import deepspeed
import torch
from labkit import seed_everything
from tqdm.auto import tqdm

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
seed_everything()
deepspeed.init_distributed("gloo")
net = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.SiLU(), torch.nn.Linear(64, 1))
table = torch.randn(4096, 20)
print(f"loaded table {tuple(table.shape)}")
engine, _, _, _ = deepspeed.initialize(model=net, optimizer=torch.optim.Adam(net.parameters(), lr=1e-3), config="ds.json")
progress = tqdm(range(100))
for _ in progress:
    rows = table[torch.randint(0, 4096, (32,))]
    loss = torch.nn.functional.mse_loss(engine(rows), rows.sum(1, keepdim=True))
    engine.backward(loss)
    engine.step()
    progress.set_postfix(loss=f"{loss.item():.4f}")
