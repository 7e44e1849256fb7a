"""Convert a batch to a JSON tree with its tensors stored separately by key, and back.

    {"kind": "tensor", "key": …}                       {"kind": "value", "value": JSON}
    {"kind": "list" | "tuple", "items": […]}           {"kind": "unrecorded", "type": …}
    {"kind": "dict", "items": {…}, "class": "BatchEncoding" | … | null}

In: a batch as a loop has it, or a tree. Out: the other. Not here: where tensors are kept.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from postmortem.replay.capsule.structured import NOT_FINITE, WrongForm, convert_to_json

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
        raise WrongForm(f"no tree of a batch at {_format_path(path)}")
    if kind in {"list", "tuple", "dict"}:
        for key, part in _iter_parts(tree, path):
            yield from iter_leaves(part, (*path, str(key)))
        return
    if kind == "tensor" and not isinstance(tree.get("key"), str):
        raise WrongForm(f"a tensor without a key at {_format_path(path)}")
    yield path, tree


def _format_path(path: tuple[str, ...]) -> str:
    return ".".join(path)[:_LONGEST_KEY] or "its root"


def _iter_parts(tree: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[object, Any]]:
    items = tree.get("items")
    if not isinstance(items, dict if tree["kind"] == "dict" else list):
        raise WrongForm(f"a {tree['kind']} without its parts at {_format_path(path)}")
    if isinstance(items, dict) and any(len(key) > _LONGEST_KEY for key in items):
        raise WrongForm(f"a name of more than {_LONGEST_KEY} characters at {_format_path(path)}")
    yield from items.items() if isinstance(items, dict) else enumerate(items or [])


def list_tensor_keys(tree: Mapping[str, Any]) -> list[str]:
    """List the keys of all tensors in a tree."""
    return [leaf["key"] for _, leaf in iter_leaves(tree) if leaf["kind"] == "tensor"]


def list_unrecorded(tree: Mapping[str, Any]) -> list[str]:
    """List what of a batch was not recorded, as `path: type`."""
    return [
        f"{'.'.join(path)}: {leaf['type']}" for path, leaf in iter_leaves(tree) if "type" in leaf
    ]
