"""Prove rules on examples: their own, those of metrics, healthy logs, code of foreign stacks.

In: rules as plain mappings or compiled, a folder of labelled samples. Out: a `PatternError` for
every example that misbehaves once it is cleaned as a real log is, for every class of metrics that
misses its own examples or takes a look-alike, for every anchor that is no rare literal, for every
fix that offers code of one stack in the name of another. Not here: the shape of a rule
(`rules.check`), whether a rule fires wrongly in a whole log (the samples' own labels), the
platform's words, which are looked at when a fix is chosen (`fixes.stack_selection`).

A line with an anchor is cleaned and searched, which costs a hundred times what reading it costs. An
anchor may stand a few times in a log, where a run begins or ends; one that stands in every metric
line slows every run down.
"""

import collections
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import regex

from postmortem.core.errors import PatternError
from postmortem.extraction.scanning import build_prefilter
from postmortem.reading.prefixes import clean
from postmortem.reading.windows import View
from postmortem.rules import attack
from postmortem.rules.base import Rule
from postmortem.rules.engine import TIMEOUT
from postmortem.rules.vocabulary import (
    ANY,
    MODEL,
    TRAINER,
    MetricTable,
    StackRules,
    Trait,
    build_file_format,
    build_stack_rule,
    compile_word_pattern,
    has_trait,
)


def match_captures(rule: dict[str, Any], text: str) -> dict[str, str] | None:
    """Give the named groups if the rule fires on the text, else None.

    An anchor must be there and the cleaned lines must match.
    """
    lines = text.split("\n")
    searched = Rule(rule["id"], (), rule["match"], rule)
    for index, line in enumerate(lines):
        if any(anchor in line for anchor in rule["anchors"]):
            window = "\n".join(
                clean(line).text for line in lines[index : index + rule.get("lines", 1)]
            )
            if match := searched.search(window):
                return {
                    name: value for name, value in match.groupdict().items() if value is not None
                }
    return None


def find_example_errors(rules: Iterable[dict[str, Any]]) -> Iterator[PatternError]:
    """Yield a fault for each example that does not do what it says."""
    for rule in rules:
        for example in rule["examples"]["fires"]:
            got = match_captures(rule, example["text"])
            if got is None:
                has_anchor = any(anchor in example["text"] for anchor in rule["anchors"])
                hint = "correct `match`" if has_anchor else "none of its anchors is in the example"
                yield PatternError(
                    f"{rule['id']} does not fire on its own example: {example['text'][:160]!r}",
                    rule.get("file", ""),
                    hint,
                )
                continue
            for name, value in example.get("captures", {}).items():
                if got.get(name) != str(value):
                    yield PatternError(
                        f"{rule['id']} captures {name}={got.get(name)!r}, the example says"
                        f" {value!r}",
                        rule.get("file", ""),
                        "correct either",
                    )
        for example in rule["examples"]["silent"]:
            if match_captures(rule, example["text"]) is not None:
                yield PatternError(
                    f"{rule['id']} wrongly fires on: {example['text'][:160]!r}",
                    rule.get("file", ""),
                    "make `match` or `anchors` narrower",
                )


def find_stack_errors(rules: Mapping[str, Sequence[dict[str, Any]]]) -> Iterator[PatternError]:
    """Yield a fault for each stack that is not recognised where it should be, or where not.

    `rules` are compiled; a stack is recognised by its own literals, or by a format that names it,
    as a framework or as the back-end. A system is what a dump says of itself, in many formats.
    """
    for stack in rules["stacks"]:
        if stack.get("kind") == "system":
            continue
        own = [rule for rule in rules["formats"] if stack["id"] in _get_framework_and_backend(rule)]
        seen = build_file_format(stack)
        if seen is not None:
            own.append(seen)
        for kind, is_wanted in (("fires", True), ("silent", False)):
            for example in stack["examples"][kind]:
                found = next(
                    (r["id"] for r in own if match_captures(r, example["text"]) is not None), ""
                )
                if bool(found) != is_wanted:
                    yield PatternError(
                        f"the stack {stack['id']} is {'' if found else 'not '}recognised"
                        f" {f'by {found} ' if found else ''}in: {example['text'][:160]!r}",
                        stack.get("file", ""),
                        "correct `paths`, `packages`, `imports`, or the rule in formats/",
                    )


def _get_framework_and_backend(format_: Mapping[str, Any]) -> tuple[Any, Any]:
    """Name the framework and the back-end that a format shows."""
    return format_.get("framework"), (format_.get("set") or {}).get("env_backend")


_PER_LOG: Final = {"metrics": 20}
_ELSEWHERE: Final = 10
"""Lines of a healthy log in which an anchor may stand in vain, where a run begins, saves or ends;
those of a metric format stand in their own program's other lines as well."""
_PER_MEGABYTE: Final = 1
"""Further ones for each megabyte."""


def list_healthy_logs(samples: Path) -> list[Path]:
    """Give the logs whose label says that the run was healthy."""
    found: list[Path] = []
    for label in sorted(samples.rglob("*.yaml")):
        first = label.read_text(encoding="utf-8").partition("\n")[0]
        cause = first.removeprefix("cause:").strip()
        if first != cause and has_trait(cause, Trait.SOUND):
            siblings = [
                label.with_suffix(""),
                *(path for path in sorted(label.parent.glob(f"{label.stem}.*")) if path != label),
            ]
            found += [
                path
                for sibling in siblings
                for path in (
                    [sibling]
                    if sibling.is_file()
                    else sorted(sibling.rglob("*"))
                    if sibling.is_dir()
                    else []
                )
                if path.is_file()
            ]
    return found


def find_frequency_errors(
    rules: Sequence[dict[str, Any]], logs: Iterable[Path]
) -> Iterator[PatternError]:
    """Yield a fault for each anchor that stands too often on lines that its rule does not match."""
    owners: dict[bytes, list[Rule]] = {}
    for raw in rules:
        for anchor in raw["anchors"]:
            owners.setdefault(anchor.encode(), []).append(Rule(raw["id"], (), raw["match"], raw))
    literals = list(owners)
    reported: set[tuple[str, bytes]] = set()
    finder = build_prefilter(literals)
    for log in logs:
        data = log.read_bytes()
        for (name, anchor), lines in _count_unmatched_anchors(
            data,
            [(literals[number], start) for number, start in finder.hits(data, 0, len(data))],
            owners,
        ).items():
            rule = next(rule for rule in owners[anchor] if rule.id == name)
            most = (
                _PER_LOG.get(rule.raw.get("kind", ""), _ELSEWHERE) + _PER_MEGABYTE * len(data) / 1e6
            )
            if lines > most and (name, anchor) not in reported:
                reported.add((name, anchor))
                yield PatternError(
                    f"{name}: the anchor {anchor.decode()!r} stands in vain in {lines} lines of a"
                    f" healthy log, {log.name} ({len(data) / 1e6:.2g} MB)",
                    rule.raw.get("file", ""),
                    "take a literal that ordinary lines lack",
                )


def _count_unmatched_anchors(
    data: bytes, hits: Iterable[tuple[bytes, int]], owners: dict[bytes, list[Rule]]
) -> collections.Counter[tuple[str, bytes]]:
    """Count the lines that hold an anchor and are not what its rule looks for, by both."""
    lines: dict[tuple[int, bytes], View] = {}
    for anchor, start in hits:
        view = View(data, start, 0, srun=False)
        lines.setdefault((view.start, anchor), view)
    return collections.Counter(
        (rule.id, anchor)
        for (_, anchor), view in lines.items()
        for rule in owners[anchor]
        if rule.search("\n".join(view.following(int(rule.raw.get("lines") or 1)))) is None
    )


def find_metric_errors(
    rows: Iterable[Mapping[str, Any]], whole: Iterable[Mapping[str, Any]], *, attacks: bool
) -> Iterator[PatternError]:
    """Yield what is wrong with rows: a pattern, a class that they name, an example.

    Args:
        rows: those that are checked.
        whole: all that they may name, themselves among them.
        attacks: whether to time the patterns.
    """
    whole = list(whole)
    ids = {row["id"] for row in whole}
    for row in rows:
        faults = list(_find_pattern_faults(row, ids, attacks=attacks))
        for what, mend in faults or _find_example_faults(row, whole):
            yield PatternError(f"{row['id']}: {what}", "metrics.yaml", mend)


def _find_pattern_faults(
    row: Mapping[str, Any], ids: set[str], *, attacks: bool
) -> Iterator[tuple[str, str]]:
    for other in row.get("not", ()):
        if other not in ids:
            yield f"no class has the id {other!r}", "name a row of metrics.yaml"
    pattern = MetricTable([row])[row["id"]][0].pattern.pattern
    try:
        re.compile(pattern, re.IGNORECASE)
        engine = regex.compile(pattern, regex.IGNORECASE)
    except (re.error, regex.error) as error:
        yield f"not a valid regex: {error}", "correct `names` or `match`"
        return
    if attacks:
        # It backtracks as `re` does, which a run searches names with, and can give up.
        outcome = attack.find_worst_attack(
            lambda text: engine.search(text, timeout=TIMEOUT), attack.build_attacks(pattern)
        )
        if outcome.is_slow:
            yield f"its pattern is slow: {outcome}", "bound what repeats"


def _find_example_faults(
    row: Mapping[str, Any], whole: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield the examples that the row, with the rest of the table beside it, takes wrongly."""
    alone = MetricTable([row, *(other for other in whole if other["id"] != row["id"])])
    for name in row["examples"]["belongs"]:
        if not alone.is_any(name, row["id"]):
            yield f"it does not take {name!r}", "correct the pattern or the example"
    for example in row["examples"]["others"]:
        if alone.is_any(example["name"], row["id"]):
            yield f"it takes {example['name']!r}", "correct the pattern or the example"


def find_foreign_words(
    rules: Mapping[str, Sequence[Mapping[str, Any]]], only: Container[str] | None = None
) -> Iterator[PatternError]:
    """Yield what is wrong between fixes and stacks: names that are not there, foreign words.

    Fixes and stacks of all files are looked at, or those of the files `only`.
    """
    stacks = StackRules(build_stack_rule(entry) for entry in rules["stacks"])
    files = {entry["id"]: str(entry.get("file", "")) for entry in rules["stacks"]}
    fixes = {entry["id"]: entry for entry in rules["fixes"]}
    seen = {entry.get("framework") for entry in rules["formats"]}
    checked = _select(rules["stacks"], only)
    for entry in checked:
        yield from _find_stack_faults(entry, stacks, seen, fixes, files)
    words = _Vocabulary(stacks)
    for fix in _select(rules["fixes"], only):
        yield from _find_fix_faults(fix, words, files)
        if fix.get("snippets_of", fix["id"]) not in fixes:
            what = f"{fix['id']}: no fix is called {fix['snippets_of']}"
            yield PatternError(what, str(fix.get("file", "")), "correct `snippets_of`")
    for name in (entry["id"] for entry in checked):
        for fix_id, own in stacks.get(name).snippets.items():
            yield from words.find_foreign_words(
                f"{fix_id} for {name}", own.code, [name], files[name]
            )


def _select(
    entries: Iterable[Mapping[str, Any]], only: Container[str] | None
) -> list[Mapping[str, Any]]:
    """Select the entries of these files; without files, all."""
    return [entry for entry in entries if only is None or entry.get("file") in only]


def _find_stack_faults(
    entry: Mapping[str, Any],
    stacks: StackRules,
    seen: set[Any],
    fixes: Mapping[str, Any],
    files: Mapping[str, str],
) -> Iterator[PatternError]:
    name = entry["id"]
    for key in ("over", "takes", "beside"):
        for other in entry.get(key) or ():
            if other not in files:
                yield PatternError(
                    f"{name}: no stack is called {other}", files[name], f"correct `{key}`"
                )
    if name in stacks.list_below(name):
        yield PatternError(f"{name} stands on itself in the end", files[name], "correct `over`")
    for fix in entry.get("snippets") or {}:
        if fix not in fixes:
            yield PatternError(f"{name}: no fix is called {fix}", files[name], "correct the id")
    is_platform = entry.get("kind", TRAINER) != TRAINER
    if not (is_platform or entry.get("paths") or entry.get("packages") or name in seen):
        yield PatternError(
            f"{name}: nothing recognises this stack, so that its snippets are never shown",
            files[name],
            "give `paths` or `packages`, or a rule in formats/ with this `framework`",
        )


def _find_fix_faults(
    fix: Mapping[str, Any], words: "_Vocabulary", files: Mapping[str, str]
) -> Iterator[PatternError]:
    place, meant = str(fix.get("file", "")), [*(fix.get("stacks") or ()), *words.list_subjects(fix)]
    for name in (*meant, *(fix.get("snippets") or {})):
        if name not in {ANY, MODEL, *files}:
            yield PatternError(
                f"{fix['id']}: no stack is called {name}", place, f"write stacks/{name}.yaml"
            )
    for text in ("title", "why"):
        for language in ("en", "zh"):
            yield from words.find_foreign_words(
                f"{fix['id']}.{text}", fix[text][language], meant, place
            )
    for name, snippet in (fix.get("snippets") or {}).items():
        mine = meant if name in {ANY, MODEL} else [name, *meant]
        yield from words.find_foreign_words(f"{fix['id']} for {name}", snippet["code"], mine, place)


class _Vocabulary:
    """The words of all trainers, and who may use them."""

    def __init__(self, stacks: StackRules) -> None:
        """Take all stacks."""
        self._stacks = stacks
        self._owners: dict[str, set[str]] = {}
        for stack in stacks:
            if stack.kind == TRAINER:
                for word in stack.words:
                    self._owners.setdefault(word, set()).add(stack.id)
        patterns = (
            f"(?:{compile_word_pattern(word).pattern})"
            for word in sorted(self._owners, reverse=True)
        )
        self._any = re.compile("|".join(patterns) or r"(?!)")

    def list_subjects(self, fix: Mapping[str, Any]) -> list[str]:
        """Name the stacks of which all causes of a fix are."""
        return [stack.id for stack in self._stacks if stack.causes.issuperset(fix["causes"])]

    def find_foreign_words(
        self, what: str, text: str, mine: Sequence[str], place: str
    ) -> Iterator[PatternError]:
        """Yield a fault for each word of a stack that is none of these and that they do not use."""
        allowed = {near for name in mine for near in self._list_near_stacks(name)}
        for word in dict.fromkeys(self._any.findall(text)):
            owners = self._owners[word]
            if not owners & allowed:
                yield PatternError(
                    f"{what}: {word!r} is a word of {', '.join(sorted(owners))}",
                    place,
                    "say it without, or in the snippet of that stack",
                )

    def _list_near_stacks(self, name: str) -> set[str]:
        """Name the stacks whose words the users of a stack know: its own, and what it uses."""
        taken = self._stacks.list_taken(name)
        accompanying = (stack for key in taken for stack in self._stacks.get(key).beside)
        return {
            *taken,
            *accompanying,
            *(below for key in taken for below in self._stacks.list_below(key)),
        }
