"""An analysis as JSON, `postmortem.analysis/1`: all of it, both ways, without loss.

In: an `Analysis`, or what was written of one. Out: the other. Not here: the report in one language
that other programs read (`report.wire`). Nothing is redacted: what is kept and sent between one's
own machines is whole, and hiding is done where it is rendered.

A text that is the same in every language is a string, any other an object with `en` and `zh`; a
number that JSON cannot hold is the string "NaN", "Infinity" or "-Infinity".
"""

import functools
import json
import math
from typing import Any, Final, TypeVar

from cattrs import Converter
from cattrs.errors import BaseValidationError
from cattrs.gen import make_dict_structure_fn, override
from cattrs.v import transform_error

from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import InputError
from postmortem.core.job_facts import Environment
from postmortem.core.message import Message
from postmortem.core.names import ANALYSIS_SCHEMA
from postmortem.report.analysis_checks import find_fault
from postmortem.report.wire import convert_to_json_value

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
