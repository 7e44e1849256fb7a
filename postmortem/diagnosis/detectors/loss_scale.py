"""Detect what the loss scaler does: settling, collapsing, skipping steps.

In: the curves of one process. Out: the anomalies `scale-collapse`, `scale-settling`,
`steps-skipped`. Not here: the values that make it skip (`detectors.nonfinite`).
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Point

_MANY: Final = 0.3
"""Share of skipped steps that no search for a scale explains, once the start of the run is past."""
_FEWEST_STEPS: Final = 20
_FLOOR: Final = 1
_LOW: Final = 64
"""A scale at which half a search for it has failed."""
_USABLE: Final = 128


def detect_loss_scale_trend(observed: Observed) -> Iterable[Anomaly]:
    """Detect a loss scale that settles, or one that collapses to the floor."""
    curves = observed.curves
    points = curves.points(names.LOSS_SCALE)
    values = [point.value for point in points]
    if len(values) < 2 or max(values) <= 0:
        return []
    end = values[-1]
    halvings = math.log2(max(values) / end) if end > 0 else math.inf
    sound = _count_sound_losses_after(curves, points[-1].line)
    message = say(
        "loss scale {first:g} → {end:g} in {count} events",
        first=values[0],
        end=end,
        count=len(values),
    )
    if (end <= _FLOOR and halvings >= 3) or (_is_collapsing(values, halvings) and not sound):
        return [curves.shape("scale-collapse", message, _find_first_drop(points).line)]
    if halvings >= 1 and (end >= _USABLE or sound >= 3):
        return [curves.shape("scale-settling", message, points[0].line)]
    return []


def _count_sound_losses_after(curves: Curves, line: int) -> int:
    """Count the losses behind a line that are finite and not 0: training went on."""
    return sum(point.line > line and point.value != 0.0 for point in curves.finite(names.LOSS))


def _is_collapsing(values: Sequence[float], halvings: float) -> bool:
    """Say whether a scale falls far and never rises."""
    rises = any(current > previous for previous, current in itertools.pairwise(values))
    return halvings >= 5 and values[-1] <= _LOW and not rises


def _find_first_drop(points: Sequence[Point]) -> Point:
    """Give the first record of a fall.

    A record of every step holds quiet ones first; a record of the overflows alone begins with the
    first.
    """
    if points[0].value != points[1].value:
        return points[0]
    falls = (
        current
        for previous, current in itertools.pairwise(points)
        if current.value < previous.value
    )
    return next(falls, points[0])


def detect_skipped_steps(observed: Observed) -> Iterable[Anomaly]:
    """Find many steps that are counted as skipped in the later half of the run.

    The first half may be the search for a scale.
    """
    counted = _read_cumulative_skips(observed.curves) or _read_per_record_skips(observed.curves)
    if counted is None:
        return []
    middle, steps, count = counted
    if steps < _FEWEST_STEPS or not _MANY <= count / steps <= 1.0:
        return []
    message = say(
        "{count:g} of the last {steps:g} steps skipped ({share:.0%})",
        count=count,
        steps=steps,
        share=count / steps,
    )
    return [observed.curves.shape("steps-skipped", message, middle.line)]


def _read_cumulative_skips(curves: Curves) -> tuple[Point, float, float] | None:
    """Read a count that goes on over the run: its middle, the steps and the skipped ones since."""
    points = _list_points_with_step(curves, names.SKIPPED_STEPS)
    if len(points) < 2:
        return None
    middle, last = points[len(points) // 2 - (len(points) == 2)], points[-1]
    return middle, last.step - middle.step, last.value - middle.value


def _read_per_record_skips(curves: Curves) -> tuple[Point, float, float] | None:
    """Read a count that starts anew at every record, as Megatron's does."""
    points = _list_points_with_step(curves, "skipped_iterations")
    if len(points) < 4:
        return None
    half = len(points) // 2
    count = sum(point.value for point in points[half + 1 :])
    return points[half], points[-1].step - points[half].step, count


def _list_points_with_step(curves: Curves, name: str) -> list[Point]:
    return [point for point in curves.points(name) if math.isfinite(point.step)]
