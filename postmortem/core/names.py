"""Names that all packages share: canonical series names, roles, levels, status words.

In: nothing. Out: constants. Not here: anything that computes.
"""

from typing import Final, Literal, get_args

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

SO_FAR: Final = "_so_far"
"""Ends the name of a score that an evaluation prints while it is on its way."""
PLAIN_LOOP: Final = "pytorch"
"""The stack of a loop that its owner wrote."""
ASSUMED_LOOP: Final = f"{PLAIN_LOOP}?"
"""Counts lines of no known layout: such a loop is assumed, and named only if it shows."""
IN_LISTS: Final = "arrays"
"""Producer of series whose points stand in a list of their own, not beside those of others."""
NAMELESS: Final = "column "
"""Begins the name of a column of which nothing says what it is."""
OF_SPLIT: Final = " of "
"""Stands between a name and the split of its line, until it is known whether both print it."""
OF_EPOCH: Final = "epoch_"
"""Begins the name of a figure of a whole epoch beside that of each step."""
OF_BATCH: Final = f"_of_batch{SO_FAR}"
"""Ends the name of a figure of one batch of an evaluation that prints its result, too."""

ROLES: Final = ("cause", "consequence", "warning", "harmless", "context")
LEVELS: Final = ("decisive", "strong", "moderate", "weak")
LANGUAGES: Final = ("en", "zh")
Outcome = Literal[
    "failed",
    "completed",
    "running",
    "stalled",
    "cancelled",
    "incomplete",
    "not-a-training-log",
    "unknown",
]
OUTCOMES: Final[tuple[str, ...]] = get_args(Outcome)
ALARMING: Final = frozenset({"failed", "stalled", "cancelled"})
"""Outcomes of a run that did not come to its end by itself."""
SCHEMA: Final = "postmortem.report/1"
ANALYSIS_SCHEMA: Final = "postmortem.analysis/1"
EVALUATION_SCHEMA: Final = "postmortem.evaluation/1"
SHIPPED: Final = ""
"""In place of a model's path: the one that POSTMORTEM_MODEL names, else the one of the package."""
WITHOUT: Final = "none"
"""In POSTMORTEM_MODEL: the rules alone."""
