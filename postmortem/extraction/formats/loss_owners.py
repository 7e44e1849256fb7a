"""Choose which of the printed training losses of a process is its `loss`.

In: the printed names of losses, process by process. Out: the name that each is to have. Not here:
which figures are losses of the training at all (`formats.losses`).

Of several printed names of the training loss only one is `loss`: a plain `loss` with a step before
anything else, else the first. The others (`avg. loss` at the end of an epoch) keep their names.
"""

from postmortem.core.lines import ProcessId


class LossOwners:
    """Keeps the spelling that is each process's own."""

    def __init__(self) -> None:
        """Know no process yet."""
        self._own: dict[ProcessId, tuple[str, bool]] = {}
        self.changes = 0
        """How often the training loss of a process has got another name."""

    def is_owned(self, where: ProcessId) -> bool:
        """Say whether a process has a training loss already."""
        return where in self._own

    def called(self, mine: tuple[str, bool], where: ProcessId) -> str:
        """Give the name of a `loss` by its printed name and whether it has a step.

        One such spelling is a process's own.
        """
        printed = mine[0]
        if not printed or self._own.setdefault(where, mine) == mine:
            return "loss"
        if mine == ("loss", True):
            self._own[where] = mine
            self.changes += 1
            return "loss"
        return printed if printed != "loss" else "epoch_loss"
