"""A shape that was found.

In: nothing. Out: `Anomaly`. Not here: what is known of its kind (`knowledge.catalogue`), finding it
(`shapes.registry`).
"""

from typing import NamedTuple

from postmortem.model.lines import ProcessId
from postmortem.model.said import Message


class Anomaly(NamedTuple):
    """A shape seen in one or more series, in findings, or in the end of a log."""

    id: str
    """One of `knowledge.catalogue.CATALOGUE`."""
    said: Message
    """The figures that show it."""
    source: int
    where: ProcessId
    line: int
