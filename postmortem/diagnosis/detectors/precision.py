"""Infer the precision of numbers from their printed digits.

In: the curves of one process. Out: the anomalies `fp16-figures`, `fp16-limit`, `bf16-figures`. Not
here: what the log says of its precision (`facts.fact_store`).
"""

import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves, format_position
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.number_texts import count_digits
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
