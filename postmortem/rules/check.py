"""Check pattern folders: every fault of every file at once, each with file and line.

In: paths of folders of rules, or of files and folders within them. Out: a list of `PatternError`,
empty if all is well; which rules of a folder are meant (`RuleSelection`). Not here: whether
examples fire, which needs the matching engine (`extraction.proof`), whether conditions hold in
theirs (`inference.example_cases`), the names within rules (`rules.name_checks`).
"""

import collections
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from postmortem.core.errors import PatternError, UsageError
from postmortem.rules import attack, cause_rules, exception_rules, schema
from postmortem.rules.compile import KINDS, find_line, iter_rules, read_yaml
from postmortem.rules.engine import compile_pattern
from postmortem.rules.name_checks import (
    Names,
    find_name_faults,
    find_undetected_anomalies,
    find_unused_conditions,
    find_version_faults,
    iter_regexes,
)
from postmortem.rules.schema import TABLES


class RuleSelection(NamedTuple):
    """Files to check, each within a whole folder of rules."""

    folders: tuple[Path, ...]
    """Folders of rules, which hold `signatures`, `fixes` and so on."""
    files: frozenset[str]
    """Names of files as compiled rules give them: `exceptions/tables.yaml`, `metrics.yaml`."""


def select_rules(paths: Iterable[Path]) -> RuleSelection:
    """Select all rules of these folders, or those of single files and folders within one.

    Raises:
        UsageError: a file is within no folder of rules.
    """
    folders: dict[Path, None] = {}
    files: set[str] = set()
    for path in paths:
        folder = _find_rules_folder(path)
        folders[folder] = None
        meant = path if folder == path or path.is_absolute() else path.absolute()
        found = sorted(meant.rglob("*.yaml")) if meant.is_dir() else [meant]
        files.update(file.relative_to(folder).as_posix() for file in found)
    return RuleSelection(tuple(folders), frozenset(files))


def _find_rules_folder(path: Path) -> Path:
    """Give the folder that holds `signatures`, `fixes` and so on for a path within it."""
    if path.is_dir() and any((path / kind).is_dir() for kind in KINDS):
        return path
    whole = path.absolute()
    for inner in (whole, *whole.parents):
        if inner.name in KINDS:
            return inner.parent
    if path.is_dir():
        return path
    if path.suffix == ".yaml" and path.stem in TABLES:
        return whole.parent
    raise UsageError(
        "this is no file of rules",
        path,
        f"name one within {', '.join(KINDS[:-1])} or {KINDS[-1]} of a folder of rules",
    )


MOST_ANCHOR_BYTES = 6
_FOR_PROOF = ("examples", "source")
_NOT_SHOWN = (".definition: Field required", ".examples: Field required")
"""What no run needs of a cause in `taxonomy.yaml`, of a row in `metrics.yaml`."""
_REGEXES = ("match", "pair", "loss_key", *exception_rules.PATTERNS)


def find_faults(
    folders: Iterable[Path], known: Iterable[Path] = (), only: AbstractSet[str] | None = None
) -> list[PatternError]:
    """Check rules in `folders` against the schema: all, or those of the files named in `only`.

    `known` folders are only consulted for the ids that rules refer to. Conditions that nothing
    names are looked for where all else is well: a file that cannot be read names nothing.
    """
    folders, known = list(folders), list(known)
    broken = [fault for root in folders for fault in _find_table_faults(root)]
    if broken:
        return broken
    names = Names.collect([*known, *folders])
    found: list[PatternError] = []
    seen: dict[tuple[str, str], Path] = {}
    named = KINDS if only is None else {name.partition("/")[0] for name in only}
    kinds = [kind for kind in KINDS if kind in named]
    for root in folders:
        for kind in kinds:
            found += _find_folder_faults(root, kind, names, seen, only)
    return found or [
        *find_unused_conditions(folders, names, only),
        *find_undetected_anomalies(folders, known),
    ]


def find_malformed_rules(folder: Path) -> Iterator[PatternError]:
    """Yield faults with which no run could work: rules that break the schema, invalid patterns.

    What serves only the proof of a rule, its examples, may be missing here.
    """
    yield from (
        fault for fault in _find_table_faults(folder) if not str(fault.what).endswith(_NOT_SHOWN)
    )
    for kind in KINDS:
        for path, entry in iter_rules(folder / kind):
            name = str(entry.get("id"))
            wrong = [
                (what, mend)
                for what, mend in _find_schema_faults(kind, entry)
                if not what.startswith(_FOR_PROOF)
            ]
            if not wrong:
                wrong += _find_regex_faults(entry)
            for what, mend in wrong:
                yield PatternError(f"{name}: {what}", f"{path}:{find_line(path, name)}", mend)


def _find_folder_faults(
    root: Path,
    kind: str,
    names: Names,
    seen: dict[tuple[str, str], Path],
    only: AbstractSet[str] | None,
) -> list[PatternError]:
    found: list[PatternError] = []
    try:
        rules = list(iter_rules(root / kind))
    except PatternError as error:
        return [error]
    checked, others = _split_rules(rules, root, only)
    seen |= {(kind, str(entry.get("id"))): path for path, entry in others}
    for path, entry in checked:
        name = str(entry.get("id"))
        where = f"{path}:{find_line(path, name)}"
        if (kind, name) in seen:
            mend = f"rename it; the other is in {seen[kind, name]}"
            found.append(PatternError(f"the id {name} stands twice", where, mend))
        seen[kind, name] = path
        found += [
            PatternError(f"{name}: {what}", where, mend)
            for what, mend in _find_schema_faults(kind, entry)
            or _find_rule_faults(kind, entry, names)
        ]
    return found


def _split_rules(
    rules: list[tuple[Path, dict[str, Any]]], root: Path, only: AbstractSet[str] | None
) -> tuple[list[tuple[Path, dict[str, Any]]], list[tuple[Path, dict[str, Any]]]]:
    """Part rules into those of the files `only`, and the others."""
    if only is None:
        return rules, []
    names = [path.relative_to(root).as_posix() for path, _ in rules]
    return (
        [rule for rule, name in zip(rules, names, strict=True) if name in only],
        [rule for rule, name in zip(rules, names, strict=True) if name not in only],
    )


def _find_schema_faults(kind: str, entry: dict[str, Any]) -> list[tuple[str, str]]:
    try:
        schema.MODELS[kind].model_validate(entry)
    except ValidationError as error:
        mend = "see patterns/README.md for the shape"
        return [
            (f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}", mend)
            for fault in error.errors()
        ]
    return []


def _find_rule_faults(kind: str, entry: dict[str, Any], names: Names) -> Iterator[tuple[str, str]]:
    yield from _find_regex_faults(entry)
    if kind == "signatures":
        yield from _find_signature_faults(entry)
    for cause in _list_named_causes(kind, entry):
        if cause not in names.causes:
            yield (
                f"the cause {cause} is not in taxonomy.yaml",
                "correct the id, or add it to taxonomy.yaml",
            )
    if kind in {"advisories", "conditions"}:
        yield from find_version_faults(entry)
    yield from _find_snippet_faults(entry)
    yield from find_name_faults(kind, entry, names)


def _find_signature_faults(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for anchor in entry["anchors"]:
        if len(anchor.encode()) < MOST_ANCHOR_BYTES:
            yield (
                f"the anchor {anchor!r} is shorter than {MOST_ANCHOR_BYTES} bytes",
                "take a longer literal",
            )
    examples = entry["examples"]["fires"]
    if entry.get("lines", 1) == 1 and any("\n" in example["text"] for example in examples):
        yield "an example has several lines but `lines` is 1", "set `lines`"


def _find_snippet_faults(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    own = {
        f"of fix {number}": fix["snippet"]
        for number, fix in enumerate(entry.get("fixes", ()), 1)
        if fix.get("snippet")
    }
    for name, snippet in {**entry.get("snippets", {}), **own}.items():
        for comment in cause_rules.find_unknown_comments(cause_rules.parse_snippet(snippet)):
            yield (
                f"the snippet {name} has no comment {comment!r}",
                "a key of `zh` is a comment of `code`, from behind its # to the end of the line",
            )


def _find_regex_faults(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    fields = (entry.get(field) for field in _REGEXES)
    for pattern in (*filter(None, fields), *(entry.get("beside") or ())):
        yield from _find_pattern_faults(pattern)


def _find_pattern_faults(pattern: str) -> Iterator[tuple[str, str]]:
    try:
        compile_pattern(pattern)
    except ValueError as error:
        yield f"not a valid regex: {error}", "correct `match`"


def find_slow_patterns(entry: Mapping[str, Any]) -> Iterator[PatternError]:
    """Yield a fault for each pattern of a rule that is slow on the texts its structure suggests.

    The patterns of a condition's predicate are among them.
    """
    for field in ("match", "unless", "pair", "loss_key"):
        if entry.get(field):
            is_several_lines = entry.get("lines", 1) > 1
            outcome = attack.find_worst_attack(
                _search(field, entry),
                attack.build_attacks(
                    entry[field], anchors=entry.get("anchors", ())[:2], many_lines=is_several_lines
                ),
            )
            yield from _report_slowness(entry, f"`{field}`", outcome)
    for field in exception_rules.PATTERNS:
        if entry.get(field) and not {"match", "package"} & set(entry):
            outcome = attack.find_worst_attack(
                compile_pattern(entry[field]).search,
                attack.build_attacks(entry[field], many_lines=True),
            )
            yield from _report_slowness(entry, f"`{field}`", outcome)
    for word in entry.get("beside", ()):
        outcome = attack.find_worst_attack(compile_pattern(word).search, attack.build_attacks(word))
        yield from _report_slowness(entry, f"`beside` {word}", outcome)
    for expression in dict.fromkeys(
        (*iter_regexes(entry.get("holds")), *filter(None, (entry.get("message"),)))
    ):
        outcome = attack.find_worst_attack(
            compile_pattern(f"(?i){expression}").search, attack.build_attacks(expression)
        )
        yield from _report_slowness(entry, f"the predicate ~{expression}", outcome)


def _report_slowness(
    entry: Mapping[str, Any], what: str, outcome: attack.Outcome
) -> Iterator[PatternError]:
    if outcome.is_slow:
        yield PatternError(
            f"{entry['id']}: {what} is slow: {outcome}",
            entry.get("file", ""),
            "bound what repeats, let nothing match in two ways, say with `unless` what is"
            " something else",
        )


def _search(field: str, entry: Mapping[str, Any]) -> Callable[[str], object]:
    """Give the search that a run does with a pattern: for one match, or for all."""
    pattern = compile_pattern(entry[field])
    if field == "unless" or (field == "match" and not entry.get("each")):
        return pattern.search
    return lambda text: collections.deque(pattern.finditer(text), maxlen=0)


def _list_named_causes(kind: str, entry: dict[str, Any]) -> list[str]:
    if kind == "signatures":
        return list(entry.get("suggests", {}))
    if kind == "causes":
        return [entry["id"], *(item["from"] for item in entry.get("separates", ()))]
    return list(entry.get("causes", ())) if kind in {"exceptions", "fixes", "advisories"} else []


def _find_table_faults(root: Path) -> Iterator[PatternError]:
    """Yield what is wrong with the files of a folder that are no rules."""
    for name, model in schema.TABLES.items():
        path = root / f"{name}.yaml"
        content = read_yaml(path) if path.is_file() else None
        if content is None:
            continue
        try:
            model.validate_python(content)
        except ValidationError as error:
            for fault in error.errors():
                parts = [str(part) for part in fault["loc"]] or [name]
                where = f"{path}:{find_line(path, parts[1] if len(parts) > 1 else parts[0])}"
                mend = "see patterns/README.md for the shape"
                yield PatternError(f"{'.'.join(parts)}: {fault['msg']}", where, mend)
            continue
        for number, row in enumerate(content if name == "gpus" else ()):
            for what, mend in _find_pattern_faults(row["match"]):
                where = f"{path}:{find_line(path, row['match'])}"
                yield PatternError(f"{number}.match: {what}", where, mend)
