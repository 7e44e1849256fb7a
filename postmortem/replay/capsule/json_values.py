"""The JSON of a capsule: parsed within bounds, converted from and to manifest values and batches.

    {"kind": "tensor", "key": …}                       {"kind": "value", "value": JSON}
    {"kind": "list" | "tuple", "items": […]}           {"kind": "unrecorded", "type": …}
    {"kind": "dict", "items": {…}, "class": "BatchEncoding" | … | null}

In: bytes, JSON and a class of `capsule.manifest`, or such a value; a batch as a loop has it, or its
tree. Out: the other. Not here: the file, what the values mean, where tensors are kept.

Three bytes (`[],`) become 64 in memory, and each part is checked later: the number of parts, not
the length of the text, bounds memory and time. Written by hand, since the recorder runs within a
training and asks for no package but torch and safetensors; the classes use few forms of type only.
A number that JSON cannot hold is the string "nan", "inf" or "-inf".
"""

import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

MOST_BYTES: Final = 16 * 1024 * 1024
MOST_PARTS: Final = 500_000
_STARTS: Final = (b"{", b"[", b",", b":")


def parse_json(data: bytes) -> Any:
    """Parse a text.

    Raises:
        ValueError: it is no JSON, nests too deep, or has too many parts.
    """
    parts = sum(data.count(start) for start in _STARTS)
    if parts > MOST_PARTS:
        raise ValueError(f"it has {parts:,} parts, at most {MOST_PARTS:,} are read")
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("it nests too deep") from error


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
            raise WrongForm(f"{_format_field_path(where)} is beyond the range of numbers") from None
    is_right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    _require(is_right, value, f"of type {kind.__name__}", where)
    return value


def _parse_fields(kind: type, value: Any, where: _Place) -> Any:
    _require(isinstance(value, dict), value, "an object", where)
    fields = {field.name.rstrip("_"): field for field in dataclasses.fields(kind)}
    unknown = sorted(set(value) - set(fields))
    if unknown:
        raise WrongForm(
            f"{_format_field_path(where)}.{unknown[0][:_LONGEST]} is no field of this schema"
        )
    hints = _get_type_hints(kind)
    arguments: dict[str, Any] = {}
    for name, field in fields.items():
        if name in value:
            arguments[field.name] = _read(hints[field.name], value[name], (where, f".{name}"))
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise WrongForm(f"{_format_field_path(where)}.{name} is missing")
    return kind(**arguments)


@functools.cache
def _get_type_hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _require(holds: object, value: Any, wanted: str, where: _Place) -> None:
    if not holds:
        shown = "a list" if isinstance(value, list) else "an object"
        shown = shown if isinstance(value, list | dict) else repr(str(value)[:60])
        raise WrongForm(f"{_format_field_path(where)} is not {wanted}, but {shown}")


def _format_field_path(where: _Place) -> str:
    names: list[str] = []
    while where:
        where, name = where
        names.append(name[:_LONGEST])
    return "".join(reversed(names))


_KINDS: Final = ("tensor", "list", "tuple", "dict", "value", "unrecorded")
_SCALARS: Final = (bool, int, float, str)
_DEEPEST: Final = 32
_LONGEST_KEY: Final = 500
"""Characters of a name in a batch: paths are made of them, for each value below."""
_LONGEST_TEXT: Final = 100_000
"""Characters of a text in a batch that are kept."""


def convert_to_tree(value: Any, put: Callable[[Any], str], depth: int = 0) -> dict[str, Any]:
    """Give a batch as a tree.

    Args:
        value: the batch.
        put: takes a tensor, gives the key under which it is kept.
        depth: how deep in the batch this is.
    """
    if hasattr(value, "detach") and hasattr(value, "dtype"):
        return {"kind": "tensor", "key": put(value)}
    if depth < _DEEPEST and isinstance(value, Mapping | list | tuple):
        return _build_branch(value, put, depth + 1)
    if isinstance(value, float) and not math.isfinite(value):
        return {"kind": "value", "value": convert_to_json(value), "class": "float"}
    if value is None or (isinstance(value, _SCALARS) and len(str(value)) <= _LONGEST_TEXT):
        return {"kind": "value", "value": value}
    return {"kind": "unrecorded", "type": type(value).__qualname__}


def _build_branch(value: Any, put: Callable[[Any], str], depth: int) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"kind": kind, "items": [convert_to_tree(item, put, depth) for item in value]}
    if not all(type(key) is str for key in value):
        return {"kind": "unrecorded", "type": type(value).__qualname__}
    class_ = None if type(value) is dict else type(value).__name__
    items = {key: convert_to_tree(item, put, depth) for key, item in value.items()}
    return {"kind": "dict", "items": items, "class": class_}


def restore_batch(tree: Mapping[str, Any], take: Callable[[str], Any]) -> Any:
    """Build a batch again; `take` gives the tensor of a key; what was not recorded is None."""
    kind = tree["kind"]
    if kind == "tensor":
        return take(tree["key"])
    if kind == "dict":
        return {key: restore_batch(item, take) for key, item in tree["items"].items()}
    if kind in {"list", "tuple"}:
        items = [restore_batch(item, take) for item in tree["items"]]
        return tuple(items) if kind == "tuple" else items
    value: Any = tree.get("value")
    return NOT_FINITE.get(value, value) if tree.get("class") == "float" else value


def iter_leaves(
    tree: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Go through all that holds nothing further, each with its path in the batch.

    Raises:
        WrongForm: this is no such tree.
    """
    kind = tree.get("kind") if isinstance(tree, Mapping) else None
    if kind not in _KINDS or len(path) > _DEEPEST:
        raise WrongForm(f"no tree of a batch at {_format_leaf_path(path)}")
    if kind in {"list", "tuple", "dict"}:
        for key, part in _iter_parts(tree, path):
            yield from iter_leaves(part, (*path, str(key)))
        return
    if kind == "tensor" and not isinstance(tree.get("key"), str):
        raise WrongForm(f"a tensor without a key at {_format_leaf_path(path)}")
    yield path, tree


def _format_leaf_path(path: tuple[str, ...]) -> str:
    return ".".join(path)[:_LONGEST_KEY] or "its root"


def _iter_parts(tree: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[object, Any]]:
    items = tree.get("items")
    if not isinstance(items, dict if tree["kind"] == "dict" else list):
        raise WrongForm(f"a {tree['kind']} without its parts at {_format_leaf_path(path)}")
    if isinstance(items, dict) and any(len(key) > _LONGEST_KEY for key in items):
        raise WrongForm(
            f"a name of more than {_LONGEST_KEY} characters at {_format_leaf_path(path)}"
        )
    yield from items.items() if isinstance(items, dict) else enumerate(items or [])


def list_tensor_keys(tree: Mapping[str, Any]) -> list[str]:
    """List the keys of all tensors in a tree."""
    return [leaf["key"] for _, leaf in iter_leaves(tree) if leaf["kind"] == "tensor"]


def list_unrecorded(tree: Mapping[str, Any]) -> list[str]:
    """List what of a batch was not recorded, as `path: type`."""
    return [
        f"{'.'.join(path)}: {leaf['type']}" for path, leaf in iter_leaves(tree) if "type" in leaf
    ]
