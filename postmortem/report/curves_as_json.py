"""A curve as the JSON report writes it, in a few steps however many figures it has.

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

from postmortem.model.lines import Where
from postmortem.model.shown import SeriesView

_NO_FIGURES: Final = (("nan", '"NaN"'), ("-inf", '"-Infinity"'), ("inf", '"Infinity"'))
"""What Python calls that which is no finite number, and what the report does."""
_CURVE: Final = """{
   "name": %s,
   "producer": %s,
   "source": %s,
   "where": %s,
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


def curve_values(series: SeriesView) -> dict[str, Any]:
    """Give a curve as plain values."""
    bad = series.first_nonfinite
    return {
        "name": series.name,
        "producer": series.producer,
        "source": series.source,
        "where": series.where._asdict(),
        "unit": series.unit,
        "points": series.points,
        "nonfinite": series.nonfinite,
        "first": [whole_step(series.first[0]), series.first[1]],
        "last": [whole_step(series.last[0]), series.last[1]],
        "min": series.min,
        "max": series.max,
        "first_nonfinite": None if bad is None else [whole_step(bad[0]), bad[1]],
        "interleaved": series.interleaved,
        "samples": [[whole_step(step), value, line] for step, value, line in series.samples],
    }


def curve_text(series: SeriesView) -> str:
    """Write a curve as it stands in the list of them, an entry a line."""
    (begin, first), (end, last) = series.first, series.last
    figures = [whole_step(begin), first, whole_step(end), last, series.min, series.max]
    for step, value, line in series.samples:
        figures += (step if step is None else whole_step(step), value, line)
    shown = _figures(figures)[1:-1].split(", ")
    return _form(len(series.samples)) % (
        encode_basestring(series.name),
        encode_basestring(series.producer),
        series.source,
        _where_text(series.where),
        encode_basestring(series.unit),
        series.points,
        series.nonfinite,
        *shown[:6],
        _first_bad(series.first_nonfinite),
        "true" if series.interleaved else "false",
        *shown[6:],
    )


@functools.lru_cache(maxsize=1024)
def _form(count: int) -> str:
    """Give the form of a curve with so many samples, a place for each of its figures."""
    return _CURVE + (f"[\n{_NEXT.join([_SAMPLE] * count)}\n   ]" if count else "[]") + "\n  }"


def whole_step(step: float | None) -> float | None:
    """Write a whole step as an integer."""
    return (
        int(step) if step is not None and math.isfinite(step) and float(step).is_integer() else step
    )


def _first_bad(bad: tuple[float | None, int] | None) -> str:
    if bad is None:
        return "null"
    return _PAIR.format(*_figures((whole_step(bad[0]), bad[1]))[1:-1].split(", "))


def _figures(figures: Sequence[Any]) -> str:
    """Write figures as Python does, but for those that are none."""
    text = repr(figures).replace("None", "null")
    if "nan" in text or "inf" in text:
        for word, other in _NO_FIGURES:
            text = text.replace(word, other)
    return text


@functools.lru_cache(maxsize=1024)
def _where_text(where: Where) -> str:
    """Write the process of a curve, which it shares with many others."""
    parts = [f'    "{name}": {_part_text(part)}' for name, part in where._asdict().items()]
    return "{\n" + ",\n".join(parts) + "\n   }"


def _part_text(part: str | int | None) -> str:
    return encode_basestring(part) if isinstance(part, str) else _figures((part,))[1:-2]
