"""Fine-tuning of a float16 base with adapters that took over its dtype: after a check of the untuned model, the first scaler.step refuses the adapters' float16 gradients.

cause: numerics.unscale-fp16-gradients
also: [numerics.quantized-adapter-precision, config.peft]
not: [numerics.fp16-overflow, code.dtype-mismatch, numerics.loss-scale-exhausted]
signature: 'ValueError: Attempting to unscale FP16 gradients'
runs_as: tools/finetune_adapter.py
launch: python tools/finetune_adapter.py
"""

import logging

import torch
from labkit import pick, seed_everything
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s")
log = logging.getLogger("adapter")
RANK, WIDTH = pick([(8, 64), (4, 48), (16, 64)])


class Adapted(nn.Module):
    """A frozen linear layer with a low-rank adapter beside it."""

    def __init__(self, base, rank):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False, dtype=base.weight.dtype)
        self.up = nn.Linear(rank, base.out_features, bias=False, dtype=base.weight.dtype)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


def evaluate(model, batches):
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.float16):
        return sum(nn.functional.mse_loss(model(x).float(), y).item() for x, y in batches) / len(batches)


def main():
    seed_everything()
    model = nn.Sequential(nn.Linear(16, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1)).half().requires_grad_(False)
    for index in (0, 2):
        model[index] = Adapted(model[index], RANK)
        log.info("adapter of rank %d on layer %d (%s)", RANK, index, model[index].down.weight.dtype)
    trainable = [p for p in model.parameters() if p.requires_grad]
    log.info("trainable params: %d || all params: %d", sum(p.numel() for p in trainable), sum(p.numel() for p in model.parameters()))
    batches = [(x, x[:, :4].sum(1, keepdim=True)) for x in torch.randn(12, 32, 16)]
    log.info("before tuning: validation loss %.4f", evaluate(model, batches[8:]))
    optimizer = torch.optim.AdamW(trainable, lr=pick([2e-4, 1e-3, 5e-4]))
    scaler = torch.amp.GradScaler("cpu")
    for epoch in range(3):
        for x, y in batches[:8]:
            with torch.autocast("cpu", dtype=torch.float16):
                loss = nn.functional.mse_loss(model(x).float(), y)
            log.info("epoch %d loss %.4f scale %.1f", epoch, loss.item(), scaler.get_scale())
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()


main()
