"""Check names and versions within rules: names are known and used, ranges of versions are sound.

In: rules of well formed files, and all ids that there are. Out: faults: also a condition that
refers to itself. Not here: how many names an item may give (`rules.schema`), what a condition asks
(`rules.predicate_schema`), comparing the versions of a run (`inference.rule_matching`), which
takes a checked range to be sound.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from postmortem.core.errors import PatternError
from postmortem.rules.cause_rules import get_predicate_type
from postmortem.rules.compile import KINDS, find_line, iter_rules, read_yaml

_VERSIONS_OF_MACHINE: Final = ("python", "cuda", "driver")


def find_version_faults(rule: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what stands in place of a version or a range and is none, and how to mend it."""
    for value in _iter_ranges(rule):
        for one in value if isinstance(value, list) else [value]:
            if not _is_range(str(one).strip()):
                yield (
                    f"no version and no range of versions: {one!r}",
                    "write '2.5' (it and all below it), '>= 2.5, < 2.6', any, or '~regex'",
                )


def _iter_ranges(value: Any) -> Iterator[Any]:
    """Yield what is compared with versions: of advisories, and of predicates however deep."""
    if isinstance(value, list):
        for one in value:
            yield from _iter_ranges(one)
    if not isinstance(value, Mapping):
        return
    for key, inner in value.items():
        if key == "range":
            yield inner
        elif key in {"with", "package"} and isinstance(inner, Mapping):
            yield from inner.values()
        elif key == "env" and isinstance(inner, Mapping):
            yield from (inner[name] for name in _VERSIONS_OF_MACHINE if name in inner)
        elif key != "examples":
            yield from _iter_ranges(inner)


def _is_range(text: str) -> bool:
    if text.startswith("~"):
        return not text.startswith("~=")  # a regex to the program, a range to whoever wrote it
    if text == "any":
        return True
    try:
        SpecifierSet(text if text[:1] in "=!<>" else f"=={text}.*")
    except InvalidSpecifier:
        return False
    return True


ASKING = ("causes", "fixes", "advisories")
"""Kinds of rules that name conditions."""


@dataclass(frozen=True)
class Names:
    """All ids that rules may refer to, and who refers to conditions."""

    signatures: frozenset[str]
    conditions: Mapping[str, Mapping[str, Any]]
    """The conditions themselves, by id."""
    anomalies: frozenset[str]
    causes: frozenset[str]
    used: frozenset[str]
    """Names of conditions that a rule or another condition gives."""

    @classmethod
    def collect(cls, folders: Iterable[Path]) -> "Names":
        """Collect them from folders, as far as these can be read."""
        folders = list(folders)
        rules = {kind: _list_rules(folders, kind) for kind in KINDS}
        asking = [
            name for kind in ASKING for entry in rules[kind] for name in iter_condition_names(entry)
        ]
        inner = [
            name
            for rule in rules["conditions"]
            for name in _iter_inner_conditions(rule.get("holds"))
        ]
        return cls(
            frozenset(str(entry.get("id")) for entry in rules["signatures"]),
            {str(entry.get("id")): entry for entry in rules["conditions"]},
            frozenset(str(entry.get("id")) for entry in rules["anomalies"]),
            frozenset(_iter_cause_ids(folders)),
            frozenset([*asking, *inner, *_iter_action_conditions(folders)]),
        )


def _iter_action_conditions(folders: Iterable[Path]) -> Iterator[str]:
    for path in (root / "actions.yaml" for root in folders):
        if path.is_file():
            yield from (name for row in read_yaml(path) or [] for name in row["refuted_by"])


def _list_rules(folders: Iterable[Path], kind: str) -> list[dict[str, Any]]:
    return [entry for root in folders for _, entry in _list_readable_rules(root / kind)]


def _iter_cause_ids(folders: Iterable[Path]) -> Iterator[str]:
    for path in (root / "taxonomy.yaml" for root in folders):
        if path.is_file():
            yield from (read_yaml(path) or {}).get("causes", {})


def iter_condition_names(entry: Mapping[str, Any]) -> Iterator[str]:
    """Give the names of conditions that a cause, a fix or an advisory gives."""
    for item in (entry, *(entry.get("for") or ()), *(entry.get("against") or ())):
        for key in ("if", "not", "where", "not_where"):
            if isinstance(item, dict) and isinstance(item.get(key), list):
                yield from map(str, item[key])


def find_name_faults(
    kind: str, entry: Mapping[str, Any], names: Names
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the names in a rule: what, and how to mend it."""
    if kind in ASKING:
        for name in dict.fromkeys(iter_condition_names(entry)):
            yield from _check_condition_name(name, names)
    elif kind == "conditions":
        if entry["id"] in names.anomalies:
            yield f"a shape has the name {entry['id']}", "rename the condition"
        yield from _find_predicate_faults(entry["holds"], names)
        if entry["id"] in _collect_reached_conditions(entry["holds"], names):
            yield "it names itself in the end", "name another condition, or write its predicate"


def find_unused_conditions(
    folders: Iterable[Path], names: Names, only: Container[str] | None = None
) -> Iterator[PatternError]:
    """Yield a fault for each condition of these folders, or of the files `only`, not named."""
    for path, entry in (
        rule
        for root in folders
        for rule in _list_readable_rules(root / "conditions")
        if only is None or rule[0].relative_to(root).as_posix() in only
    ):
        name = str(entry.get("id"))
        if name not in names.used:
            yield PatternError(
                f"{name}: no rule names this condition",
                f"{path}:{find_line(path, name)}",
                "name it in a cause, a fix or an advisory, or remove it",
            )


def find_undetected_anomalies(
    folders: Iterable[Path], known: Iterable[Path]
) -> Iterator[PatternError]:
    """Yield a fault for each anomaly of a user's own folders that no detector can find.

    Detectors are code, and find those of the built-in rules; conditions over features are data.
    """
    detected = Names.collect(known).anomalies
    for path, entry in (
        one for root in folders for one in _list_readable_rules(root / "anomalies")
    ):
        if detected and entry["id"] not in detected and not entry.get("when"):
            yield PatternError(
                f"{entry['id']}: no detector finds this anomaly",
                f"{path}:{find_line(path, entry['id'])}",
                "name a built-in one, whose meaning it replaces: postmortem explain ID",
            )


def _list_readable_rules(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Give the rules of a folder, or none where one of its files cannot be read."""
    try:
        return list(iter_rules(folder))
    except PatternError:
        return []


def iter_regexes(predicate: Any) -> Iterator[str]:
    """Give the regexes within a predicate."""
    if isinstance(predicate, str) and predicate.startswith("~"):
        yield predicate[1:]
    elif isinstance(predicate, (dict, list)):
        for inner in predicate.values() if isinstance(predicate, dict) else predicate:
            yield from iter_regexes(inner)


def _check_condition_name(name: str, names: Names) -> Iterator[tuple[str, str]]:
    if name in names.conditions:
        return
    kind = get_predicate_type(name, names.anomalies)
    if kind is None:
        yield (
            f"no condition and no shape has the name {name!r}",
            "correct it, or write the condition in conditions/<area>.yaml",
        )
    elif kind == "signature" and not _is_signature(name, names):
        yield f"no signature has the id {name!r}", "correct the id"


def _is_signature(name: str, names: Names) -> bool:
    if name.endswith(".*"):
        return any(signature.startswith(name[:-1]) for signature in names.signatures)
    return name in names.signatures


def _find_predicate_faults(predicate: Any, names: Names) -> Iterator[tuple[str, str]]:
    for key, name in _iter_leaves(predicate):
        if key == "shape" and name not in names.anomalies:
            yield f"unknown shape {name!r}", f"one of {', '.join(sorted(names.anomalies))}"
        elif key == "signature" and not _is_signature(name, names):
            yield f"no signature has the id {name!r}", "correct the id"
        elif key == "condition" and name not in names.conditions:
            yield f"no condition has the name {name!r}", "correct the name"


def _iter_leaves(predicate: Any) -> Iterator[tuple[str, str]]:
    """Yield the signatures, anomalies and conditions that a predicate names, each with its kind."""
    if isinstance(predicate, list):
        for inner in predicate:
            yield from _iter_leaves(inner)
    elif isinstance(predicate, dict):
        for key, value in predicate.items():
            if key in {"signature", "shape", "condition"}:
                yield from ((key, str(leaf)) for leaf in _ensure_list(value))
            elif key in {"all", "any", "not"}:
                yield from _iter_leaves(value)


def _ensure_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _iter_inner_conditions(predicate: Any) -> Iterator[str]:
    return (name for key, name in _iter_leaves(predicate) if key == "condition")


def _collect_reached_conditions(predicate: Any, names: Names) -> set[str]:
    """Give all conditions that a predicate leads to."""
    found: set[str] = set()
    left = list(_iter_inner_conditions(predicate))
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += _iter_inner_conditions(names.conditions.get(name, {}).get("holds"))
    return found
