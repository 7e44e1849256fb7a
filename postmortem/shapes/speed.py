"""How long the steps of a run take: it becomes slow half way through, or waits for data.

In: the curves of one process. Out: the shapes `slow-down`, `slow-fivefold`, `input-bound`,
`input-starved`. Not here: a run that stands still (`shapes.silence`).
"""

import itertools
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from postmortem import names
from postmortem.facts.series import Point
from postmortem.model.said import Said, say
from postmortem.shapes.aligned import Curves
from postmortem.shapes.observed import Observed
from postmortem.shapes.shape import Shape

_FEWEST: Final = 20
_SLOWED: Final = 0.5
_CRAWL: Final = 0.2
_USUAL: Final = 0.7
_LASTING: Final = 0.9
_PARTS: Final = 5
_DWINDLED: Final = 0.4
_MOSTLY: Final = 0.5
"""Share of a step beyond which waiting for data is most of it."""
_NEARLY_ALL: Final = 0.8
_NOT_SHORT: Final = 0.05
"""Seconds below which a step is a toy's, and waiting says nothing."""
_SEVERAL: Final = 8
_WHOLE: Final = 1.2
"""A share beyond which the two figures are of different units."""


@dataclass(frozen=True, slots=True)
class _StepPace:
    """A throughput, or a time a step, with the speed that each record stands for."""

    name: str
    unit: str
    points: Sequence[Point]
    rates: Sequence[float]


def slowing(observed: Observed) -> Iterable[Shape]:
    """Find a speed that falls to less than half and stays there, or that dwindles.

    The first tenth of the records holds compilation, caches and warm-up.
    """
    curves = observed.curves
    for name in (names.THROUGHPUT, names.STEP_TIME):
        pace = _pace(curves, name)
        if pace is not None and (slowed := _break(pace) or _dwindling(pace)) is not None:
            down = curves.shape("slow-down", *slowed)
            return [down, down._replace(id="slow-fivefold")] if _crawls(pace) else [down]
    return []


def _crawls(pace: _StepPace) -> bool:
    """Say whether the last quarter has a fifth of the early speed or less."""
    rates = pace.rates
    early, late = rates[len(rates) // 10 : len(rates) // 3], rates[-(len(rates) // 4) :]
    return statistics.median(late) < _CRAWL * statistics.median(early)


def _pace(curves: Curves, name: str) -> _StepPace | None:
    """Read a speed off a series of it, or of times a step; None where too few records tell of it.

    A time since the start, printed beside each record, grows at every one of them and is no time a
    step.
    """
    points = [point for point in curves.finite(name) if point.value > 0]
    if len(points) < _FEWEST:
        return None
    is_time = name == names.STEP_TIME
    rates = [1 / point.value if is_time else point.value for point in points]
    if all(other < one for one, other in itertools.pairwise(rates)):
        return None
    return _StepPace(name, curves.by_name[name].unit, points, rates)


def _break(pace: _StepPace) -> tuple[Said, int] | None:
    """Find a steady speed that falls at some record and stays low."""
    rates, points = pace.rates, pace.points
    tenth, third, quarter = len(rates) // 10, len(rates) // 3, len(rates) // 4
    early, late = rates[tenth:third], rates[-quarter:]
    usual = statistics.median(early)
    is_steady = sum(rate > _USUAL * usual for rate in early) >= _LASTING * len(early)
    stays = sum(rate < _USUAL * usual for rate in late) >= _LASTING * len(late)
    if not (is_steady and stays and statistics.median(late) < _SLOWED * usual):
        return None
    start = next(index for index in range(tenth, len(rates)) if rates[index] < _USUAL * usual)
    return _from_to(pace, points[tenth:third], points[-quarter:]), points[start].line


def _dwindling(pace: _StepPace) -> tuple[Said, int] | None:
    """Find a speed that becomes ever lower from part to part of the run."""
    rates, points = pace.rates, pace.points
    size = len(rates) // _PARTS
    parts = [statistics.median(rates[index * size : (index + 1) * size]) for index in range(_PARTS)]
    is_falling = all(other < one for one, other in itertools.pairwise(parts))
    if not is_falling or parts[-1] > _DWINDLED * parts[0]:
        return None
    said = say(
        "{fall}, lower speed in each of {count} parts of the run",
        "{fall}，把训练分成 {count} 段，速度逐段下降",
        fall=_from_to(pace, points[:size], points[-size:]),
        count=_PARTS,
    )
    return said, points[size].line


def _from_to(pace: _StepPace, early: Sequence[Point], late: Sequence[Point]) -> Said:
    """Word the medians of two stretches of records."""
    first, last = (statistics.median(point.value for point in part) for part in (early, late))
    return say(
        "{name} {first:.4g} → {last:.4g}{unit}",
        "{name} {first:.4g} → {last:.4g}{unit}",
        name=pace.name,
        first=first,
        last=last,
        unit=behind(pace.unit),
    )


def behind(unit: str) -> str:
    """Write a unit behind a number; nothing where none is known."""
    return f" {unit}" if unit else ""


def waiting(observed: Observed) -> Iterator[Shape]:
    """Find steps that consist mostly of waiting for data."""
    curves = observed.curves
    late = _steps_with_waits(curves)
    if not late or not _MOSTLY <= statistics.median(wait / step for step, wait, _ in late) < _WHOLE:
        return
    whole, part = (statistics.median(pair[index] for pair in late) for index in (0, 1))
    unit, line = curves.by_name[names.STEP_TIME].unit, late[0][2]
    said = say(
        "data time {part:.4g} of {whole:.4g}{unit} a step ({share:.0%}), medians of {count}"
        " records",
        "每步 {whole:.4g}{unit} 中取数据占 {part:.4g}（{share:.0%}），为 {count} 条记录的中位数",
        part=part,
        whole=whole,
        unit=behind(unit),
        share=part / whole,
        count=len(late),
    )
    yield curves.shape("input-bound", said, line)
    seconds = whole / 1000 if unit == "ms" else whole
    if part >= _NEARLY_ALL * whole and seconds >= _NOT_SHORT and len(late) >= _SEVERAL:
        yield curves.shape("input-starved", said, line)


def _steps_with_waits(curves: Curves) -> list[tuple[float, float, int]]:
    """Give time, waiting time and raw line of the steps that print both, but the first.

    Nothing where fewer than three do.
    """
    waits = curves.by_line(names.DATA_TIME)
    pairs = [
        (point.value, waits[point.line], point.line)
        for point in curves.points(names.STEP_TIME)
        if point.value > 0 and point.line in waits
    ]
    return pairs[1:] if len(pairs) >= 3 else []
