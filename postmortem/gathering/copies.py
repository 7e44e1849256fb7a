"""Curves that stand in several files of one run: which of them leads, which are its copies.

In: the series of all sources, which of them are files of metrics. Out: the copies by their leaders.
Not here: processes that are told apart (their curves are their own), what is shown
(`story.telling`).

A run writes its loss to the console, and trackers write it again. The fullest leads, a log before
another that is as full: what happened stands in it too. Two logs are compared only where one is
known to be a mirror of the console: two attempts from one seed look the same as well.
"""

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final

from postmortem.facts.series import Series
from postmortem.model.job_facts import Source
from postmortem.model.lines import NOWHERE, Where
from postmortem.model.said import Said, listed, say

Key = tuple[str, str, int, Where]
"""Name, producer, source, process."""
_Process = tuple[int, Where]
_METRICS: Final = "metrics"
_MOST_NAMED: Final = 8
_MOST_POINTS: Final = 5000
_MOST_COMPARED: Final = 2000
_AGREEING: Final = 0.9
_SHARED: Final = 0.5
"""Steps of the shorter curve that the longer must have too, where steps tell of anything."""
_FEWEST: Final = 3
_FULLER: Final = 1.25
"""Times as many points a file of metrics must have to lead before a log."""
_STEPLESS: Final = 0.75
"""What a point is worth whose step is not known."""
_CLOSE: Final = 1e-4
_MOST_DECIMALS: Final = 12


@dataclass(frozen=True, slots=True)
class Copies:
    """The curves of a job that stand in several files."""

    leaders: Mapping[Key, Key] = field(default_factory=dict)
    """Of each copy, the fullest."""
    mirrored: frozenset[tuple[int, Where]] = frozenset()
    """Sources, with their processes, that tell nothing that another does not."""

    def leading(self, series: Mapping[Key, Series]) -> list[Series]:
        """Give the series that are told."""
        return [one for key, one in series.items() if key not in self.leaders]

    def notes(self, sources: Sequence[Source[Any]]) -> dict[int, Said]:
        """Say of each source which of its curves are told by another."""
        by_source: dict[int, dict[int, list[str]]] = {}
        for (name, _, source, _), (_, _, leading, _) in self.leaders.items():
            by_source.setdefault(source, {}).setdefault(leading, []).append(name)
        return {
            source: listed(
                [_as_in(sources[leading].path, names) for leading, names in leaders.items()],
                "; ",
                "；",
            )
            for source, leaders in by_source.items()
        }


def copies_among(series: Mapping[Key, Series], sources: Sequence[Source[Any]]) -> Copies:
    """Find the copies among the series of a job."""
    if len({key[2] for key in series}) <= 1:
        return Copies()
    metrics = {index for index, source in enumerate(sources) if source.kind == _METRICS}
    leaders = _leaders(series, metrics, mirrors([source.path for source in sources]))
    own = {(key[2], key[3]) for key in series if key not in leaders}
    covered = (
        (copy[2], copy[3])
        for copy, leader in leaders.items()
        # A log is more than its curves: only another log can take its place.
        if copy[2] in metrics or leader[2] not in metrics
    )
    return Copies(leaders, frozenset(covered) - own)


def _leaders(
    series: Mapping[Key, Series], metrics: Collection[int], kept: Collection[int]
) -> dict[Key, Key]:
    """Give the fullest of each curve that stands in several files, by its copies."""
    found: dict[Key, Key] = {}
    related: set[frozenset[_Process]] = set()
    pairs = list(itertools.islice(_pairs(series, {*metrics, *kept}), _MOST_COMPARED))
    # A curve that never changes tells nothing of itself: another of the same two files must.
    for is_second in (False, True):
        for one, other in pairs:
            both = frozenset((one[2:], other[2:]))
            is_flat = is_second and both in related
            if {one, other} & found.keys() or not _is_same(
                series[one], series[other], is_flat=is_flat
            ):
                continue
            leader, copy = _ranked(one, other, series, metrics)
            found[copy] = leader
            related.add(both)
    return {copy: _end(leader, found) for copy, leader in found.items()}


def _as_in(path: str, names: Sequence[str]) -> Said:
    return say(
        "{names} as in {path}, which has most of it",
        "{names} 与 {path} 相同，后者最完整",
        names=", ".join(sorted(names)[:_MOST_NAMED]),
        path=PurePath(path).name,
    )


def mirrors(paths: Sequence[str]) -> set[int]:
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


def _pairs(series: Mapping[Key, Series], free: Collection[int]) -> Iterable[tuple[Key, Key]]:
    """Yield the pairs of one name that may be copies, the fullest first."""
    by_name: dict[str, list[Key]] = {}
    for key in sorted(series, key=lambda key: -series[key].points):
        if series[key].points:
            by_name.setdefault(key[0], []).append(key)
    for keys in by_name.values():
        for one, other in itertools.combinations(keys, 2):
            is_one_process = one[3] == other[3] or NOWHERE in {one[3], other[3]}
            if one[2] != other[2] and is_one_process and {one[2], other[2]} & set(free):
                yield one, other


def _ranked(
    one: Key, other: Key, series: Mapping[Key, Series], metrics: Collection[int]
) -> tuple[Key, Key]:
    """Give the pair, the one that leads first."""

    def weight(key: Key) -> tuple[float, float, int]:
        beside = sum(
            len(_steps(curve)) or curve.points
            for (_, _, source, where), curve in series.items()
            if (source, where) == key[2:]
        )
        steps = len(_steps(series[key]))
        own = steps or _STEPLESS * series[key].points
        return own * (1 if key[2] in metrics else _FULLER), beside, -key[2]

    ranked = sorted((one, other), key=weight, reverse=True)
    return ranked[0], ranked[1]


def _end(leader: Key, found: Mapping[Key, Key]) -> Key:
    while leader in found:
        leader = found[leader]
    return leader


def _is_same(one: Series, other: Series, *, is_flat: bool) -> bool:
    """Say whether the shorter of two curves is contained in the longer, flat ones too."""
    short, long = sorted((one, other), key=lambda series: series.points)
    if short.points == 1:
        return _is_last_of(short, long)
    by_step, known = _steps(short), _steps(long)
    common = [step for step in by_step if step in known]
    if len(common) >= max(2, _SHARED * len(by_step)):
        agreeing = sum(agree(by_step[step], known[step]) for step in common)
        if agreeing >= _AGREEING * len(common):
            return True
    is_told = is_flat or len(set(short.values[:_MOST_POINTS])) >= _FEWEST
    return is_told and _is_within(short.values[:_MOST_POINTS], long.values[:_MOST_POINTS])


def _is_last_of(single: Series, long: Series) -> bool:
    """Say whether a single figure is where a curve ends, or its value at that step."""
    value, step = single.values[0], single.steps[0]
    at_step = _steps(long).get(step)
    return agree(value, long.values[-1]) or (at_step is not None and agree(value, at_step))


def _steps(series: Series) -> dict[float, float]:
    """Give the last value at each step."""
    pairs = zip(series.steps[:_MOST_POINTS], series.values[:_MOST_POINTS], strict=True)
    return {step: value for step, value in pairs if not math.isnan(step)}


def _is_within(short: Sequence[float], long: Sequence[float]) -> bool:
    """Say whether the values of one stand in another in their order."""
    place = missed = 0
    for value in short:
        found = next(
            (index for index in range(place, len(long)) if agree(value, long[index])), None
        )
        if found is not None:
            place = found + 1
            continue
        missed += 1
        if missed > (1 - _AGREEING) * len(short):
            return False
    return True


def agree(one: float, other: float) -> bool:
    """Say whether two figures are one, as far as the coarser is printed."""
    if not (math.isfinite(one) and math.isfinite(other)):
        return one == other or (math.isnan(one) and math.isnan(other))
    apart = abs(one - other)
    if apart <= _CLOSE * max(abs(one), abs(other)):
        return True
    decimals = min(_decimals(one), _decimals(other))
    return decimals > 0 and apart <= 0.6 * 10.0**-decimals


def _decimals(value: float) -> int:
    """Count the decimals that a figure is printed with."""
    exponent = Decimal(repr(value)).as_tuple().exponent
    return min(-exponent, _MOST_DECIMALS) if isinstance(exponent, int) else 0
