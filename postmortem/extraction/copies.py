"""Find curves that stand in several files of one run: the original and its copies.

In: the series of all sources, which of them are files of metrics. Out: the copies by their leaders.
Not here: processes that are told apart (their curves are their own), what is shown
(`story.building`).

A run writes its loss to the console, and trackers write it again. The fullest leads, a log before
another that is as full: what happened stands in it too. Two logs are compared only where one is
known to be a mirror of the console: two attempts from one seed look the same as well. Printed
figures are compared at the precision of the coarser of two curves.
"""

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final

from postmortem.core.findings import NOWHERE, ProcessId, Source
from postmortem.core.message import SEMICOLON, Message, join_list, say
from postmortem.extraction.facts.series import Series

_AGREEING: Final = 0.9
_CLOSE: Final = 1e-4
_NEAR_VALUES: Final = 20
"""Values, times how much denser the other curve is, within which the next of one must stand."""
_MOST_DECIMALS: Final = 12


def is_within(short: Sequence[float], long: Sequence[float], coarse: float, denser: int) -> bool:
    """Say whether the values of one curve occur in a denser one, in their order."""
    reach = _NEAR_VALUES * (1 + denser)
    place = 0

    def is_next(value: float) -> bool:
        nonlocal place
        near = range(place, min(place + reach, len(long)))
        found = next(
            (index for index in near if is_approximately_equal(value, long[index], coarse)), None
        )
        place = place if found is None else found + 1
        return found is not None

    return is_mostly_true(map(is_next, short), len(short))


def is_mostly_true(answers: Iterable[bool], count: int) -> bool:
    """Say whether nearly all of so many answers are yes, without asking more than that takes."""
    missed = 0
    for is_yes in answers:
        missed += not is_yes
        if missed > (1 - _AGREEING) * count:
            return False
    return True


def is_approximately_equal(first: float, second: float, coarse: float) -> bool:
    """Say whether two figures are one, as far as the coarser of their curves is printed."""
    if not (math.isfinite(first) and math.isfinite(second)):
        return first == second or (math.isnan(first) and math.isnan(second))
    apart = abs(first - second)
    return apart <= coarse or apart <= _CLOSE * max(abs(first), abs(second))


def estimate_rounding(values: Sequence[float]) -> float:
    """Estimate the rounding error of the printed figures of a curve."""
    decimals = max((_count_decimals(value) for value in values if math.isfinite(value)), default=0)
    return 0.6 * 10.0**-decimals if decimals else 0.0


def _count_decimals(value: float) -> int:
    """Count the decimals that a figure is printed with."""
    exponent = Decimal(repr(value)).as_tuple().exponent
    return min(-exponent, _MOST_DECIMALS) if isinstance(exponent, int) else 0


Key = tuple[str, str, int, ProcessId]
"""Name, producer, source, process."""
_Process = tuple[int, ProcessId]
_METRICS: Final = "metrics"
_MOST_NAMED: Final = 8
_MOST_POINTS: Final = 5000
_MOST_COMPARED: Final = 2000
_SHARED: Final = 0.5
"""Steps of the shorter curve that the longer must have too, where steps tell of anything."""
_FEWEST: Final = 3
_FULLER: Final = 1.25
"""Times as many points a file of metrics must have to lead before a log."""
_STEPLESS: Final = 0.75
"""What a point is worth whose step is not known."""
_MOST_LOOKED_AT: Final = 300
"""Points of the shorter curve."""
_PRINTED: Final = 50
"""Values by which it is told how finely a curve is printed."""


@dataclass(frozen=True, slots=True)
class Copies:
    """The curves of a job that stand in several files."""

    leaders: Mapping[Key, Key] = field(default_factory=dict)
    """Of each copy, the fullest."""
    mirrored: frozenset[tuple[int, ProcessId]] = frozenset()
    """Sources, with their processes, that tell nothing that another does not."""

    def leading(self, series: Mapping[Key, Series]) -> list[Series]:
        """Give the series without the copies."""
        return [curve for key, curve in series.items() if key not in self.leaders]

    def notes(self, sources: Sequence[Source[Any]]) -> dict[int, Message]:
        """List for each source the curves that another source holds as well."""
        by_source: dict[int, dict[int, list[str]]] = {}
        for (name, _, source, _), (_, _, leading, _) in self.leaders.items():
            by_source.setdefault(source, {}).setdefault(leading, []).append(name)
        return {
            source: join_list(
                [
                    _format_copy_note(sources[leading].path, names)
                    for leading, names in leaders.items()
                ],
                SEMICOLON,
            )
            for source, leaders in by_source.items()
        }


def find_copies(series: Mapping[Key, Series], sources: Sequence[Source[Any]]) -> Copies:
    """Find the copies among the series of a job."""
    metrics = {index for index, source in enumerate(sources) if source.kind == _METRICS}
    kept = find_mirrored_logs([source.path for source in sources])
    if len({key[2] for key in series}) <= 1 or not metrics | kept:
        return Copies()
    leaders = _CurveComparison(series, metrics, kept).leaders()
    own = {(key[2], key[3]) for key in series if key not in leaders}
    covered = (
        (copy[2], copy[3])
        for copy, leader in leaders.items()
        # A log is more than its curves: only another log can take its place.
        if copy[2] in metrics or leader[2] not in metrics
    )
    return Copies(leaders, frozenset(covered) - own)


def _format_copy_note(path: str, names: Sequence[str]) -> Message:
    return say(
        "{names} as in {path}, which has most of it",
        names=", ".join(sorted(names)[:_MOST_NAMED]),
        path=PurePath(path).name,
    )


def find_mirrored_logs(paths: Sequence[str]) -> set[int]:
    """Number the logs that a tool keeps of what the console shows.

    What wandb keeps as `files/output.log`, and the log that Hydra writes beside `.hydra`.
    """
    hydra = {PurePath(path).parents[1] for path in paths if ".hydra" in PurePath(path).parts[-2:-1]}
    return {
        index
        for index, path in enumerate(paths)
        if PurePath(path).parts[-2:] == ("files", "output.log")
        or (PurePath(path).parent in hydra and path.endswith(".log"))
    }


class _CurveComparison:
    """The series of a job, compared with one another."""

    def __init__(
        self, series: Mapping[Key, Series], metrics: Collection[int], kept: Collection[int]
    ) -> None:
        self._series, self._metrics = series, metrics
        self._free = {*metrics, *kept}
        """Sources that repeat what others tell."""
        self._steps: dict[Key, dict[float, float]] = {}
        self._coarse: dict[Key, float] = {}
        self._points_by_process = Counter[_Process]()
        for key, curve in series.items():
            # A console may show each record twice, by a logger and by a print: that is no more.
            self._points_by_process[key[2:]] += len(self._get_values_by_step(key)) or curve.points

    def leaders(self) -> dict[Key, Key]:
        """Give the fullest of each curve that stands in several files, by its copies."""
        found: dict[Key, Key] = {}
        related: set[frozenset[_Process]] = set()
        pairs = list(itertools.islice(self._iter_pairs(), _MOST_COMPARED))
        # A curve that never changes tells nothing of itself: another of the same two files must.
        for is_second in (False, True):
            for first, second in pairs:
                both = frozenset((first[2:], second[2:]))
                is_open = not {first, second} & found.keys() and (both in related or not is_second)
                if not is_open or not self._is_same(first, second, is_flat=is_second):
                    continue
                leader, copy = sorted((first, second), key=self._get_sort_key, reverse=True)
                found[copy] = leader
                related.add(both)
        return {copy: _end(leader, found) for copy, leader in found.items()}

    def _iter_pairs(self) -> Iterator[tuple[Key, Key]]:
        """Yield the pairs of one name that may be copies, the fullest first."""
        by_name: dict[str, list[Key]] = {}
        for key in sorted(self._series, key=lambda key: -self._series[key].points):
            if self._series[key].points:
                by_name.setdefault(key[0], []).append(key)
        for keys in by_name.values():
            for place, first in enumerate(keys):
                if first[2] not in self._free:
                    continue
                for number, second in enumerate(keys):
                    is_done = number < place and second[2] in self._free
                    is_one_process = first[3] == second[3] or NOWHERE in {first[3], second[3]}
                    if first[2] != second[2] and is_one_process and not is_done:
                        yield first, second

    def _get_sort_key(self, key: Key) -> tuple[bool, float, int, int]:
        """Give the sort key that decides which of several equal curves is the original."""
        steps = len(self._get_values_by_step(key))
        own = steps or _STEPLESS * self._series[key].points
        is_log = key[2] not in self._metrics
        full = own * (_FULLER if is_log else 1)
        return key[3] != NOWHERE, full, self._points_by_process[key[2:]], -key[2]

    def _is_same(self, first: Key, second: Key, *, is_flat: bool) -> bool:
        """Say whether the shorter of two curves is contained in the longer, flat ones too."""
        short, long = sorted((first, second), key=lambda key: self._series[key].points)
        values, known = self._series[short].values, self._series[long].values
        coarse = max(self._get_rounding(short), self._get_rounding(long))
        by_step, at_steps = self._get_values_by_step(short), self._get_values_by_step(long)
        if len(values) == 1:
            at_step = at_steps.get(self._series[short].steps[0], math.inf)
            return is_approximately_equal(values[0], known[-1], coarse) or is_approximately_equal(
                values[0], at_step, coarse
            )
        looked = [*by_step][:: 1 + len(by_step) // _MOST_LOOKED_AT]
        common = [step for step in looked if step in at_steps]
        if len(common) >= max(2, _SHARED * len(looked)) and is_mostly_true(
            (is_approximately_equal(by_step[step], at_steps[step], coarse) for step in common),
            len(common),
        ):
            return True
        is_distinctive = is_flat or len(set(values[:_MOST_LOOKED_AT])) >= _FEWEST
        denser = len(known) // len(values)
        return is_distinctive and is_within(values[:_MOST_LOOKED_AT], known, coarse, denser)

    def _get_rounding(self, key: Key) -> float:
        if key not in self._coarse:
            self._coarse[key] = estimate_rounding(self._series[key].values[:_PRINTED])
        return self._coarse[key]

    def _get_values_by_step(self, key: Key) -> dict[float, float]:
        """Give the last value at each step."""
        if key not in self._steps:
            curve = self._series[key]
            pairs = zip(curve.steps[:_MOST_POINTS], curve.values[:_MOST_POINTS], strict=True)
            self._steps[key] = {step: value for step, value in pairs if not math.isnan(step)}
        return self._steps[key]


def _end(leader: Key, found: Mapping[Key, Key]) -> Key:
    while leader in found:
        leader = found[leader]
    return leader
