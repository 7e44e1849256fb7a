"""The series of one process side by side, as the shapes look at them.

In: series. Out: `Curves`, `Shape`, the wording of a point. Not here: any shape.
"""

import math
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from postmortem import names
from postmortem.facts.series import Point, Series
from postmortem.model.lines import Where
from postmortem.model.said import Said, say

_LONG: Final = 20_000
"""Kept points above which shapes look at an envelope: enough for any shape, and bounded."""
STAND_IN: Final = re.compile(
    r"^(?:train(?:ing)?|total|avg|avr|mean|running|box|local)[_/]loss(?:_\w+)?$"
)
"""Names that stand for the training loss where no series is called so: `train_loss_estimate`, `box_loss`."""
_JOINED: Final = (
    names.LOSS,
    names.GRAD_NORM,
    names.LEARNING_RATE,
    names.EVAL_LOSS,
    names.LOSS_SCALE,
)

Found = list[tuple[str, Said, int]]
"""Shapes of one process: id, the figures that show it, raw line."""


class Shape(NamedTuple):
    """A shape seen in one or more series."""

    id: str
    said: Said
    """The figures that show it."""
    source: int
    where: Where
    line: int


class Curves:
    """The series of one process in one source, by name; of long ones, the same few points of all."""

    def __init__(self, series: Iterable[Series]) -> None:
        """Pick the longest series of each name."""
        self.by_name: dict[str, Series] = {}
        for one in series:
            known = self.by_name.get(one.name)
            if known is None or one.points > known.points:
                self.by_name[one.name] = one
        stand_in = (
            None
            if names.LOSS in self.by_name
            else next((name for name in self.by_name if STAND_IN.search(name)), None)
        )
        if stand_in is not None:
            self.by_name[names.LOSS] = self.by_name[stand_in]
        self._points: dict[str, list[Point]] = {}
        long = [one for one in self.by_name.values() if len(one.values) > _LONG]
        self._places: dict[int, set[float]] = {}
        """By line the steps that stand there: a bar draws all of its points on one line."""
        for one in long:
            for point in one.samples(_LONG // 4) if one.name in _JOINED else ():
                self._places.setdefault(point.line, set()).add(
                    -1.0 if math.isnan(point.step) else point.step
                )

    def points(self, name: str) -> list[Point]:
        """Give the points of a series; empty without one."""
        if name not in self._points:
            self._points[name] = self._chosen(self.by_name[name]) if name in self.by_name else []
        return self._points[name]

    def _chosen(self, series: Series) -> list[Point]:
        if len(series.values) <= _LONG:
            return list(series.kept())
        places = self._places
        chosen = [
            Point(step, value, line)
            for step, value, line in zip(series.steps, series.values, series.lines, strict=True)
            if line in places and (step if step == step else -1.0) in places[line]  # noqa: PLR0124 -- the quickest test for NaN
        ]
        return chosen if 0 < len(chosen) <= 2 * _LONG else series.samples(_LONG // 4)


def show(point: Point) -> Said:
    """Give the value of a point and its place."""
    return say("{value:g} at {place}", "{value:g}（{place}）", value=point.value, place=at(point))


def at(point: Point) -> Said:
    """Name the place of a point: its step, else its raw line."""
    return (
        say("line {line}", "第 {line} 行", line=point.line)
        if math.isnan(point.step)
        else say("step {step:g}", "第 {step:g} 步", step=point.step)
    )
