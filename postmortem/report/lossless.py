"""An analysis as JSON, `postmortem.analysis/1`: all of it, both ways, without loss.

In: an `Analysis`, or what was written of one. Out: the other, or what is wrong in a file and where.
Not here: the report in one language that other programs read (`report.wire`). Nothing is redacted:
what is kept and sent between one's own machines is whole, and hiding is done where it is rendered.

A text that is the same in every language is a string, any other an object with `en` and `zh`; a
number that JSON cannot hold is the string "NaN", "Infinity" or "-Infinity". Rendering trusts an
analysis: it looks sources up, rounds, draws. What this program writes is sound; a file that
somebody changed need not be, so the parts of one that is read are checked for consistency.
"""

import dataclasses
import functools
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

from cattrs import Converter
from cattrs.errors import BaseValidationError
from cattrs.gen import make_dict_structure_fn, override
from cattrs.v import transform_error

from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import InputError
from postmortem.core.findings import Environment
from postmortem.core.message import Message
from postmortem.core.names import ANALYSIS_SCHEMA
from postmortem.report.wire import convert_to_json_value

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


_Plain = TypeVar("_Plain", str, int, bool)

_FLOATS: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_MOST_FAULTS: Final = 3
_MOST: Final = (1 << 53) - 1
"""Whole numbers beyond it are not the same in every program that reads JSON."""


def to_json(analysis: Analysis) -> str:
    """Write an analysis as one line of strict JSON."""
    value = {"schema": ANALYSIS_SCHEMA} | _build_converter().unstructure(
        analysis, unstructure_as=Analysis
    )
    return json.dumps(value, allow_nan=False, separators=(",", ":")) + "\n"


def from_json(text: str, name: str = "") -> Analysis:
    """Read an analysis back.

    Args:
        text: what `to_json` has written.
        name: where it comes from, for the error.

    Raises:
        InputError: it is no such JSON; says what is wrong and where.
    """
    mend = "write it with: postmortem analyze run.log -o run.analysis.json --format analysis"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON: {error}", name, mend) from error
    schema = value.pop("schema", None) if isinstance(value, dict) else None
    if schema != ANALYSIS_SCHEMA:
        reason = f"its schema is {schema!r}" if schema else "it names no schema"
        raise InputError(f"no {ANALYSIS_SCHEMA}: {reason}", name, mend)
    try:
        analysis: Analysis = _build_converter().structure(value, Analysis)
    except BaseValidationError as error:
        faults = "; ".join(transform_error(error, path="analysis")[:_MOST_FAULTS])
        raise InputError(f"no whole {ANALYSIS_SCHEMA}: {faults}", name, mend) from error
    if fault := find_fault(analysis):
        raise InputError(f"no sound {ANALYSIS_SCHEMA}: {fault}", name, mend)
    return analysis


@functools.cache
def _build_converter() -> Converter:
    converter = Converter(forbid_extra_keys=True)
    converter.register_unstructure_hook(float, convert_to_json_value)
    converter.register_structure_hook(float, _parse_number)
    converter.register_unstructure_hook(Message, _serialize_message)
    converter.register_structure_hook(Message, _parse_message)
    for kind in (str, bool):
        converter.register_structure_hook(kind, _as_it_is)
    converter.register_structure_hook(int, _count)
    status = override(struct_hook=_exit_status)
    environment = make_dict_structure_fn(
        Environment, converter, _cattrs_forbid_extra_keys=True, exit_status=status
    )
    converter.register_structure_hook(Environment, environment)
    return converter


def _parse_number(value: Any, _: type) -> float:
    """Read a number; a whole one stays what it was."""
    number = _FLOATS.get(value, value) if isinstance(value, str) else value
    if number.__class__ not in {int, float}:
        raise ValueError(f"{value!r} is no number")
    try:
        float(number)
    except OverflowError:
        raise ValueError("a number is too large") from None
    return number


def _count(value: Any, _: type) -> int:
    """Read a line, an index, a rank or how many there are."""
    if not 0 <= _as_it_is(value, int) <= _MOST:
        raise ValueError(f"{str(value)[:20]} is out of range")
    return int(value)


def _as_it_is(value: Any, kind: type[_Plain]) -> _Plain:
    """Take a value of the right kind, and none that only looks like it."""
    if value.__class__ is not kind:
        raise ValueError(f"{value!r} is no {kind.__name__}")
    return value


def _exit_status(value: Any, _: Any) -> Any:
    """Read a status, which is below zero where a signal ended the run."""
    if value is not None:
        _count(abs(_as_it_is(value, int)), int)
    return value


def _serialize_message(message: Message) -> str | dict[str, str]:
    english, chinese = message.text("en"), message.text("zh")
    return english if english == chinese else {"en": english, "zh": chinese}


def _parse_message(value: Any, _: type) -> Message:
    if isinstance(value, str):
        return Message(value, value)
    if isinstance(value, dict) and value.keys() == {"en", "zh"}:
        return Message(_as_it_is(value["en"], str), _as_it_is(value["zh"], str))
    raise ValueError(f"{value!r} is no text in English and Chinese")
