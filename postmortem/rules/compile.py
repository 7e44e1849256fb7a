"""Turn pattern folders into one plain JSON value with its hash.

In: folders of the shape that `patterns/README.md` describes. Out: {"hash", "signatures",
"exceptions", "anomalies", "causes", "conditions", "fixes", "stacks", "advisories", "formats",
"taxonomy", "actions", "gpus", "keys", "metrics"}, ready for `json.dump`, in which a condition
holds no name of another any more. Not here: checks (`rules.check`); the compiled form of a faulty
folder is faulty too. A build hook writes this value into the wheel, without what a run does not
need, so that a start needs no YAML.
"""

import hashlib
import json
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from postmortem.core.errors import PatternError
from postmortem.rules.exception_rules import PATTERNS
from postmortem.rules.python_patterns import find_required_words
from postmortem.rules.yamlfile import read_yaml

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
