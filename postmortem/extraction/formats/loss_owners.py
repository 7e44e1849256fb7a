"""Choose which of the printed figures of one name are those of its steps, and which loss is `loss`.

In: the printed names of figures, process by process. Out: the name that each is to have. Not here:
which figures are losses of the training at all (`formats.losses`).

Of several printed names of the training loss only one is `loss`: a plain `loss` with a step before
anything else, then a plain training loss with a step before a part of it, else the first. The
others (`avg. loss` at the end of an epoch) keep their names. Any other figure that a program prints
for its steps and for its epochs has two names, too.
"""

from collections.abc import Callable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lines import ProcessId
from postmortem.extraction.formats.losses import is_of_training, is_plain_loss
from postmortem.extraction.formats.metric_names import name_of_split

_MOST: Final = 4096
COMMON: Final = frozenset(
    {names.EPOCH, names.LEARNING_RATE, names.THROUGHPUT, names.STEP_TIME, names.DATA_TIME}
    | {names.MEMORY, names.EVAL_LOSS, names.LOSS_SCALE, names.GRAD_NORM}
)
"""Figures that are the same whatever prints them."""


class LossOwners:
    """Keeps the spelling that is each process's own."""

    def __init__(self) -> None:
        """Know no process yet."""
        self._own: dict[ProcessId, tuple[str, bool]] = {}
        self._of_steps: dict[tuple[str, ProcessId], bool] = {}
        """Whether a figure was first printed with a step."""
        self._passes: dict[tuple[str, ProcessId], int] = {}
        """Batches of the first pass that ended with a loss of a printed name."""
        self.changes = 0
        """How often the training loss of a process has got another name."""
        self.rename: Callable[[str, ProcessId], None] = lambda _name, _where: None
        """Gives what was `loss` so far the name that it has beside the one that is now."""

    def is_owned(self, where: ProcessId) -> bool:
        """Say whether a process has a training loss already."""
        return where in self._own

    def called(self, mine: tuple[str, bool], where: ProcessId) -> str:
        """Give the name of a `loss` by its printed name and whether it has a step.

        One such spelling is a process's own.
        """
        printed = mine[0]
        own = self._own.setdefault(where, mine) if printed else mine
        if own == mine:
            return names.LOSS
        if mine[1] and _rank(mine) > _rank(own):
            self._own[where] = mine
            self.changes += 1
            self.rename(_name_apart(own[0]), where)
            return names.LOSS
        return _name_apart(printed)

    def name_pass(
        self, batches: int, printed: str, figures: Sequence[str], where: ProcessId
    ) -> list[str]:
        """Name the figures at the end of a pass: of a shorter one than the first, an evaluation's.

        Args:
            batches: of the pass; 0 where the line ends none.
            printed: the name of its loss.
            figures: the names of its figures so far.
            where: the process.
        """
        if not batches or batches >= self._passes.setdefault((printed, where), batches):
            return [*figures]
        return [name if name in COMMON else name_of_split(name, "val") for name in figures]

    def name_figure(self, name: str, where: ProcessId, *, has_step: bool) -> str:
        """Give the name of any other figure of a record that has a step or not."""
        if name in COMMON or names.OF_SPLIT in name:
            return name
        key = (name, where)
        if key not in self._of_steps:
            if len(self._of_steps) >= _MOST or not is_of_training(name.replace("_", " ")):
                return name
            self._of_steps[key] = has_step
        return f"{names.OF_EPOCH}{name}" if self._of_steps[key] and not has_step else name


def _rank(mine: tuple[str, bool]) -> int:
    """Say how much speaks for a loss: a plain one with a step has most, a part least."""
    return 2 if mine == (names.LOSS, True) else int(is_plain_loss(mine[0]))


def _name_apart(printed: str) -> str:
    """Give the name of a training loss beside that which is `loss`."""
    return printed if printed != names.LOSS else f"{names.OF_EPOCH}{names.LOSS}"
