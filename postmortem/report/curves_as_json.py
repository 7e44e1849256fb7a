"""Write curves as JSON fast: whole tuples of numbers at once.

In: a `SeriesView` in which nothing is left to hide. Out: its plain values, or the same as text. Not
here: the rest of the report (`report.wire`).

A job may have thousands of curves, and most of its report is their figures. Python writes a whole
tuple of figures as fast as one of them.
"""

import functools
import math
from collections.abc import Sequence
from json.encoder import encode_basestring
from typing import Any, Final

from postmortem.core.lines import ProcessId
from postmortem.core.shown import SeriesView

_NO_FIGURES: Final = (("nan", '"NaN"'), ("-inf", '"-Infinity"'), ("inf", '"Infinity"'))
"""What Python calls that which is no finite number, and what the report does."""
_CURVE: Final = """{
   "name": %s,
   "producer": %s,
   "source": %s,
   "where": %s,
   "attempt": %s,
   "unit": %s,
   "points": %s,
   "nonfinite": %s,
   "first": [
    %s,
    %s
   ],
   "last": [
    %s,
    %s
   ],
   "min": %s,
   "max": %s,
   "first_nonfinite": %s,
   "interleaved": %s,
   "samples": """
_PAIR: Final = "[\n    {},\n    {}\n   ]"
_SAMPLE: Final = "    [\n     %s,\n     %s,\n     %s\n    ]"
_NEXT: Final = ",\n"


def build_curve_values(series: SeriesView) -> dict[str, Any]:
    """Give a curve as plain values."""
    bad = series.first_nonfinite
    return {
        "name": series.name,
        "producer": series.producer,
        "source": series.source,
        "where": series.where._asdict(),
        "attempt": series.attempt,
        "unit": series.unit,
        "points": series.points,
        "nonfinite": series.nonfinite,
        "first": [convert_whole_step(series.first[0]), series.first[1]],
        "last": [convert_whole_step(series.last[0]), series.last[1]],
        "min": series.min,
        "max": series.max,
        "first_nonfinite": None if bad is None else [convert_whole_step(bad[0]), bad[1]],
        "interleaved": series.interleaved,
        "samples": [
            [convert_whole_step(step), value, line] for step, value, line in series.samples
        ],
    }


def serialize_curve(series: SeriesView) -> str:
    """Write a curve as it stands in the list of them, an entry a line."""
    (begin, first), (end, last) = series.first, series.last
    figures = [
        convert_whole_step(begin),
        first,
        convert_whole_step(end),
        last,
        series.min,
        series.max,
    ]
    for step, value, line in series.samples:
        figures += (step if step is None else convert_whole_step(step), value, line)
    shown = _serialize_numbers(figures)[1:-1].split(", ")
    return _build_curve_template(len(series.samples)) % (
        encode_basestring(series.name),
        encode_basestring(series.producer),
        series.source,
        _serialize_process(series.where),
        series.attempt,
        encode_basestring(series.unit),
        series.points,
        series.nonfinite,
        *shown[:6],
        _serialize_first_nonfinite(series.first_nonfinite),
        "true" if series.interleaved else "false",
        *shown[6:],
    )


@functools.lru_cache(maxsize=1024)
def _build_curve_template(count: int) -> str:
    """Give the form of a curve with so many samples, a place for each of its figures."""
    return _CURVE + (f"[\n{_NEXT.join([_SAMPLE] * count)}\n   ]" if count else "[]") + "\n  }"


def convert_whole_step(step: float | None) -> float | None:
    """Write a whole step as an integer."""
    return (
        int(step) if step is not None and math.isfinite(step) and float(step).is_integer() else step
    )


def _serialize_first_nonfinite(bad: tuple[float | None, int] | None) -> str:
    if bad is None:
        return "null"
    return _PAIR.format(*_serialize_numbers((convert_whole_step(bad[0]), bad[1]))[1:-1].split(", "))


def _serialize_numbers(figures: Sequence[Any]) -> str:
    """Write figures as Python does, but for those that are none."""
    text = repr(figures).replace("None", "null")
    if "nan" in text or "inf" in text:
        for word, other in _NO_FIGURES:
            text = text.replace(word, other)
    return text


@functools.lru_cache(maxsize=1024)
def _serialize_process(where: ProcessId) -> str:
    """Write the process of a curve, which it shares with many others."""
    parts = [
        f'    "{name}": {_serialize_process_field(part)}' for name, part in where._asdict().items()
    ]
    return "{\n" + ",\n".join(parts) + "\n   }"


def _serialize_process_field(part: str | int | None) -> str:
    return encode_basestring(part) if isinstance(part, str) else _serialize_numbers((part,))[1:-2]
