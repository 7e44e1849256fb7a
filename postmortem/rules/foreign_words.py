"""Check that no fix offers code of one stack in the name of another.

In: compiled rules. Out: faults. Not here: the shape of rules (`rules.schema`), the platform's
words, which are looked at when a fix is chosen (`fixes.stack_selection`).
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from postmortem.core.errors import PatternError
from postmortem.rules.stack_rules import (
    ANY,
    MODEL,
    TRAINER,
    StackRules,
    build_stack_rule,
    compile_word_pattern,
)


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
