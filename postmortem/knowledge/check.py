"""Check pattern folders: every fault of every file at once, each with file and line.

In: folders. Out: a list of `PatternError`, empty if all is well. Not here: whether examples fire,
which needs the matching engine (`gathering.proof`), and whether conditions hold in theirs
(`inference.rehearsal`).
"""

import collections
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from postmortem.errors import PatternError
from postmortem.knowledge import attack, attack_texts, exception_rules, schema, snippets
from postmortem.knowledge.compile import KINDS, entries
from postmortem.knowledge.engine import compiled
from postmortem.knowledge.named import Names, faults_of_names, regexes, unused
from postmortem.knowledge.questions import Strict
from postmortem.knowledge.yamlfile import line_of, read_yaml

MOST_ANCHOR_BYTES = 6
_FOR_PROOF = ("examples", "source")
_REGEXES = ("match", "pair", "loss_key", *exception_rules.PATTERNS)


def faults(folders: Iterable[Path], known: Iterable[Path] = ()) -> list[PatternError]:
    """Check the shape of all rules in `folders`.

    `known` folders are only consulted for the ids that rules refer to. Conditions that nothing
    names are looked for where all else is well: a file that cannot be read names nothing.
    """
    folders, known = list(folders), list(known)
    names = Names.of([*known, *folders])
    found: list[PatternError] = []
    seen: dict[tuple[str, str], Path] = {}
    for root in folders:
        for kind in KINDS:
            found += _faults_of_kind(root, kind, names, seen)
        found += _faults_of_taxonomy(root)
    return found or list(unused(folders, names))


def malformed(folder: Path) -> Iterator[PatternError]:
    """Yield what a run could not work with: the wrong shape of a rule, a regex that is none.

    What serves only the proof of a rule, its examples, may be missing here.
    """
    for kind in KINDS:
        for path, entry in entries(folder / kind):
            name = str(entry.get("id"))
            wrong = [
                (what, mend)
                for what, mend in _faults_of_shape(kind, entry)
                if not what.startswith(_FOR_PROOF)
            ]
            for field in _REGEXES:
                if isinstance(entry.get(field), str) and not wrong:
                    wrong += _regex_faults(entry[field])
            for what, mend in wrong:
                yield PatternError(f"{name}: {what}", f"{path}:{line_of(path, name)}", mend)


def _faults_of_kind(
    root: Path, kind: str, names: Names, seen: dict[tuple[str, str], Path]
) -> list[PatternError]:
    found: list[PatternError] = []
    try:
        rules = list(entries(root / kind))
    except PatternError as error:
        return [error]
    for path, entry in rules:
        name = str(entry.get("id"))
        where = f"{path}:{line_of(path, name)}"
        if (kind, name) in seen:
            mend = f"rename it; the other is in {seen[kind, name]}"
            found.append(PatternError(f"the id {name} stands twice", where, mend))
        seen[kind, name] = path
        found += [
            PatternError(f"{name}: {what}", where, mend)
            for what, mend in _faults_of_shape(kind, entry) or _faults_of_rule(kind, entry, names)
        ]
    return found


def _faults_of_shape(kind: str, entry: dict[str, Any]) -> list[tuple[str, str]]:
    try:
        schema.MODELS[kind].model_validate(entry)
    except ValidationError as error:
        mend = "see patterns/README.md for the shape"
        return [
            (f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}", mend)
            for fault in error.errors()
        ]
    return []


def _faults_of_rule(kind: str, entry: dict[str, Any], names: Names) -> Iterator[tuple[str, str]]:
    for field in _REGEXES:
        if entry.get(field):
            yield from _regex_faults(entry[field])
    for word in entry.get("beside", ()):
        yield from _regex_faults(word)
    if kind == "signatures":
        yield from _signature_faults(entry)
    for cause in _causes_named(kind, entry):
        if cause not in names.causes:
            yield (
                f"the cause {cause} is not in taxonomy.yaml",
                "correct the id, or add it to taxonomy.yaml",
            )
    yield from _snippet_faults(entry)
    yield from faults_of_names(kind, entry, names)


def _signature_faults(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for anchor in entry["anchors"]:
        if len(anchor.encode()) < MOST_ANCHOR_BYTES:
            yield (
                f"the anchor {anchor!r} is shorter than {MOST_ANCHOR_BYTES} bytes",
                "take a longer literal",
            )
    examples = entry["examples"]["fires"]
    if entry.get("lines", 1) == 1 and any("\n" in example["text"] for example in examples):
        yield "an example has several lines but `lines` is 1", "set `lines`"


def _snippet_faults(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    own = {
        f"of fix {number}": fix["snippet"]
        for number, fix in enumerate(entry.get("fixes", ()), 1)
        if fix.get("snippet")
    }
    for name, snippet in {**entry.get("snippets", {}), **own}.items():
        for comment in snippets.strangers(snippets.snippet(snippet)):
            yield (
                f"the snippet {name} has no comment {comment!r}",
                "a key of `zh` is a comment of `code`, from behind its # to the end of the line",
            )


def _regex_faults(pattern: str) -> Iterator[tuple[str, str]]:
    try:
        compiled(pattern)
    except ValueError as error:
        yield f"not a valid regex: {error}", "correct `match`"


def slow_patterns(entry: Mapping[str, Any]) -> Iterator[PatternError]:
    """Yield a fault for each pattern of a rule that is slow on the texts its structure suggests.

    The patterns of a condition's predicate are among them.
    """
    for field in ("match", "unless", "pair", "loss_key"):
        if entry.get(field):
            is_several_lines = entry.get("lines", 1) > 1
            outcome = attack.worst(
                _search(field, entry),
                attack_texts.attacks(
                    entry[field], anchors=entry.get("anchors", ())[:2], many_lines=is_several_lines
                ),
            )
            yield from _slow(entry, f"`{field}`", outcome)
    for field in exception_rules.PATTERNS:
        if entry.get(field) and not {"match", "package"} & set(entry):
            outcome = attack.worst(
                compiled(entry[field]).search, attack_texts.attacks(entry[field], many_lines=True)
            )
            yield from _slow(entry, f"`{field}`", outcome)
    for word in entry.get("beside", ()):
        outcome = attack.worst(compiled(word).search, attack_texts.attacks(word))
        yield from _slow(entry, f"`beside` {word}", outcome)
    for asked in dict.fromkeys(
        (*regexes(entry.get("holds")), *filter(None, (entry.get("message"),)))
    ):
        outcome = attack.worst(compiled(f"(?i){asked}").search, attack_texts.attacks(asked))
        yield from _slow(entry, f"the predicate ~{asked}", outcome)


def _slow(entry: Mapping[str, Any], what: str, outcome: attack.Outcome) -> Iterator[PatternError]:
    if outcome.is_slow:
        yield PatternError(
            f"{entry['id']}: {what} is slow: {outcome}",
            entry.get("file", ""),
            "bound what repeats, let nothing match in two ways, say with `unless` what is"
            " something else",
        )


def _search(field: str, entry: Mapping[str, Any]) -> Callable[[str], object]:
    """Give the search that a run does with a pattern: for one match, or for all."""
    pattern = compiled(entry[field])
    if field == "unless" or (field == "match" and not entry.get("each")):
        return pattern.search
    return lambda text: collections.deque(pattern.finditer(text), maxlen=0)


def _causes_named(kind: str, entry: dict[str, Any]) -> list[str]:
    if kind == "signatures":
        return list(entry.get("suggests", {}))
    if kind == "causes":
        return [entry["id"], *(item["from"] for item in entry.get("separates", ()))]
    return list(entry.get("causes", ())) if kind in {"exceptions", "fixes", "advisories"} else []


def _faults_of_taxonomy(root: Path) -> list[PatternError]:
    found: list[PatternError] = []
    path = root / "taxonomy.yaml"
    content = (read_yaml(path) or {}) if path.is_file() else {}
    gpus = read_yaml(root / "gpus.yaml") if (root / "gpus.yaml").is_file() else []
    checks: list[tuple[type[Strict], Any, str]] = [
        (schema.TaxonomyEntry, entry, name) for name, entry in content.get("causes", {}).items()
    ]
    checks += [
        (schema.PrecedenceEntry, entry, str(entry.get("winner")))
        for entry in content.get("precedence", ())
    ]
    checks += [(schema.GpuRow, entry, str(entry.get("name"))) for entry in gpus]
    keys = read_yaml(root / "keys.yaml") if (root / "keys.yaml").is_file() else []
    checks += [(schema.KeyRow, entry, str(entry.get("to"))) for entry in keys]
    for model, entry, name in checks:
        try:
            model.model_validate(entry)
        except ValidationError as error:
            found += [
                PatternError(
                    f"{name}: {fault['loc']}: {fault['msg']}", path, "see patterns/README.md"
                )
                for fault in error.errors()
            ]
    return found
