"""Check pattern folders: every fault of every file at once, each with file and line.

In: folders. Out: a list of `PatternError`, empty if all is well.
Not here: whether examples fire, which needs the matching engine (`signatures.proof`).
"""

import collections
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from postmortem.errors import PatternError
from postmortem.knowledge import attack, schema, snippets
from postmortem.knowledge.catalogue import CATALOGUE
from postmortem.knowledge.compile import KINDS, entries
from postmortem.knowledge.engine import compiled
from postmortem.knowledge.yamlfile import line_of, read_yaml

_PREDICATES = frozenset(
    {
        "signature",
        "shape",
        "precision",
        "framework",
        "setting",
        "package",
        "gpu",
        "env",
        "traceback",
        "outcome",
        "all",
        "any",
        "not",
    }
)
_GPU_KEYS = frozenset({"capability", "name", "memory_gib", "count"})
_ENV_KEYS = frozenset(
    {
        "os",
        "python",
        "cuda",
        "driver",
        "exit_status",
        "signal",
        "world_size",
        "launcher",
        "precision",
    }
)
_TRACEBACK_KEYS = frozenset(
    {"exception", "message", "file", "frame", "code", "raised_in", "inner_code"}
)
MOST_ANCHOR_BYTES = 6


def faults(folders: Iterable[Path], known: Iterable[Path] = ()) -> list[PatternError]:
    """Check the shape of all rules in `folders`.

    `known` folders are only consulted for the ids that rules refer to.
    """
    folders = list(folders)
    ids = _ids([*known, *folders])
    found: list[PatternError] = []
    seen: dict[tuple[str, str], Path] = {}
    for root in folders:
        for kind in KINDS:
            found += _faults_of_kind(root, kind, ids, seen)
        found += _faults_of_taxonomy(root)
    return found


def _faults_of_kind(
    root: Path, kind: str, ids: dict[str, set[str]], seen: dict[tuple[str, str], Path]
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
            found.append(
                PatternError(
                    f"the id {name} stands twice",
                    where,
                    f"rename it; the other is in {seen[kind, name]}",
                )
            )
        seen[kind, name] = path
        try:
            schema.MODELS[kind].model_validate(entry)
        except ValidationError as error:
            for fault in error.errors():
                place = ".".join(str(part) for part in fault["loc"])
                found.append(
                    PatternError(
                        f"{name}: {place}: {fault['msg']}",
                        where,
                        "see patterns/README.md for the shape",
                    )
                )
            continue
        found += [
            PatternError(f"{name}: {what}", where, mend)
            for what, mend in _faults_of_rule(kind, entry, ids)
        ]
    return found


def _faults_of_rule(
    kind: str, entry: dict[str, Any], ids: dict[str, set[str]]
) -> Iterator[tuple[str, str]]:
    for field in ("match", "unless", "pair", "loss_key"):
        if entry.get(field):
            yield from _regex_faults(entry[field])
    for anchor in entry.get("anchors", ()):
        if len(anchor.encode()) < MOST_ANCHOR_BYTES and kind == "signatures":
            yield (
                f"the anchor {anchor!r} is shorter than {MOST_ANCHOR_BYTES} bytes",
                "take a longer literal",
            )
    for cause in _causes_named(kind, entry):
        if cause not in ids["taxonomy"]:
            yield (
                f"the cause {cause} is not in taxonomy.yaml",
                "correct the id, or add it to taxonomy.yaml",
            )
    if (
        entry.get("lines", 1) == 1
        and any("\n" in example["text"] for example in entry.get("examples", {}).get("fires", ()))
        and kind == "signatures"
    ):
        yield "an example has several lines but `lines` is 1", "set `lines`"
    yield from _snippet_faults(entry)
    for predicate in _predicates(entry):
        yield from _predicate_faults(predicate, ids)


def _snippet_faults(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, snippet in entry.get("snippets", {}).items():
        for comment in snippets.strangers(snippet):
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
    """Yield a fault for each pattern of a rule, those of its predicates too, that is slow on the texts that its structure suggests."""
    mend = (
        "bound what repeats, let nothing match in two ways, say with `unless` what is something"
        " else"
    )
    for field in ("match", "unless", "pair", "loss_key"):
        if entry.get(field):
            pattern = compiled(entry[field])
            is_one = field == "unless" or (field == "match" and not entry.get("each"))
            search = (
                pattern.search
                if is_one
                else lambda text, pattern=pattern: collections.deque(
                    pattern.finditer(text), maxlen=0
                )
            )
            outcome = attack.worst(
                search,
                attack.attacks(
                    entry[field], anchors=entry["anchors"][:2], many_lines=entry.get("lines", 1) > 1
                ),
            )
            if outcome.is_slow:
                yield PatternError(
                    f"{entry['id']}: `{field}` is slow: {outcome}", entry.get("file", ""), mend
                )
    for asked in dict.fromkeys(_regexes([*_predicates(entry)])):
        outcome = attack.worst(compiled(f"(?i){asked}").search, attack.attacks(asked))
        if outcome.is_slow:
            yield PatternError(
                f"{entry['id']}: the predicate ~{asked} is slow: {outcome}",
                entry.get("file", ""),
                mend,
            )


def _regexes(predicate: Any) -> Iterator[str]:
    """Give the regexes within predicates."""
    if isinstance(predicate, str) and predicate.startswith("~"):
        yield predicate[1:]
    elif isinstance(predicate, (dict, list)):
        for inner in predicate.values() if isinstance(predicate, dict) else predicate:
            yield from _regexes(inner)


def _causes_named(kind: str, entry: dict[str, Any]) -> list[str]:
    if kind == "signatures":
        return list(entry.get("suggests", {}))
    if kind == "causes":
        return [entry["id"], *(item["from"] for item in entry.get("separates", ()))]
    return list(entry.get("causes", ())) if kind in {"fixes", "advisories"} else []


def _predicates(entry: Mapping[str, Any]) -> Iterator[Any]:
    for item in (*entry.get("for", ()), *entry.get("against", ())):
        yield item["if"]
    if entry.get("when"):
        yield entry["when"]


def _predicate_faults(predicate: Any, ids: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    if not isinstance(predicate, dict) or not predicate:
        yield f"not a predicate: {predicate!r}", "a mapping such as {shape: hidden-nan}"
        return
    for key, value in predicate.items():
        if key not in _PREDICATES:
            yield f"unknown predicate {key!r}", f"one of {', '.join(sorted(_PREDICATES))}"
        elif key in {"all", "any"}:
            for inner in value:
                yield from _predicate_faults(inner, ids)
        elif key == "not":
            yield from _predicate_faults(value, ids)
        else:
            yield from _leaf_faults(key, value, ids)


def _leaf_faults(key: str, value: Any, ids: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    values = value if isinstance(value, list) else [value]
    if key == "shape":
        for name in values:
            if name not in CATALOGUE:
                yield f"unknown shape {name!r}", f"one of {', '.join(sorted(CATALOGUE))}"
    elif key == "signature":
        for name in values:
            if (
                not (
                    name.endswith(".*")
                    and any(one.startswith(name[:-1]) for one in ids["signatures"])
                )
                and name not in ids["signatures"]
            ):
                yield f"no signature has the id {name!r}", "correct the id"
    for name, allowed in (("gpu", _GPU_KEYS), ("env", _ENV_KEYS), ("traceback", _TRACEBACK_KEYS)):
        if key == name and (not isinstance(value, dict) or not set(value) <= allowed):
            yield f"{name}: takes only {', '.join(sorted(allowed))}", "correct the key"


def _ids(folders: Iterable[Path]) -> dict[str, set[str]]:
    ids: dict[str, set[str]] = {kind: set() for kind in (*KINDS, "taxonomy")}
    for root in folders:
        for kind in KINDS:
            try:
                ids[kind].update(str(entry.get("id")) for _, entry in entries(root / kind))
            except PatternError:
                continue
        if (root / "taxonomy.yaml").is_file():
            ids["taxonomy"].update((read_yaml(root / "taxonomy.yaml") or {}).get("causes", {}))
    return ids


def _faults_of_taxonomy(root: Path) -> list[PatternError]:
    found: list[PatternError] = []
    path = root / "taxonomy.yaml"
    content = (read_yaml(path) or {}) if path.is_file() else {}
    gpus = read_yaml(root / "gpus.yaml") if (root / "gpus.yaml").is_file() else []
    checks: list[tuple[type[schema.Strict], Any, str]] = [
        (schema.TaxonomyEntry, entry, name) for name, entry in content.get("causes", {}).items()
    ]
    checks += [
        (schema.Precedence, entry, str(entry.get("winner")))
        for entry in content.get("precedence", ())
    ]
    checks += [(schema.GpuEntry, entry, str(entry.get("name"))) for entry in gpus]
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
