"""A shape that was found.

In: nothing. Out: `Shape`. Not here: what is known of its kind (`knowledge.catalogue`), finding it
(`shapes.registry`).
"""

from typing import NamedTuple

from postmortem.model.lines import Where
from postmortem.model.said import Said


class Shape(NamedTuple):
    """A shape seen in one or more series, in findings, or in the end of a log."""

    id: str
    """One of `knowledge.catalogue.CATALOGUE`."""
    said: Said
    """The figures that show it."""
    source: int
    where: Where
    line: int
