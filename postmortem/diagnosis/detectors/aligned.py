"""The series of one process side by side, as detectors read them.

In: series. Out: `Curves`, the wording of a point. Not here: any anomaly.
"""

import math
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.extraction.facts.series import Point, Series, iter_points_at
from postmortem.rules.base import load
from postmortem.rules.digit_agnostic import build_any_digit_pattern, is_digit_agnostic
from postmortem.rules.metrics import MetricTable

_LONG: Final = 20_000
"""Kept points above which shapes look at an envelope: enough for any shape, and bounded."""
STAND_IN: Final = compile_lazily(
    r"^(?:train(?:ing)?|total|avg|avr|mean|running|box|local)[_/]loss(?:_\w+)?$"
)
"""Names that stand for the training loss where no series is called so: `train_loss_estimate`,
`box_loss`."""
_JOINED: Final = (
    names.LOSS,
    names.GRAD_NORM,
    names.LEARNING_RATE,
    names.EVAL_LOSS,
    names.LOSS_SCALE,
)
_MANY: Final = 100
"""Names of which not each is searched."""
_SAME_DIGITS: Final = str.maketrans("123456789", "0" * 9)
_NO_STEP: Final = -1.0
"""Stands for a step that is not known, since NaN equals nothing."""


class Curves:
    """The series of one process in one source, by name.

    Of long ones, the same few points of all.
    """

    def __init__(
        self,
        series: Iterable[Series],
        source: int = 0,
        where: ProcessId = NOWHERE,
        metrics: MetricTable | None = None,
    ) -> None:
        """Pick the longest series of each name.

        Args:
            series: of one process.
            source: index of the source that they stand in.
            where: the process.
            metrics: what names mean; by default what the built-in rules say.
        """
        self.source, self.where, self._metrics = source, where, metrics
        self._of: dict[tuple[str, ...], list[str]] = {}
        series = list(series)
        self.by_name = _select_longest_series(series)
        self._so_far = {curve.name: curve for curve in series if curve.name.endswith(names.SO_FAR)}
        self._points: dict[str, list[Point]] = {}
        self._finite: dict[str, list[Point]] = {}
        self._by_line: dict[str, Mapping[int, float]] = {}
        self._called: dict[tuple[re.Pattern[str], re.Pattern[str] | None], list[str]] = {}
        many = self.by_name if len(self.by_name) >= _MANY else ()
        self._kind_of = {name: name.translate(_SAME_DIGITS) for name in many}
        self._kinds = frozenset(self._kind_of.values())
        """The names with all digits the same, where there are many."""
        self._places = _select_sample_steps(self.by_name)

    def of(self, *classes: str) -> list[str]:
        """Give the names that belong to one of these classes of metrics."""
        if classes not in self._of:
            table = self._metrics = self._metrics or load().metrics
            found = set[str]()
            for row in (row for one in classes for row in table[one]):
                named = self.called(row.pattern)
                found.update({*named}.difference(self.of(*row.excluded)) if row.excluded else named)
            self._of[classes] = [name for name in self.by_name if name in found] if found else []
        return self._of[classes]

    def called(self, pattern: re.Pattern[str], but: re.Pattern[str] | None = None) -> list[str]:
        """Give the names in which a pattern is found, and another one is not.

        Looked for once, and where all digits are the same to a pattern in one name of those that
        differ in digits alone: there may be thousands.
        """
        key = (pattern, but)
        if key not in self._called:
            found = self._select_named(pattern)
            others = set(self.called(but)) if but is not None and found else ()
            self._called[key] = [name for name in found if name not in others]
        return self._called[key]

    def _select_named(self, pattern: re.Pattern[str]) -> Iterable[str]:
        if len(self.by_name) < _MANY:
            return filter(pattern.search, self.by_name)
        if not is_digit_agnostic(pattern.pattern):
            any_digit = build_any_digit_pattern(pattern)
            return filter(
                pattern.search, self._select_named(any_digit) if any_digit else self.by_name
            )
        kinds = {*filter(pattern.search, self._kinds)}
        if len(kinds) in {0, len(self._kinds)}:
            return self.by_name if kinds else ()
        return [name for name, kind in self._kind_of.items() if kind in kinds]

    def points(self, name: str) -> list[Point]:
        """Give the points of a series; empty without one."""
        if name not in self._points:
            self._points[name] = (
                self._choose_series(self.by_name[name]) if name in self.by_name else []
            )
        return self._points[name]

    def finite(self, name: str) -> list[Point]:
        """Give the points of a series whose values are finite."""
        if name not in self._finite:
            points, series = self.points(name), self.by_name.get(name)
            is_finite = series is None or not series.nonfinite
            self._finite[name] = (
                points if is_finite else [point for point in points if math.isfinite(point.value)]
            )
        return self._finite[name]

    def so_far(self, name: str) -> list[Point]:
        """Give the points of the mean of a series since its epoch began, where they are printed."""
        series = self._so_far.get(name + names.SO_FAR)
        return (
            []
            if series is None
            else [point for point in series.kept() if math.isfinite(point.value)]
        )

    def first_nonfinite(self, name: str) -> Point | None:
        """Give the first point of a series whose value is not finite."""
        series = self.by_name.get(name)
        return find_first_nonfinite(self.points(name)) if series and series.nonfinite else None

    def count(self, name: str) -> int:
        """Count the points of a series without making them, if all are looked at."""
        series = self.by_name.get(name)
        if series is None or len(series.values) > _LONG:
            return len(self.points(name))
        return len(series.values)

    def is_within(self, name: str, size: float) -> bool:
        """Say whether no finite value of a series is larger than this, whatever its sign."""
        series = self.by_name.get(name)
        return series is None or max(-series.min, series.max) <= size

    def by_line(self, name: str) -> Mapping[int, float]:
        """Give the values of a series by raw line."""
        if name not in self._by_line:
            series = self.by_name.get(name)
            self._by_line[name] = (
                self._map_lists(name)
                if series is not None and series.producer == names.IN_LISTS
                else {point.line: point.value for point in self.points(name)}
            )
        return self._by_line[name]

    def _map_lists(self, name: str) -> Mapping[int, float]:
        """Give the values of a list by the raw lines of all that is of the same step.

        None where all stand on one line.
        """
        at = {point.step: point.value for point in self.points(name)}
        lists = [one for one, series in self.by_name.items() if series.producer == names.IN_LISTS]
        found = [
            (point.line, at[point.step])
            for one in lists
            for point in self.points(one)
            if point.step in at
        ]
        return dict(found) if len({line for line, _ in found}) == len(found) else {}

    def shape(self, name: str, message: Message, line: int) -> Anomaly:
        """Make an anomaly of this process.

        Args:
            name: its id.
            message: the figures that show it.
            line: raw line where it shows.
        """
        return Anomaly(name, message, self.source, self.where, line)

    def _choose_series(self, series: Series) -> list[Point]:
        if len(series.values) <= _LONG:
            return list(series.kept())
        places = self._places
        chosen = [
            point
            for point in iter_points_at(series, _find_indexes_on_lines(series.lines, places))
            if _replace_nan_step(point.step) in places[point.line]
        ]
        return chosen if 0 < len(chosen) <= 2 * _LONG else series.samples(_LONG // 4)


def _select_longest_series(series: Iterable[Series]) -> dict[str, Series]:
    """Give the longest series of each name, but those of evaluations on their way.

    Among them one that stands for the training loss if none is called so.
    """
    found: dict[str, Series] = {}
    for curve in series:
        if curve.name.endswith(names.SO_FAR):
            continue
        known = found.get(curve.name)
        if known is None or curve.points > known.points:
            found[curve.name] = curve
    if names.LOSS not in found:
        stand_in = next((name for name in found if STAND_IN.search(name)), None)
        if stand_in is not None:
            found[names.LOSS] = found[stand_in]
    return found


def _select_sample_steps(by_name: Mapping[str, Series]) -> dict[int, set[float]]:
    """Choose the places at which long series are looked at.

    By line the steps that stand there: a bar draws all of its points on one line.
    """
    places: dict[int, set[float]] = {}
    for series in by_name.values():
        if len(series.values) > _LONG and series.name in _JOINED:
            for point in series.samples(_LONG // 4):
                places.setdefault(point.line, set()).add(_replace_nan_step(point.step))
    return places


def _find_indexes_on_lines(lines: "array[int]", places: Mapping[int, Any]) -> list[int]:
    """Give the indexes of the points of a long series that stand on one of these lines."""
    if not places:
        return []
    import numpy as np  # noqa: PLC0415 -- only long series pay for its import

    wanted, found = np.array(sorted(places)), np.frombuffer(lines, dtype=np.int64)
    nearest = np.minimum(np.searchsorted(wanted, found), len(wanted) - 1)
    indexes: list[int] = np.flatnonzero(wanted[nearest] == found).tolist()
    return indexes


def _replace_nan_step(step: float) -> float:
    """Give a step that can be looked up."""
    return _NO_STEP if math.isnan(step) else step


def as_share(value: float) -> float:
    """Give a share that may be printed in per cent."""
    return value / 100 if value > 1 else value


def find_first_nonfinite(points: Iterable[Point]) -> Point | None:
    """Give the first point whose value is not finite."""
    return next((point for point in points if not math.isfinite(point.value)), None)


def show(point: Point) -> Message:
    """Give the value of a point and its place."""
    return say(
        "{value:g} at {place}",
        value=point.value,
        place=format_position(point),
    )


def format_position(point: Point) -> Message:
    """Name the place of a point: its step, else its raw line."""
    return (
        say("line {line}", line=point.line)
        if math.isnan(point.step)
        else say("step {step:g}", step=point.step)
    )


def count_trailing_repeats(values: Sequence[float]) -> int:
    """Count the values at the end that are the last one."""
    return next(
        (count for count, value in enumerate(reversed(values)) if value != values[-1]), len(values)
    )
