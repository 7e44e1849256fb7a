"""Load the YAML of pattern folders, and turn it into one plain JSON value with its hash.

In: folders of the shape that `patterns/README.md` describes. Out: {"hash", "signatures",
"exceptions", "anomalies", "causes", "conditions", "fixes", "stacks", "advisories", "formats",
"taxonomy", "actions", "gpus", "keys", "metrics"}, ready for `json.dump`, in which a condition holds
no name of another any more; of any YAML file plain Python values, with the line of each. Not here:
checks (`rules.check`); the compiled form of a faulty folder is faulty too. A build hook writes this
value into the wheel, without what a run does not need, so that a start needs no YAML.

Duplicate keys are refused, and so is what would exhaust the machine, before anything is built of
it: a file is bounded in size and in depth (the loader in C calls itself for each level, and has no
limit). Anchors are refused altogether: a few lines of aliases can stand for billions of values, and
what rules share has a name that a reader finds (`patterns/conditions`).
"""

import hashlib
import json
import stat
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from postmortem.core.errors import PatternError
from postmortem.rules.exception_rules import PATTERNS
from postmortem.rules.pattern_syntax import find_required_words

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


KINDS = (
    "signatures",
    "exceptions",
    "anomalies",
    "conditions",
    "causes",
    "fixes",
    "stacks",
    "advisories",
    "formats",
)
TABLES = ("actions", "gpus", "keys", "metrics")
"""Files of rows, which a further folder only adds to."""
_NESTING = ("all", "any", "not")
"""What in a predicate holds predicates."""


def compile_folders(folders: Iterable[Path]) -> dict[str, Any]:
    """Merge the folders in order; a later folder adds rules and may replace one of the same id.

    Raises:
        PatternError: a file is not valid YAML.
    """
    rules: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
    taxonomy: dict[str, Any] = {"date": "undated", "causes": {}, "precedence": []}
    tables: dict[str, list[Any]] = {table: [] for table in TABLES}
    for root in folders:
        for kind in KINDS:
            for path, entry in iter_rules(root / kind):
                rules[kind][_get_rule_id(path, entry)] = {
                    **entry,
                    "file": f"{kind}/{path.relative_to(root / kind)}",
                }
        _update_taxonomy(taxonomy, root / "taxonomy.yaml")
        for table, rows in tables.items():
            if (root / f"{table}.yaml").is_file():
                rows.extend(read_yaml(root / f"{table}.yaml") or [])
    value: dict[str, Any] = {
        kind: [rules[kind][key] for key in sorted(rules[kind])] for kind in KINDS
    }
    value |= {"taxonomy": taxonomy, **tables}
    return {
        "hash": _hash(value),
        **value,
        "conditions": expand_conditions(rules["conditions"]),
        "exceptions": [_add_required_words(entry) for entry in value["exceptions"]],
    }


def strip_examples(
    value: dict[str, Any], kinds: Container[str] = (*KINDS, "metrics")
) -> dict[str, Any]:
    """Leave out of a compiled value what only proves the rules of these kinds: their examples.

    The snippets of a stack become one text: a run unpacks those of the stacks that it shows.
    """
    found = {
        kind: [
            {key: content for key, content in entry.items() if key != "examples"} for entry in rules
        ]
        if kind in kinds
        else rules
        for kind, rules in value.items()
    }
    if "stacks" in found:
        found["stacks"] = [
            {**entry, "snippets": json.dumps(entry.get("snippets") or {}, ensure_ascii=False)}
            for entry in found["stacks"]
        ]
    return found


def expand_conditions(conditions: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Put into each condition the predicates of those that it names.

    Raises:
        PatternError: a condition names one that is not there, or itself in the end.
    """
    return [
        {**conditions[name], "holds": _resolve_predicate(name, (), conditions)}
        for name in sorted(conditions)
    ]


def _resolve_predicate(name: str, within: tuple[str, ...], conditions: Mapping[str, Any]) -> Any:
    """Give the predicate of a condition, without names; `within` are those that led to it."""
    if name not in conditions or name in within:
        what = "names itself in the end" if name in within else f"names {name}, which is not there"
        raise PatternError(
            f"the condition {within[-1]} {what}",
            str(conditions[within[-1]].get("file", "")),
            "name another condition, or write its predicate",
        )
    return _replace_names(conditions[name]["holds"], (*within, name), conditions)


def _replace_names(predicate: Any, within: tuple[str, ...], conditions: Mapping[str, Any]) -> Any:
    """Replace names in a predicate, or in a list of them; several names mean any of them."""
    if isinstance(predicate, list):
        return [_replace_names(part, within, conditions) for part in predicate]
    if not isinstance(predicate, dict):
        return predicate
    parts = [
        _resolve_names(value, within, conditions)
        if key == "condition"
        else {key: _replace_names(value, within, conditions) if key in _NESTING else value}
        for key, value in predicate.items()
    ]
    return parts[0] if len(parts) == 1 else {"all": parts}


def _resolve_names(names: Any, within: tuple[str, ...], conditions: Mapping[str, Any]) -> Any:
    if isinstance(names, str):
        return _resolve_predicate(names, within, conditions)
    return {"any": [_resolve_predicate(name, within, conditions) for name in names]}


def iter_rules(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield every rule of a folder with its file, in a fixed order.

    A file holds one rule or a list.
    """
    for path in sorted(folder.rglob("*.yaml")):
        content = read_yaml(path)
        for entry in content if isinstance(content, list) else [content]:
            if isinstance(entry, dict):
                yield path, entry
            elif entry is not None:
                raise PatternError(
                    "a rule must be a mapping", path, "see patterns/README.md for the shape"
                )


def _add_required_words(entry: dict[str, Any]) -> dict[str, Any]:
    """Add the words without which a pattern of an exception rule need not be compiled."""
    patterns = {field: entry[field] for field in PATTERNS if entry.get(field)}
    words = {field: find_required_words(str(pattern)) for field, pattern in patterns.items()}
    return {**entry, "words": {field: list(found) for field, found in words.items() if found}}


def _get_rule_id(path: Path, entry: dict[str, Any]) -> str:
    if not isinstance(entry.get("id"), str):
        raise PatternError("a rule has no id", path, "add `id: <area>.<name>`")
    return str(entry["id"])


def _update_taxonomy(taxonomy: dict[str, Any], path: Path) -> None:
    if path.is_file():
        content = read_yaml(path) or {}
        taxonomy["causes"].update(content.get("causes") or {})
        taxonomy["precedence"].extend(content.get("precedence") or [])
        taxonomy["date"] = str(content.get("date", taxonomy["date"]))


def _hash(value: dict[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
