"""Detect the precision of numbers by their printed digits, and what the loss scaler does.

In: the curves of one process. Out: the anomalies `fp16-figures`, `fp16-limit`, `bf16-figures`;
`scale-collapse`, `scale-settling`, `steps-skipped`. Not here: what the log says of its precision
(`facts.fact_store`), the values that make a scaler skip (`detectors.nonfinite`).
"""

import itertools
import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.log_text import count_digits
from postmortem.core.message import say
from postmortem.diagnosis.detectors.observed import Anomaly, Curves, Observed, format_position
from postmortem.extraction.facts.series import Point

_TYPES: Final = {"fp16-figures": "float16", "bf16-figures": "bfloat16"}
_LOOKED_AT: Final = 400
_FEWEST: Final = 6
_TELLING: Final = 4
"""Figures that would hardly be exact by chance."""
_LARGEST_HALF: Final = 65504
_WHOLE_STEPS: Final = 4096
"""From here on float16 knows only every fourth whole number, or fewer."""


def detect_half_precision_values(observed: Observed) -> Iterable[Anomaly]:
    """Find losses or gradient norms that all are exact in float16 or in bfloat16."""
    for name in (names.LOSS, names.GRAD_NORM):
        points = [
            point
            for point in observed.curves.points(name)[:_LOOKED_AT]
            if math.isfinite(point.value) and point.value != 0.0
        ]
        values = [point.value for point in points]
        if len(values) < _FEWEST:
            continue
        if all(map(_is_bf16, values)):
            return (
                _detect_exact_values(observed.curves, name, points, "bf16-figures")
                if _is_telling(values, 5)
                else []
            )
        if all(map(_is_fp16, values)) and _is_telling(values, 6):
            return [
                *_detect_exact_values(observed.curves, name, points, "fp16-figures"),
                *_detect_float16_limit(observed.curves, name),
            ]
    return []


def _detect_float16_limit(curves: Curves, name: str) -> Iterator[Anomaly]:
    """Find a figure that is infinite where it would pass the largest number of float16."""
    points = curves.points(name)
    bad = next((index for index, point in enumerate(points) if math.isinf(point.value)), 0)
    top = max((point.value for point in points[:bad] if math.isfinite(point.value)), default=0.0)
    if top >= _LARGEST_HALF / 4:
        message = say(
            "{name} up to {top:g}, then {value} at {place}; the largest float16 is {limit}",
            name=name,
            top=top,
            value=points[bad].value,
            place=format_position(points[bad]),
            limit=_LARGEST_HALF,
        )
        yield curves.shape("fp16-limit", message, points[bad].line)


def _detect_exact_values(
    curves: Curves, name: str, points: Sequence[Point], anomaly_id: str
) -> list[Anomaly]:
    """Detect figures that are all exact in a 16-bit type, one of them printed in full."""
    shown = next((point for point in points if count_digits(point.value) >= 5), points[0])
    message = say(
        "{name} {value!r} at {place}: all {count} values are exact in {kind}",
        name=name,
        value=shown.value,
        place=format_position(shown),
        count=len(points),
        kind=_TYPES[anomaly_id],
    )
    return [curves.shape(anomaly_id, message, shown.line)]


def _is_telling(values: Sequence[float], least: int) -> bool:
    """Say whether several of the figures have so many digits or more, or are whole and large."""
    return (
        len(
            {
                value
                for value in values
                if count_digits(value) >= least
                or (value >= _WHOLE_STEPS and value.is_integer() and count_digits(value) >= 4)
            }
        )
        >= _TELLING
    )


def _is_fp16(value: float) -> bool:
    return abs(value) <= _LARGEST_HALF and struct.unpack("<e", struct.pack("<e", value))[0] == value


def _is_bf16(value: float) -> bool:
    if abs(value) > 3e38:
        return False
    raw = struct.pack(">f", value)
    return struct.unpack(">f", raw)[0] == value and raw[2:] == bytes(2)


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
