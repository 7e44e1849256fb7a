"""What detectors look at and what they give: the curves of a process, a job, an anomaly.

In: series, the extract, the findings of the last attempt. Out: `Curves` and `TrainingLoss` of one
process, with measures that several detectors share; `Observed` of the whole job, in one frozen
value; `Anomaly`; the wording of a point. Not here: finding anomalies (`detectors.registry`), what
is known of their kinds (`patterns/anomalies`).
"""

import bisect
import dataclasses
import itertools
import math
import re
import statistics
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from postmortem.core import names
from postmortem.core.findings import NOWHERE, Finding, ProcessId, RankDump, Traceback
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, say
from postmortem.extraction.extract import Extract, Sighting, process_of, select_sources_by_type
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.facts.series import Point, Series, iter_points_at
from postmortem.rules.base import KnowledgeBase, load
from postmortem.rules.pattern_syntax import build_any_digit_pattern, is_digit_agnostic
from postmortem.rules.vocabulary import AnomalyType, MetricTable, Trait, has_trait


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


def group_series_by_process(
    series: Iterable[Series], most: int | None = None
) -> dict[tuple[int, ProcessId], list[Series]]:
    """Put the series of each of the first `most` processes together, by its source and its name."""
    groups: dict[tuple[int, ProcessId], list[Series]] = {}
    for one in series:
        groups.setdefault((one.source, one.where), []).append(one)
    return dict(itertools.islice(groups.items(), most))


def count_trailing_repeats(values: Sequence[float]) -> int:
    """Count the values at the end that are the last one."""
    return next(
        (count for count, value in enumerate(reversed(values)) if value != values[-1]), len(values)
    )


_LARGEST: Final = 1e150
"""Figures whose squares can still be added."""
CLAMPED: Final = 87.33655
"""Cross entropy of the smallest float32, where Caffe and others clamp a probability of 0: what
weights that are far too large begin with tells nothing of where the loss comes from."""
_LAST_DIGIT: Final = 1e-4
_FEWEST: Final = 5
_LEAP: Final = 1.5
"""Times the record before it with which the weakest of all spikes begins."""
WORTH: Final = 0.05
"""A loss at or below it has nothing left to lose."""


@dataclass(frozen=True, slots=True)
class TrainingLoss:
    """The records of a training loss whose values can be reckoned with, five or more."""

    points: Sequence[Point]
    values: Sequence[float]
    is_broken: bool
    """True if other records of it are not finite."""

    @property
    def third(self) -> int:
        """A third of the records, at least one."""
        return max(1, len(self.values) // 3)

    @property
    def head(self) -> float:
        """The mean of the first third."""
        return statistics.fmean(self.values[: self.third])

    @property
    def tail(self) -> float:
        """The mean of the last third."""
        return statistics.fmean(self.values[-self.third :])


def find_training_loss(curves: Curves) -> TrainingLoss | None:
    """Give the training loss of a process; None where too few records have it."""
    printed = curves.points(names.LOSS)
    clamped = itertools.takewhile(lambda point: abs(point.value - CLAMPED) < _LAST_DIGIT, printed)
    begun = printed[len(list(clamped)) :] or printed
    points = [point for point in begun if abs(point.value) < _LARGEST]
    if len(points) < _FEWEST:
        return None
    is_broken = curves.first_nonfinite(names.LOSS) is not None
    return TrainingLoss(points, [point.value for point in points], is_broken)


def compute_typical_log_change(values: Sequence[float]) -> float:
    """Give the usual change from one record to the next, as a logarithm.

    0 where the loss is not positive.
    """
    if min(values) <= 0:
        return 0.0
    return statistics.median(
        abs(math.log(current) - math.log(previous))
        for previous, current in itertools.pairwise(values)
    )


def compute_standard_deviation(values: Sequence[float]) -> float:
    """Give the standard deviation: `statistics.pstdev` reckons with fractions, which takes long."""
    mean = statistics.fmean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def iter_jump_indexes(values: Sequence[float], start: int, end: int) -> Iterator[int]:
    """Yield the indexes in `[start, end)` of records half as high again as the one before.

    No spike of any kind begins elsewhere, and few records are such.
    """
    for index in range(max(start, 1), end):
        if values[index] > _LEAP * values[index - 1]:
            yield index


def from_to(first: float, last: float) -> Message:
    """Word where a loss began and where it came."""
    return say("loss {first:.4g} → {last:.4g}", first=first, last=last)


_MOST_AROUND: Final = 40
_Worked = TypeVar("_Worked")


@dataclass(frozen=True, slots=True)
class Observed:
    """The input of detectors: what is known of a job."""

    series: Sequence[Series] = ()
    """Of all processes."""
    facts: FactStore = field(default_factory=FactStore)
    """What the log says of the run; vocabulary and device give figures a scale."""
    findings: Sequence[tuple[Finding, int]] = ()
    """Of the last attempt, in their order, each with the metric records of its process before."""
    tracebacks: Sequence[Traceback] = ()
    """Of all attempts, in the order in which they were read."""
    records: Mapping[int, int] = field(default_factory=dict)
    """Metric records by source."""
    first_records: Mapping[int, int] = field(default_factory=dict)
    """Raw line of the first metric record of each source that has one."""
    last_records: Mapping[int, int] = field(default_factory=dict)
    """Raw line of the last metric record of each source that has one."""
    rank_dumps: Sequence[RankDump] = ()
    """What the flight recorder of each rank wrote."""
    tails: Mapping[int, tuple[int, str]] = field(default_factory=dict)
    """The end of each source: raw line number of its first line, and the text."""
    heads: Mapping[int, str] = field(default_factory=dict)
    """The beginning of each source, as text."""
    around: Sequence[tuple[int, int, str]] = ()
    """Lines around values that are not finite: source, raw number of the first line, the text."""
    processes: Mapping[int, ProcessId] = field(default_factory=dict)
    """Of each source that reaches into the last attempt, the process that its name tells."""
    snapshots: frozenset[int] = frozenset()
    """The sources that tell how things stand, not what happened when."""
    dumps: frozenset[int] = frozenset()
    """The same, and what a scheduler or the kernel tells: what no process of the run writes."""
    ended: Mapping[int, float] = field(default_factory=dict)
    """The line from which on a source tells how it was ended, for the detectors that ask."""
    lines: int = 0
    """Raw lines of all sources."""
    total_steps: float = math.nan
    """The last step that the run was to make; NaN where nobody names it."""
    curves: Curves = field(default_factory=lambda: Curves(()))
    """Of the process that is looked at, for the detectors that look at one at a time."""
    loss: TrainingLoss | None = None
    """Of the same process; None where too few records tell of it."""
    outcome: str = ""
    """How the run ended, for the detectors that ask; one of `names.OUTCOMES`."""
    known: Mapping[str, Anomaly] = field(default_factory=dict)
    """The shapes found before, by id, for the same."""
    anomaly_types: Mapping[str, AnomalyType] = field(default_factory=lambda: load().anomalies)
    metrics: MetricTable = field(default_factory=lambda: load().metrics)
    _worked_out: dict[Callable[["Observed"], Any], Any] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def once(self, make: Callable[["Observed"], _Worked]) -> _Worked:
        """Give what a function makes of this, worked out once for all detectors that ask."""
        if make not in self._worked_out:
            self._worked_out[make] = make(self)
        known: _Worked = self._worked_out[make]
        return known

    def of(self, curves: Curves) -> "Observed":
        """Give the view of a detector that looks at the curves of one process."""
        return dataclasses.replace(self, curves=curves, loss=find_training_loss(curves))

    def at_end(self, outcome: str, known: Mapping[str, Anomaly]) -> "Observed":
        """Give the view of a detector that asks how the run ended."""
        return dataclasses.replace(self, outcome=outcome, known=known)

    @property
    def is_undecided(self) -> bool:
        """Whether nothing failed, unless by a stop from outside, and nothing is bad by itself."""
        return self.outcome not in {"failed", "stalled"} and not any(
            self.anomaly_types[shape].is_bad for shape in self.known
        )

    def has_record_between(self, source: int, first: int, last: int) -> bool:
        """Say whether a curve of a source has a point between two of its lines."""
        return any(
            curve.source == source
            and bisect.bisect_right(curve.lines, first) < bisect.bisect_left(curve.lines, last)
            for curve in self.series
        )

    def kept_lines(self, source: int) -> list[tuple[int, str]]:
        """Give the lines of both ends of a source, each once with its raw number, but cut ones."""
        head = self.heads.get(source, "").split("\n")[:-1]
        first, text = self.tails.get(source, (1, ""))
        tail = [*enumerate(text.split("\n"), first)][first > 1 :]
        return [*enumerate(head, 1), *(line for line in tail if line[0] > len(head))]


Detector = Callable[[Observed], Iterable[Anomaly]]


def build_observed(
    extract: Extract, seen: Iterable[Sighting], begins: Mapping[int, int], knowledge: KnowledgeBase
) -> Observed:
    """Put together what the detectors may look at.

    Args:
        extract: the evidence.
        seen: the findings of the last attempt, in their order.
        begins: raw line at which the last attempt begins, by source; 0 where it is not named.
        knowledge: the types of anomalies, the classes of metrics.
    """
    return Observed(
        series=tuple(_select_unmirrored_series(extract)),
        facts=extract.facts,
        findings=tuple((sighting.finding, sighting.records_before) for sighting in seen),
        tracebacks=tuple(traceback for traceback, _ in extract.tracebacks),
        records=extract.records,
        first_records={source: line for source, (line, _) in extract.first_record.items()},
        last_records={source: line for source, (line, _) in extract.last_record.items()},
        rank_dumps=extract.rank_dumps,
        tails=extract.tails,
        heads=extract.heads,
        around=_collect_nonfinite_context(seen),
        processes={
            source: process_of(extract, source)
            for source in extract.tails
            if begins.get(source, 0) <= extract.lines.get(source, 0)
        },
        snapshots=select_sources_by_type(extract, "environment"),
        dumps=select_sources_by_type(extract, "environment", "scheduler", "kernel"),
        lines=sum(extract.lines.values()),
        total_steps=extract.total_steps,
        anomaly_types=knowledge.anomalies,
        metrics=knowledge.metrics,
    )


def _select_unmirrored_series(extract: Extract) -> Iterable[Series]:
    """Give the series without those that only mirror another file."""
    mirrored = extract.copies.mirrored
    return (
        curve for curve in extract.series.values() if (curve.source, curve.where) not in mirrored
    )


def _collect_nonfinite_context(seen: Iterable[Sighting]) -> tuple[tuple[int, int, str], ...]:
    """Give the surroundings of the first findings of values that are not finite."""
    kept = (
        (sighting.finding.source, *sighting.context)
        for sighting in seen
        if sighting.context[0] and has_trait(sighting.finding.signature, Trait.ABOUT_VALUES)
    )
    return tuple(itertools.islice(kept, _MOST_AROUND))
