"""Check that the parts of an analysis read from a file are consistent.

In: an `Analysis` whose fields have the right types. Out: nothing, or what is wrong and where. Not
here: the types, and bounds of whole numbers (`report.lossless`).

Rendering trusts an analysis: it looks sources up, rounds, draws. What this program writes is sound;
a file that somebody changed need not be.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from postmortem.core.diagnosis import Analysis
from postmortem.core.message import Message

_NOT_FINITE: Final = frozenset(
    {
        ("SeriesView", "first"),
        ("SeriesView", "last"),
        ("SeriesView", "samples"),
        ("ReplayTrial", "losses"),
    }
)
"""Where a metric's values stand, whose steps are finite all the same."""
_SHARES: Final = frozenset({"probability", "share"})
_SECONDS: Final = frozenset({"seconds", "seconds_after_failure"})
_LONGEST: Final = 1e12
_NAMES: Final = frozenset(
    {"id", "kind", "role", "group", "outcome", "status", "whose", "retry", "cause", "category"}
    | {"safety", "verdict", "reproduced", "direction", "time_basis"}
)
"""Fields that hold a word of this program's, never text of a log."""
_CHOICES: Final[Mapping[str, frozenset[str]]] = {
    "checkpoint_before_first_bad": frozenset({"yes", "no", "unknown"}),
}


def find_fault(analysis: Analysis) -> str:
    """Say what is wrong with an analysis and where; an empty string: nothing."""
    return next(_faults(analysis, "analysis", len(analysis.sources)), "")


def _faults(value: Any, where: str, sources: int) -> Iterator[str]:
    """Yield what is wrong with a value's fields, and with what stands in them."""
    if isinstance(value, Message):
        return
    if dataclasses.is_dataclass(value):
        kind = type(value).__name__
        for field in dataclasses.fields(value):
            held, place = getattr(value, field.name), f"{where}.{field.name}"
            yield from _of_field(held, field.name, place, sources)
            if not _is_finite(held, is_metric=(kind, field.name) in _NOT_FINITE):
                yield f"a number is not finite @ {place}"
            yield from _faults(held, place, sources)
    elif isinstance(value, Mapping):
        for key, held in value.items():
            yield from _faults(held, f"{where}[{key!r}]", sources)
    elif isinstance(value, tuple):
        for index, held in enumerate(value):
            yield from _faults(held, f"{where}[{index}]", sources)


def _of_field(value: Any, name: str, where: str, sources: int) -> Iterator[str]:
    """Yield what is wrong with a value, by the name of its field."""
    if value is None:
        return
    if name == "source" and value >= sources:
        yield f"there is no source {value} @ {where}"
    if name in _SHARES and not 0 <= value <= 1:
        yield f"{value} is no share @ {where}"
    if name in _SECONDS and not abs(value) <= _LONGEST:
        yield f"{value} is no duration @ {where}"
    if name in _NAMES and isinstance(value, str) and not value.isprintable():
        yield f"{value!r} is no name @ {where}"
    if name in _CHOICES and value not in _CHOICES[name]:
        yield f"{value!r} is none of {', '.join(sorted(_CHOICES[name]))} @ {where}"


def _is_finite(value: Any, *, is_metric: bool) -> bool:
    """Say whether all numbers of a field are finite; of a metric (step, value, …) the step."""
    if isinstance(value, float):
        return math.isfinite(value)
    if not isinstance(value, tuple):
        return True
    if is_metric:
        pairs = value if value and isinstance(value[0], tuple) else (value,)
        return all(_is_finite(pair[0], is_metric=False) for pair in pairs if len(pair) > 1)
    return all(_is_finite(item, is_metric=False) for item in value)
