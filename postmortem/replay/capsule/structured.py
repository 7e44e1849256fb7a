"""Convert between JSON and the values of a manifest.

In: JSON as `json.loads` gives it and a class of `capsule.manifest`, or such a value. Out: the
other. Not here: the file, what the values mean.

Written by hand, since the recorder runs within a training and asks for no package but torch and
safetensors; the classes use few forms of type only. A number that JSON cannot hold is the string
"nan", "inf" or "-inf".
"""

import dataclasses
import functools
import math
import types
import typing
from typing import Any, Final, TypeVar

_Value = TypeVar("_Value")
_Place = tuple[Any, ...]
"""Where a value stands: the place around it, and its name there. Joined only for an error: a long
name above many values would be copied for each of them."""

_LONGEST: Final = 120
"""Characters of a name that an error repeats."""
NOT_FINITE: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class WrongForm(ValueError):  # noqa: N818 -- it names what is wrong
    """A value has another form than its place asks for; says where."""


def convert_to_json(value: Any) -> Any:
    """Give a value of a manifest, or anything within one, as strict JSON holds it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name.rstrip("_"): convert_to_json(getattr(value, field.name))
            for field in dataclasses.fields(value)
        }
    if isinstance(value, dict):
        return {str(key): convert_to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [convert_to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def read_as(kind: type[_Value], value: Any, where: str = "manifest") -> _Value:
    """Read a value of a class out of JSON.

    Raises:
        WrongForm: something is missing, too much or of another type.
    """
    return typing.cast("_Value", _read(kind, value, ((), where)))


def _read(kind: Any, value: Any, where: _Place) -> Any:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in {types.UnionType, typing.Union}:
        if value is None and type(None) in inner:
            return None
        kind = next(option for option in inner if option is not type(None))
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return value
    if origin is tuple:
        return _parse_sequence(inner, value, where)
    if origin is dict:
        _require(isinstance(value, dict), value, "an object", where)
        return {key: _read(inner[1], item, (where, f".{key}")) for key, item in value.items()}
    return (_parse_fields if dataclasses.is_dataclass(kind) else _parse_scalar)(kind, value, where)


def _parse_sequence(inner: tuple[Any, ...], value: Any, where: _Place) -> tuple[Any, ...]:
    _require(isinstance(value, list), value, "a list", where)
    if inner[-1] is not Ellipsis:
        _require(len(value) == len(inner), value, f"a list of {len(inner)}", where)
        kinds: Any = inner
    else:
        kinds = (inner[0] for _ in value)
    return tuple(
        _read(kind, item, (where, f"[{number}]"))
        for number, (kind, item) in enumerate(zip(kinds, value, strict=False))
    )


def _parse_scalar(kind: Any, value: Any, where: _Place) -> Any:
    if kind is float:
        if isinstance(value, str) and value in NOT_FINITE:
            return NOT_FINITE[value]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        _require(is_number, value, "a number", where)
        try:
            return float(value)
        except OverflowError:
            raise WrongForm(f"{_format_path(where)} is beyond the range of numbers") from None
    is_right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    _require(is_right, value, f"of type {kind.__name__}", where)
    return value


def _parse_fields(kind: type, value: Any, where: _Place) -> Any:
    _require(isinstance(value, dict), value, "an object", where)
    fields = {field.name.rstrip("_"): field for field in dataclasses.fields(kind)}
    unknown = sorted(set(value) - set(fields))
    if unknown:
        raise WrongForm(f"{_format_path(where)}.{unknown[0][:_LONGEST]} is no field of this schema")
    hints = _get_type_hints(kind)
    arguments: dict[str, Any] = {}
    for name, field in fields.items():
        if name in value:
            arguments[field.name] = _read(hints[field.name], value[name], (where, f".{name}"))
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise WrongForm(f"{_format_path(where)}.{name} is missing")
    return kind(**arguments)


@functools.cache
def _get_type_hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _require(holds: object, value: Any, wanted: str, where: _Place) -> None:
    if not holds:
        shown = "a list" if isinstance(value, list) else "an object"
        shown = shown if isinstance(value, list | dict) else repr(str(value)[:60])
        raise WrongForm(f"{_format_path(where)} is not {wanted}, but {shown}")


def _format_path(where: _Place) -> str:
    names: list[str] = []
    while where:
        where, name = where
        names.append(name[:_LONGEST])
    return "".join(reversed(names))
