"""The process that printed a line.

In: nothing. Out: `ProcessId`. Not here: how it is read from a line (`reading`).
"""

from typing import NamedTuple

from postmortem.core.message import Message, quote, say


class ProcessId(NamedTuple):
    """The process that printed a line, as far as the line says so.

    Every part is None if not printed.
    """

    rank: int | None = None
    local_rank: int | None = None
    node: str | None = None
    pid: int | None = None

    def filled(self, known: "ProcessId") -> "ProcessId":
        """Fill in the missing parts from another label of the same process."""
        return ProcessId._make(
            mine if mine is not None else its for mine, its in zip(self, known, strict=True)
        )

    def describe(self) -> Message:
        """Give a short name for people: `rank 3`, `local rank 0 on node-2`, or nothing."""
        name = (
            f"rank {self.rank}"
            if self.rank is not None
            else f"local rank {self.local_rank}"
            if self.local_rank is not None
            else ""
        )
        if self.node is not None:
            return (
                say("{name} on {node}", name=name, node=self.node)
                if name
                else say("on {node}", node=self.node)
            )
        return quote(name or (f"pid {self.pid}" if self.pid is not None else ""))


NOWHERE = ProcessId()
