"""Names within rules: all are known, none is without use, no condition leads back to itself.

In: rules of well formed files, and all ids that there are. Out: faults. Not here: how many names an
item may give (`knowledge.schema`), what a condition asks (`knowledge.questions`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from postmortem.errors import PatternError
from postmortem.knowledge.catalogue import CATALOGUE
from postmortem.knowledge.compile import KINDS, entries
from postmortem.knowledge.conditions import kind_of
from postmortem.knowledge.yamlfile import line_of, read_yaml

ASKING = ("causes", "fixes", "advisories")
"""Kinds of rules that name conditions."""


@dataclass(frozen=True)
class Names:
    """All ids that rules may refer to, and who refers to conditions."""

    signatures: frozenset[str]
    conditions: Mapping[str, Mapping[str, Any]]
    """The conditions themselves, by id."""
    causes: frozenset[str]
    used: frozenset[str]
    """Names of conditions that a rule or another condition gives."""

    @classmethod
    def of(cls, folders: Iterable[Path]) -> "Names":
        """Collect them from folders, as far as these can be read."""
        folders = list(folders)
        rules = {kind: _rules(folders, kind) for kind in KINDS}
        asking = [name for kind in ASKING for entry in rules[kind] for name in names_in(entry)]
        inner = [name for one in rules["conditions"] for name in _within(one.get("holds"))]
        return cls(
            frozenset(str(entry.get("id")) for entry in rules["signatures"]),
            {str(entry.get("id")): entry for entry in rules["conditions"]},
            frozenset(_causes(folders)),
            frozenset([*asking, *inner]),
        )


def _rules(folders: Iterable[Path], kind: str) -> list[dict[str, Any]]:
    return [entry for root in folders for _, entry in _readable(root / kind)]


def _causes(folders: Iterable[Path]) -> Iterator[str]:
    for path in (root / "taxonomy.yaml" for root in folders):
        if path.is_file():
            yield from (read_yaml(path) or {}).get("causes", {})


def names_in(entry: Mapping[str, Any]) -> Iterator[str]:
    """Give the names of conditions that a cause, a fix or an advisory gives."""
    for item in (entry, *(entry.get("for") or ()), *(entry.get("against") or ())):
        for key in ("if", "not", "where", "not_where"):
            if isinstance(item, dict) and isinstance(item.get(key), list):
                yield from map(str, item[key])


def faults_of_names(kind: str, entry: Mapping[str, Any], names: Names) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the names in a rule: what, and how to mend it."""
    if kind in ASKING:
        for name in dict.fromkeys(names_in(entry)):
            yield from _unknown(name, names)
    elif kind == "conditions":
        if kind_of(entry["id"]):
            yield f"a shape has the name {entry['id']}", "rename the condition"
        yield from _predicate_faults(entry["holds"], names)
        if entry["id"] in _reached(entry["holds"], names):
            yield "it names itself in the end", "name another condition, or write its predicate"


def unused(folders: Iterable[Path], names: Names) -> Iterator[PatternError]:
    """Yield a fault for each condition of these folders that nothing names."""
    for path, entry in (one for root in folders for one in _readable(root / "conditions")):
        name = str(entry.get("id"))
        if name not in names.used:
            yield PatternError(
                f"{name}: no rule names this condition",
                f"{path}:{line_of(path, name)}",
                "name it in a cause, a fix or an advisory, or remove it",
            )


def _readable(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Give the rules of a folder, or none where one of its files cannot be read."""
    try:
        return list(entries(folder))
    except PatternError:
        return []


def regexes(predicate: Any) -> Iterator[str]:
    """Give the regexes within a predicate."""
    if isinstance(predicate, str) and predicate.startswith("~"):
        yield predicate[1:]
    elif isinstance(predicate, (dict, list)):
        for inner in predicate.values() if isinstance(predicate, dict) else predicate:
            yield from regexes(inner)


def _unknown(name: str, names: Names) -> Iterator[tuple[str, str]]:
    if name in names.conditions:
        return
    kind = kind_of(name)
    if kind is None:
        yield (
            f"no condition and no shape has the name {name!r}",
            "correct it, or write the condition in conditions/<area>.yaml",
        )
    elif kind == "signature" and not _is_signature(name, names):
        yield f"no signature has the id {name!r}", "correct the id"


def _is_signature(name: str, names: Names) -> bool:
    if name.endswith(".*"):
        return any(one.startswith(name[:-1]) for one in names.signatures)
    return name in names.signatures


def _predicate_faults(predicate: Any, names: Names) -> Iterator[tuple[str, str]]:
    for key, name in _leaves(predicate):
        if key == "shape" and name not in CATALOGUE:
            yield f"unknown shape {name!r}", f"one of {', '.join(sorted(CATALOGUE))}"
        elif key == "signature" and not _is_signature(name, names):
            yield f"no signature has the id {name!r}", "correct the id"
        elif key == "condition" and name not in names.conditions:
            yield f"no condition has the name {name!r}", "correct the name"


def _leaves(predicate: Any) -> Iterator[tuple[str, str]]:
    """Give the signatures, shapes and conditions in a predicate, with what they are."""
    if isinstance(predicate, list):
        for inner in predicate:
            yield from _leaves(inner)
    elif isinstance(predicate, dict):
        for key, value in predicate.items():
            if key in {"signature", "shape", "condition"}:
                yield from ((key, str(one)) for one in _listed(value))
            elif key in {"all", "any", "not"}:
                yield from _leaves(value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _within(predicate: Any) -> Iterator[str]:
    return (name for key, name in _leaves(predicate) if key == "condition")


def _reached(predicate: Any, names: Names) -> set[str]:
    """Give all conditions that a predicate leads to."""
    found: set[str] = set()
    left = list(_within(predicate))
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += _within(names.conditions.get(name, {}).get("holds"))
    return found
