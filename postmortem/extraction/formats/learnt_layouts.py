"""A learnt layout, and the figures of a line that it matches.

In: the template of a line, and what the generic reader has found on it. Out: `Layout`, and
`LearntFigures`, the figures of another such line. Not here: learning templates (`formats.layouts`),
what becomes of the figures (`formats.unknown`).
"""

from collections.abc import Sequence
from typing import NamedTuple

from postmortem.core.lines import ProcessId
from postmortem.extraction.formats.generic import Found, LineFigures
from postmortem.extraction.formats.templates import Template


class Layout(NamedTuple):
    """A learnt line: which of the template's groups is what (`formats.layouts`)."""

    template: Template
    looked: LineFigures
    """What the line held that it was learnt from; any such line differs in figures alone."""
    columns: tuple[tuple[str, int], ...]
    """Each value's name and group."""
    step: int | None
    now: int | None
    """The position of the bar."""
    epoch: int | None
    """The epoch in the label of the bar."""
    counted: int | None
    """Which column is the epoch."""

    @property
    def scale(self) -> int:
        """Steps in one of the unit in which the step is printed."""
        return self.looked.found.scale

    def read_values(self, groups: Sequence[bytes]) -> list[float]:
        """Read the values of a line by the groups of its template."""
        return [read_figure(groups[group]) for _, group in self.columns]

    def has_step(self) -> bool:
        """Say whether its lines print a step, or stand at one of a bar."""
        bar = self.looked.bar
        if bar is None or self.now is None:
            return self.looked.found.has_step
        return bar.counts_steps()


def read_figure(text: bytes) -> float:
    """Read a figure that a template leaves open, whose thousands may be grouped."""
    return float(text.replace(b",", b"")) if b"," in text else float(text)


class LearntFigures(NamedTuple):
    """What a learnt line gives; a record is made of it only where it must be."""

    layout: Layout
    where: ProcessId
    step: float
    values: list[float]
    line: int

    def found(self) -> Found:
        """Make what the slow path would have found, its step settled."""
        found = self.layout.looked.found
        record = found.record._replace(
            step=self.step,
            where=self.where,
            values=[
                (name, value)
                for (name, _), value in zip(self.layout.columns, self.values, strict=True)
            ],
        )
        return found._replace(
            record=record,
            has_step=self.layout.has_step(),
            layout="",
            is_numbered=False,
            line=self.line,
        )
