"""A text classifier whose weights were cast to float16 is trained with AdamW: squared gradients and epsilon both round to zero in half precision, the first update divides by it, and the loss is NaN from the second iteration.

cause: numerics.fp16-overflow
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.bad-batch, healthy.completed]
signature: 'loss: nan'
runs_as: train_half.py
launch: |
  python train_half.py
  python -m mmnotes work_dirs
"""

import torch
from labkit import SEED, pick
from mmengine.logging import MMLogger
from mmengine.model import BaseModel
from mmengine.optim import OptimWrapper
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ReviewClassifier(BaseModel):
    def __init__(self, vocabulary=2000, width=96, classes=5):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocabulary, width, mode="mean")
        self.classifier = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, classes))

    def forward(self, tokens, ratings, mode="tensor"):
        logits = self.classifier(self.embedding(tokens))
        if mode == "loss":
            return {"loss": nn.functional.cross_entropy(logits, ratings)}
        return logits


torch.manual_seed(SEED)
ratings = torch.randint(0, 5, (1024,))
tokens = torch.randint(0, 1000, (1024, 40)) + ratings[:, None] * 200
model = ReviewClassifier(width=pick([96, 128, 64])).half()
optimizer = torch.optim.AdamW(model.parameters(), lr=pick([5e-4, 2e-4, 1e-3]))
runner = Runner(
    model=model,
    work_dir="./work_dirs/reviews_fp16",
    train_dataloader=DataLoader(TensorDataset(tokens, ratings), batch_size=32, shuffle=True),
    train_cfg=dict(by_epoch=True, max_epochs=2),
    optim_wrapper=OptimWrapper(optimizer),
    default_hooks=dict(logger=dict(type="LoggerHook", interval=1), checkpoint=dict(type="CheckpointHook", interval=2)),
    log_processor=dict(window_size=1),
    randomness=dict(seed=SEED),
)
logger = MMLogger.get_current_instance()
logger.info("model: %s", model)
logger.info("parameters: %d, dtype %s, optimizer %s", sum(parameter.numel() for parameter in model.parameters()), next(model.parameters()).dtype, optimizer)
runner.train()
