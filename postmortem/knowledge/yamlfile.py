"""YAML with a place for every fault: duplicate keys are refused, and each document knows its lines.

In: a path. Out: plain Python values. Not here: whether the values make sense (`knowledge.check`).
"""

from pathlib import Path
from typing import Any

import yaml

from postmortem.errors import PatternError

_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Strict(_Loader):  # type: ignore[misc]  # the base is chosen at run time: C where it was built
    """A safe loader that refuses a key that stands twice."""


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, (str, int, float, bool)) or key in seen:
            where = f"{key_node.start_mark.name}:{key_node.start_mark.line + 1}"
            raise PatternError(f"the key {key!r} stands twice or is no plain word", where, "keep one of them")
        seen.add(key)
    loader.flatten_mapping(node)
    return dict(loader.construct_pairs(node, deep=True))


_Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_yaml(path: Path) -> Any:
    """Read one YAML file.

    Raises:
        PatternError: not readable, not YAML, or a key stands twice; `where` is file:line.
    """
    try:
        with path.open(encoding="utf-8") as stream:
            return yaml.load(stream, Loader=_Strict)  # noqa: S506 -- a subclass of the safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise PatternError(f"not valid YAML: {getattr(error, 'problem', error)}", where, "quote regexes with single quotes") from error
    except (OSError, UnicodeDecodeError) as error:
        raise PatternError(f"cannot be read: {error}", path, "check the file and its encoding (UTF-8)") from error


def line_of(path: Path, needle: str) -> int:
    """Find the line in which a value is written, for error messages; 1 if it cannot be told."""
    for number, text in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if needle in text:
            return number
    return 1
