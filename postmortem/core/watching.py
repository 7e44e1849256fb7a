"""What a watch over a running job sees.

A record, a sign of failure, a warning, a note on the file, the end.

In: nothing. Out: the values. Not here: finding them (`watch`), saying them (`report.watch_events`).
"""

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

from postmortem.core.lines import ProcessId
from postmortem.core.message import NOTHING, Message

KINDS: Final = (
    "nan",
    "hidden-nan",
    "eval-nan",
    "overflow",
    "divergence",
    "gradients",
    "zero-loss",
    "memory",
    "stall",
    "same-step",
)
"""What is warned of."""
ENDS: Final = ("completed", "failed", "warned", "once", "interrupted")


class MetricRecord(NamedTuple):
    """All figures that one line prints for one process."""

    where: ProcessId
    producer: str
    line: int
    step: float
    """NaN where none is printed."""
    values: dict[str, float]


class Sign(NamedTuple):
    """A reason to warn."""

    kind: str
    """One of KINDS."""
    message: Message
    """The figures that show it."""
    line: int
    """Raw line that shows it."""
    step: float = math.nan
    first: int = 0
    """Raw line where it began; 0 where that is the same."""


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning, shown once."""

    kind: str
    path: str
    where: ProcessId
    line: int
    """0 where no line shows it: a run that is silent."""
    step: float | None
    message: Message
    evidence: str
    """The raw line."""
    time: float
    """When it was told, in seconds since the epoch."""
    checkpoint: str | None = None
    """The last checkpoint that the log names from before it began."""
    checkpoint_standing: str = "unknown"
    """Whether a checkpoint stands before it: yes, no, unknown."""


@dataclass(frozen=True, slots=True)
class Noted:
    """Something about the file that is worth a line and is no warning."""

    kind: str
    """waiting | found | rotated | truncated | goes-on | unreadable"""
    path: str
    message: Message | None = None
    """Why, where that is known."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the watch."""

    how: str
    """One of ENDS."""
    paths: tuple[str, ...]
    warnings: int
    time: float
    cause: str | None = None
    """Of a run that is over: the verdict."""
    title: Message = NOTHING
    probability: float = 0.0

    @property
    def is_bad(self) -> bool:
        """True if something was warned of, or the run failed."""
        return self.warnings > 0 or self.how == "failed"


Event = Warned | Noted | Ended
