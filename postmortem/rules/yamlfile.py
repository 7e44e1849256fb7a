"""Load YAML safely and with the line of every value; duplicate keys are refused.

What would exhaust the machine is refused before anything is built of it: a file is bounded in size
and in depth (the loader in C calls itself for each level, and has no limit). Anchors are refused
altogether: a few lines of aliases can stand for billions of values, and what rules share has a name
that a reader finds (`patterns/conditions`).

In: a path. Out: plain Python values. Not here: whether the values make sense (`rules.check`).
"""

import stat
from pathlib import Path
from typing import Any, Final

import yaml

from postmortem.core.errors import PatternError

_MOST_BYTES: Final = 4 << 20
_DEEPEST: Final = 100
_TOO_DEEP: Final = f"nested more than {_DEEPEST} deep"
_TOO_DEEP_MEND: Final = "no rule needs that: see patterns/README.md"
_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _StrictLoader(_Loader):  # type: ignore[misc]  # the base is C where that was built
    """A safe loader that refuses a key that stands twice."""


def _build_mapping(loader: Any, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, (str, int, float, bool)) or key in seen:
            where = f"{key_node.start_mark.name}:{key_node.start_mark.line + 1}"
            raise PatternError(
                f"the key {key!r} stands twice or is no plain word", where, "keep one of them"
            )
        seen.add(key)
    loader.flatten_mapping(node)
    return dict(loader.construct_pairs(node, deep=True))


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _build_mapping)


def read_yaml(path: Path) -> Any:
    """Read one YAML file.

    Raises:
        PatternError: not readable, not YAML, or a key stands twice; `where` is file:line.
    """
    try:
        _require_bounded(path)
        with path.open(encoding="utf-8") as stream:
            return yaml.load(stream, Loader=_StrictLoader)  # noqa: S506 -- a subclass of the safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        problem = str(getattr(error, "problem", error))
        if "nesting depth" in problem:  # PyYAML >= 6.0.4 has a limit of its own, and meets it first
            raise PatternError(_TOO_DEEP, where, _TOO_DEEP_MEND) from error
        raise PatternError(
            f"not valid YAML: {problem}",
            where,
            "quote regexes with single quotes",
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise PatternError(
            f"cannot be read: {error}", path, "check the file and its encoding (UTF-8)"
        ) from error
    except (
        ValueError,
        OverflowError,
        TypeError,
    ) as error:  # a day that is in no calendar, a number of thousands of digits
        raise PatternError(
            f"a value cannot be read: {error}", path, "quote it if it is text"
        ) from error


def _require_bounded(path: Path) -> None:
    """Refuse what is no file, too large, nested too deep, or has anchors.

    Raises:
        PatternError: it is.
        YAMLError: it is no YAML.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise PatternError("this is no file", path, "give a folder of YAML files")
    if status.st_size > _MOST_BYTES:
        raise PatternError(
            f"the file is larger than {_MOST_BYTES >> 20} MiB",
            path,
            "split it: a file holds one rule, or a list of them",
        )
    depth = 0
    for event in yaml.parse(path.read_text(encoding="utf-8"), Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        anchor = getattr(event, "anchor", None)
        if depth > _DEEPEST or anchor:
            raise PatternError(
                f"YAML anchors are not used ({anchor})" if anchor else _TOO_DEEP,
                f"{path}:{event.start_mark.line + 1 if event.start_mark else 1}",
                "write the value again, or name it as a condition: see patterns/README.md"
                if anchor
                else _TOO_DEEP_MEND,
            )


def find_line(path: Path, needle: str) -> int:
    """Find the line of a value, for error messages; 1 if it is unknown."""
    for number, text in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if needle in text:
            return number
    return 1
