"""Stacks: frameworks, trainers, engines and platforms, in whose terms a fix is written.

In: compiled entries of `patterns/stacks`. Out: `StackRules`, and for each stack a rule that
recognises its files in frames and commands. Not here: which stacks a job has (`case.outcomes`),
which of them speaks for it (`fixes.stack_selection`).
"""

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from postmortem.core.resources import read_compiled_stack
from postmortem.rules.snippets import Snippet, parse_snippet

PLAIN: Final = "pytorch"
"""The stack of whoever writes the training loop in plain PyTorch."""
MODEL: Final = "model"
"""The key of code on the model, the data or a batch in PyTorch, without a loop."""
ANY: Final = "any"
"""The key of a snippet that names no stack."""
TRAINER: Final = "trainer"
_FOLDERS: Final = ("site-packages/", "dist-packages/", "site-packages\\", "dist-packages\\")
ENOUGH: Final = 3
"""Lines of a source that show a stack's files; more of them say nothing new."""


class StackRule(NamedTuple):
    """What is known of a stack."""

    id: str
    title: str
    kind: str = TRAINER
    """trainer | backend | system"""
    packages: tuple[str, ...] = ()
    """Names under which it is installed, the one that tells its version first."""
    over: tuple[str, ...] = (PLAIN,)
    """StackRules on which it stands, the nearest first."""
    takes: tuple[str, ...] = ()
    """StackRules whose snippets hold here as they stand."""
    beside: tuple[str, ...] = ()
    """StackRules whose own options its users write too, where they are in the job."""
    has_loop: bool = True
    """Whether the user writes the training loop."""
    has_model: bool = True
    """Whether the user's own code holds the model, as a PyTorch module, and the data."""
    defaults: Mapping[str, str] = MappingProxyType({})
    """Settings that are in force where nothing else is printed, under their common names."""
    causes: frozenset[str] = frozenset()
    """Causes of which it is the subject: their fixes speak of it, whatever else the log shows."""
    words: tuple[str, ...] = ()
    """Words that only its users type."""
    packed: str | None = "{}"
    """Its snippets, as JSON; None where they lie apart, in a wheel."""

    @property
    def snippets(self) -> Mapping[str, Snippet]:
        """Its snippets, by the id of the fix."""
        return _parse_snippets(self.id, self.packed)

    def find_snippet(self, *fixes: str) -> Snippet | None:
        """Give its snippet for the first of these fixes that has one."""
        return next((self.snippets[fix] for fix in fixes if fix in self.snippets), None)


class StackRules:
    """All stacks, and how they stand to each other."""

    def __init__(self, stacks: Iterable[StackRule] = ()) -> None:
        """Take them all."""
        self._by_id = {stack.id: stack for stack in stacks}

    def __iter__(self) -> Iterator[StackRule]:
        """Give them in the order of their ids."""
        return iter(self._by_id.values())

    def get(self, name: str) -> StackRule:
        """Give a stack; one without a file is a trainer over PyTorch of which nothing is known."""
        return self._by_id.get(name) or StackRule(name, name)

    def list_below(self, name: str) -> frozenset[str]:
        """Name all stacks on which a stack stands."""
        return frozenset(self._collect_reached(name, lambda stack: stack.over))

    def list_taken(self, name: str) -> list[str]:
        """Name the stacks whose snippets hold for a stack, its own first, the nearest next."""
        return [name, *self._collect_reached(name, lambda stack: stack.takes)]

    def _collect_reached(
        self, name: str, nearest: Callable[[StackRule], Iterable[str]]
    ) -> list[str]:
        found: list[str] = []
        left = list(nearest(self.get(name)))
        while left:
            stack = left.pop(0)
            if stack not in found and stack != name:
                found.append(stack)
                left += nearest(self.get(stack))
        return found


def build_stack_rule(entry: Mapping[str, Any]) -> StackRule:
    """Type a stack as its file describes it."""
    return StackRule(
        entry["id"],
        entry["title"],
        entry.get("kind", TRAINER),
        tuple(entry.get("packages") or ()),
        tuple(entry.get("over") or ()),
        tuple(entry.get("takes") or ()),
        tuple(entry.get("beside") or ()),
        bool(entry.get("loop", False)),
        bool(entry.get("model", entry.get("loop", False))),
        {name: str(value) for name, value in (entry.get("defaults") or {}).items()},
        frozenset(entry.get("causes") or ()),
        tuple(entry.get("words") or ()),
        _dump_snippets(entry),
    )


def _dump_snippets(entry: Mapping[str, Any]) -> str | None:
    raw = entry.get("snippets") or {}
    if entry.get("apart"):
        return None
    return raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)


def load_snippets(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Give the snippets of a compiled stack, wherever they lie."""
    return _load_packed_snippets(entry["id"], _dump_snippets(entry))


def _load_packed_snippets(name: str, packed: str | None) -> dict[str, Any]:
    return dict(json.loads(read_compiled_stack(name) if packed is None else packed))


@functools.lru_cache(maxsize=256)
def _parse_snippets(name: str, packed: str | None) -> dict[str, Snippet]:
    return {
        fix: parse_snippet(snippet) for fix, snippet in _load_packed_snippets(name, packed).items()
    }


def build_file_format(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give the rule that recognises a stack by its files; None where it names none.

    Literals are its `paths`, and the folders of its modules among installed packages.
    """
    modules = entry.get("imports")
    if modules is None:
        modules = [name.replace("-", "_") for name in entry.get("packages") or ()]
    anchors = [
        *(entry.get("paths") or ()),
        *(f"{folder}{name}{folder[-1]}" for name in modules for folder in _FOLDERS),
    ]
    if not anchors:
        return None
    return {
        "id": f"stack.{entry['id']}",
        "kind": "facts",
        "framework": entry["id"],
        "anchors": anchors,
        "match": "|".join(map(re.escape, anchors)),
        "enough": ENOUGH,
    }


def compile_word_pattern(word: str) -> "re.Pattern[str]":
    """Give the pattern of a word of a stack: as it stands, at the borders of words."""
    before = r"(?<![\w-])" if re.match(r"[\w-]", word) else ""
    behind = r"(?![\w-])" if re.search(r"\w$", word) else ""
    return re.compile(before + re.escape(word) + behind)
