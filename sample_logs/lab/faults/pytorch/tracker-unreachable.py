r"""The tracker's own server cannot be reached from the compute node: initialising the run times out, and the exception stops the training.

cause: config.tracker
also: [io.hub-access]
not: [hang.startup, distributed.rendezvous, code.user-exception]
signature: 'wandb\.errors\.errors\.CommError: Run initialization has timed out'
first_failure: 'wandb: (ERROR|Network error)'
environment: wandb
runs_as: main.py
ends: time limit
seconds: 100
launch: python -W ignore main.py
variables: {WANDB_ERROR_REPORTING: "false", WANDB_BASE_URL: "http://127.0.0.1:9", WANDB_API_KEY: "0123456789012345678901234567890123456789", WANDB_INIT_TIMEOUT: "12"}
"""

import torch
import wandb
from labkit import pick, seed_everything

CONFIG = dict(model=pick(["mlp", "resmlp", "mlp-wide"]), hidden=pick([64, 96, 128]), lr=1e-3, steps=2000, seed=0)


def main():
    for key, value in CONFIG.items():
        print(f"{key:>8}: {value}")
    seed_everything()
    run = wandb.init(project="tabular", config=CONFIG)
    net = torch.nn.Sequential(torch.nn.Linear(14, CONFIG["hidden"]), torch.nn.ReLU(), torch.nn.Linear(CONFIG["hidden"], 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=CONFIG["lr"])
    for step in range(CONFIG["steps"]):
        x = torch.randn(64, 14)
        loss = (net(x) - x.abs().sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.log({"train/mse": loss.item()})
    run.finish()


if __name__ == "__main__":
    main()
