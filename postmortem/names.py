"""The vocabulary that rooms share: canonical series names, roles, levels, status words.

In: nothing. Out: constants. Not here: anything that computes.
"""

from typing import Final

LOSS: Final = "loss"
EVAL_LOSS: Final = "eval_loss"
GRAD_NORM: Final = "grad_norm"
LEARNING_RATE: Final = "learning_rate"
LOSS_SCALE: Final = "loss_scale"
EPOCH: Final = "epoch"
MEMORY: Final = "memory"
THROUGHPUT: Final = "throughput"
STEP_TIME: Final = "step_time"
DATA_TIME: Final = "data_time"
SKIPPED_STEPS: Final = "skipped_steps"

ROLES: Final = ("cause", "consequence", "warning", "harmless", "context")
LEVELS: Final = ("decisive", "strong", "moderate", "weak")
LANGUAGES: Final = ("en", "zh")
OUTCOMES: Final = (
    "failed",
    "completed",
    "running",
    "stalled",
    "incomplete",
    "not-a-training-log",
    "unknown",
)
SCHEMA: Final = "postmortem.report/1"
ANALYSIS_SCHEMA: Final = "postmortem.analysis/1"
