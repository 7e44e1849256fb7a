"""What an exception means and what to do first: rules for the wording of Python and of libraries.

In: compiled entries of `exceptions/`, and the parts that a signature may have as well. Out:
`ExceptionRule`, `Advice`, whose texts carry every language and have places for names of the log.
Not here: which rule fits a failure and filling the places (`fixes.exception_advice`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core.findings import Frame
from postmortem.rules.cause_rules import Snippet, Text, parse_snippet
from postmortem.rules.engine import Match, compile_pattern

PATTERNS: Final = ("message", "unless", "code", "frames")
"""The fields of a rule that hold a regex."""
_LONGEST: Final = 4000
"""Characters of a message that are searched."""
_USUAL_ORDER: Final = 50
_BROAD: Final = 40
"""The order from which a rule goes by the form of a message, not by what it names."""
_LOOKING_UP: Final = frozenset({"__getattr__", "__getattribute__", "__getitem__", "__missing__"})


class AdviceFix(NamedTuple):
    """One thing to do, with places for names of the log."""

    id: str
    kind: str
    title: Text
    why: Text | None
    snippet: Snippet | None
    safety: str
    references: tuple[str, ...]
    is_otherwise: bool
    """It is shown only where none before it is."""


class Advice(NamedTuple):
    """What a message means for the run at hand, and what to do about it."""

    id: str
    meaning: Text | None
    fixes: tuple[AdviceFix, ...]
    causes: frozenset[str]
    """Whose general checks and precautions fit behind these."""
    main_cause: str = ""
    """The first of them."""
    keeps_changes: bool = False
    """Their general changes fit as well."""
    is_last_resort: bool = False
    """It says nothing for causes other than these."""
    is_broad: bool = False
    """It fits whatever is worded so, so that another cause knows better."""


class Raised(NamedTuple):
    """An exception as the log shows it, or a line that tells of a failure without its class."""

    exception: str
    """The last part of the class; empty where none is printed."""
    message: str
    code: str
    """The statement of the innermost frame of the user's own code."""
    frames: str
    """All frames, a line each: `path:function: statement`."""
    in_library: bool
    """The innermost frame is a library's."""
    entered: str = ""
    """The function that the user's statement went into."""


class ExceptionRule(NamedTuple):
    """A wording of an exception, and the advice that goes with it."""

    advice: Advice
    exceptions: frozenset[str]
    """Last parts of classes; empty: any."""
    patterns: Mapping[str, str]
    """Regexes under the names of `PATTERNS`."""
    raised_in: str
    """user | library | empty: either."""
    order: int
    """Of several that fit the smallest is taken."""
    needs_class: bool
    """It does not fit a line that names no class of exception."""
    renamed: Mapping[str, str]
    """New names by old ones: it fits only where `name` is an old one, and gives `meant`."""
    words: Mapping[str, Sequence[str]]
    """Words of which each match of a pattern holds one, by its field."""

    def captures(self, raised: Raised) -> dict[str, str] | None:
        """Give the named groups if the rule fits, else None."""
        found = self._found(raised) if self._is_asked_of(raised) else None
        if found is None or not self.renamed:
            return found
        meant = self.renamed.get(found.get("name", ""))
        return found | {"meant": meant} if meant else None

    def _is_asked_of(self, raised: Raised) -> bool:
        """Say whether the class and the place where it was raised fit."""
        if not raised.exception:
            is_class = not self.needs_class
        else:
            is_class = not self.exceptions or raised.exception in self.exceptions
        return is_class and self.raised_in in {"", "library" if raised.in_library else "user"}

    def _found(self, raised: Raised) -> dict[str, str] | None:
        """Give the named groups of all patterns, or None where one does not fit."""
        texts = {"code": raised.code, "frames": raised.frames}
        found: dict[str, str] = {}
        for field, pattern in self.patterns.items():
            text = texts.get(field, raised.message[:_LONGEST])
            words = self.words.get(field)
            is_possible = not words or any(word in text for word in words)
            match = _searched(pattern, text) if is_possible else None
            if (match is None) != (field == "unless"):
                return None
            if match is not None:
                found |= {name: value for name, value in match.groupdict().items() if value}
        return found


def _searched(pattern: str, text: str) -> Match | None:
    try:
        return compile_pattern(pattern).search(text)
    except TimeoutError:
        return None


def fitting(
    raised: Raised, rules: Iterable[ExceptionRule]
) -> tuple[ExceptionRule, dict[str, str]] | None:
    """Give the first rule that fits, with what it captures, or None."""
    for rule in rules:
        captures = rule.captures(raised)
        if captures is not None:
            return rule, captures
    return None


def raised_as(
    exception: str, message: str, frames: Iterable[Frame], own: Frame | None = None
) -> Raised:
    """Put an exception into the form that rules ask."""
    kept = list(frames)
    mine = own or next((one for one in reversed(kept) if not one.is_library), None)
    return Raised(
        exception.rpartition(".")[2],
        message,
        mine.code.strip() if mine is not None else "",
        "\n".join(f"{one.file}:{one.function}: {one.code.strip()}" for one in kept),
        _is_in_library(kept),
        next((one.function for one in kept[kept.index(mine) + 1 :]), "") if mine in kept else "",
    )


def _is_in_library(frames: Sequence[Frame]) -> bool:
    """Say whether a library raised it; what it does to look a name up is the user's statement."""
    inner = [one for one in frames if one.function not in _LOOKING_UP or not one.is_library]
    return bool(inner) and inner[-1].is_library


def type_rules(entries: Sequence[Mapping[str, Any]]) -> tuple[ExceptionRule, ...]:
    """Type the rules, those that are asked first in front."""
    rules = [
        ExceptionRule(
            advice(entry),
            frozenset(entry.get("exception") or ()),
            {field: entry[field] for field in PATTERNS if entry.get(field)},
            entry.get("raised_in", ""),
            entry.get("order", _USUAL_ORDER),
            bool(entry.get("with_class")) or not entry.get("message"),
            entry.get("renamed") or {},
            entry.get("words") or {},
        )
        for entry in entries
    ]
    return tuple(sorted(rules, key=lambda rule: (rule.order, rule.advice.id)))


def advice(entry: Mapping[str, Any]) -> Advice:
    """Type the advice of a rule, or of a signature, which keeps general changes by default."""
    return Advice(
        entry["id"],
        entry.get("meaning"),
        tuple(_fixes(entry)),
        frozenset(entry.get("causes") or entry.get("suggests") or ()),
        next(iter(entry.get("causes") or ()), ""),
        bool(entry.get("keeps_changes", "suggests" in entry)),
        bool(entry.get("last_resort")),
        "exception" in entry and entry.get("order", _USUAL_ORDER) >= _BROAD,
    )


def _fixes(entry: Mapping[str, Any]) -> Iterator[AdviceFix]:
    for number, one in enumerate(entry.get("fixes") or (), 1):
        yield AdviceFix(
            f"{entry['id']}.fix-{number}",
            one.get("kind", "change"),
            one["title"],
            one.get("why"),
            parse_snippet(one["snippet"]) if one.get("snippet") else None,
            one.get("safety", "safe"),
            tuple(one.get("references") or ()),
            bool(one.get("otherwise")),
        )
