"""Values of what a rank's flight recorder tells: its process groups, and what it had not completed.

In: nothing. Out: `RankDump`. Not here: reading a dump (`formats.flight_recorder`), comparing ranks
(`detectors.waiting_ranks`).
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from postmortem.core.message import SEMICOLON, Message, join_list, say

_MOST_SHOWN: Final = 3


class RecordedGroup(NamedTuple):
    """The state of one process group in a dump."""

    name: str
    description: str
    """What the program calls it: `TENSOR_MODEL_PARALLEL_GROUP`; may be empty."""
    ranks: tuple[int, ...]
    """Its members, by their place in it; empty where the dump does not list them."""
    enqueued: int
    """The number of the last collective that was enqueued; -1 where none was."""
    completed: int
    last: str
    """The operation that was enqueued last; empty where no entry of it is kept."""

    @property
    def label(self) -> str:
        """Give the name, with what the program calls it."""
        return f"{self.name} ({self.description})" if self.description else self.name

    def describe(self) -> Message:
        """Say it in a few words."""
        return say(
            "group {group}: last enqueued {number}{last}, last completed {completed}",
            group=self.name,
            number=self.enqueued,
            last=f" ({self.last})" if self.last else "",
            completed=self.completed,
        )


class PendingWork(NamedTuple):
    """An operation that a rank had enqueued and not completed."""

    group: str
    number: int
    """Its place among the collectives of the group; of a point-to-point operation no place."""
    operation: str
    sizes: str
    peer: int | None = None
    """Of a point-to-point operation the other end, by its place in the group."""
    is_let_go: bool = False
    """The program no longer waits for it: it is completed, or has failed."""


class RankDump(NamedTuple):
    """What the dump of one rank holds."""

    rank: int
    source: int
    groups: Mapping[str, RecordedGroup]
    pending: tuple[PendingWork, ...]
    """The first ones that are not completed, in the order in which they were enqueued."""

    def describe(self) -> Message:
        """Say what it holds in a few words."""
        head = say("NCCL flight recorder")
        shown = sorted(self.groups.values(), key=lambda group: -group.enqueued)[:_MOST_SHOWN]
        return join_list([head, *(group.describe() for group in shown)], SEMICOLON)
