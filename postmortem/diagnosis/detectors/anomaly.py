"""An anomaly that was found.

In: nothing. Out: `Anomaly`. Not here: what is known of its kind (`patterns/anomalies`), finding it
(`detectors.registry`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from postmortem.core.lines import ProcessId
from postmortem.core.message import Message


class Anomaly(NamedTuple):
    """An anomaly seen in one or more series, in findings, or in the end of a log."""

    id: str
    """One of `patterns/anomalies`."""
    message: Message
    """The figures that show it."""
    source: int
    where: ProcessId
    line: int
    captures: Mapping[str, str] = MappingProxyType({})
    """What fixes may name of it, as the groups of a signature are: names and values."""
