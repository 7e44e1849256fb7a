"""Causes, fixes and advisories as typed values.

In: compiled entries, and the conditions that they name. Out: `CauseRule`, `FixRule`, `Advisory`,
whose texts carry every language. Not here: weighing (`inference.rules`), choosing and filling fixes
(`fixes.select`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from postmortem.rules.conditions import ALWAYS, Conditions, ConditionSet
from postmortem.rules.snippets import Snippet, parse_snippet

Text = Mapping[str, str]
"""A text for people, by language."""


class Argument(NamedTuple):
    """One item of evidence for or against a cause."""

    asked: ConditionSet
    level: str
    """decisive | strong | moderate | weak"""
    text: Text
    group: str | None
    """Of one group only the strongest item counts; None: the kind of what it points to."""


class Separation(NamedTuple):
    """The one observation that would tell a cause from a neighbour."""

    neighbour: str
    by: Text


class Decider(NamedTuple):
    """What to send or run when the log does not decide."""

    what: Text
    why: Text
    command: str
    given: tuple[str, ...] = ()
    """Where all of these were handed in, it is not asked for: `inference.available_inputs`."""


class CauseRule(NamedTuple):
    """What the file of a cause says; an id of the taxonomy without a file has the defaults."""

    id: str
    explanation: Text
    whose: str = "unknown"
    retry: str = "unknown"
    supporting: tuple[Argument, ...] = ()
    opposing: tuple[Argument, ...] = ()
    separations: tuple[Separation, ...] = ()
    deciders: tuple[Decider, ...] = ()
    retry_asked: ConditionSet = ALWAYS
    """Where this does not hold, a fix comes before another run, whatever `retry` says."""


class FixRule(NamedTuple):
    """A fix as it is written, before the user's numbers are filled in."""

    id: str
    causes: frozenset[str]
    kind: str
    """check | change | prevent"""
    order: int
    """Smaller comes first within its kind."""
    title: Text
    why: Text
    safety: str
    asked: ConditionSet
    needs: str | None
    """good-checkpoint | gpu | known-package | several-samples-per-step"""
    snippets: Mapping[str, Snippet]
    """By stack; `any` names none."""
    references: tuple[str, ...]
    stacks: frozenset[str] = frozenset()
    """The only stacks for which it is meant; empty: all."""
    snippets_of: str = ""
    """The fix whose snippets for stacks hold here as well, where a stack has none of its own."""


class Advisory(NamedTuple):
    """A known defect of a range of versions."""

    id: str
    package: str
    range: str
    beside: Mapping[str, str]
    """Ranges of other packages that must be installed too, by name."""
    where: ConditionSet
    """On which machines, with which settings it shows."""
    asked: ConditionSet
    """What the run must show for it to be evidence."""
    message: str
    """A regex that an error must match too; empty where any will do."""
    causes: Mapping[str, str]
    """Levels by cause."""
    symptom: Text
    fixed: Text | str
    """The version that mends it, the same in every language, or a text."""
    install: str
    """What pip is told, with places for the user's own figures; empty where no version mends it."""
    references: tuple[str, ...]

    @property
    def ranges(self) -> Mapping[str, str]:
        """Give the versions that have the defect together, by package."""
        return {self.package: self.range, **self.beside}


def build_cause_rule(entry: Mapping[str, Any], conditions: Conditions) -> CauseRule:
    """Type a cause.

    Raises:
        PatternError: an item asks for what has no name.
    """
    place = str(entry.get("file", ""))

    def arguments(side: str) -> tuple[Argument, ...]:
        return tuple(
            Argument(
                conditions.read_conditions(item, place),
                item["level"],
                item["text"],
                item.get("group"),
            )
            for item in entry.get(side) or ()
        )

    return CauseRule(
        entry["id"],
        entry["explanation"],
        entry["whose"],
        entry["retry"],
        arguments("for"),
        arguments("against"),
        tuple(Separation(item["from"], item["by"]) for item in entry.get("separates") or ()),
        tuple(
            Decider(
                item["what"], item["why"], item.get("command", ""), tuple(item.get("given", ()))
            )
            for item in entry.get("need") or ()
        ),
        conditions.read_conditions({"if": entry["retry_if"]}, place)
        if entry.get("retry_if")
        else ALWAYS,
    )


def build_fix_rule(entry: Mapping[str, Any], conditions: Conditions) -> FixRule:
    """Type a fix.

    Raises:
        PatternError: it asks for what has no name.
    """
    return FixRule(
        entry["id"],
        frozenset(entry["causes"]),
        entry["kind"],
        entry.get("order", 50),
        entry["title"],
        entry["why"],
        entry["safety"],
        conditions.read_conditions(entry, str(entry.get("file", ""))),
        entry.get("needs"),
        {name: parse_snippet(snippet) for name, snippet in (entry.get("snippets") or {}).items()},
        tuple(entry.get("references") or ()),
        frozenset(entry.get("stacks") or ()),
        entry.get("snippets_of", ""),
    )


def build_fix_rules(
    entries: Sequence[Mapping[str, Any]], conditions: Conditions
) -> tuple[FixRule, ...]:
    """Type all fixes; one without snippets of its own has those of the fix that it names."""
    written = {entry["id"]: entry.get("snippets") for entry in entries}
    return tuple(
        build_fix_rule(
            {**entry, "snippets": entry.get("snippets") or written.get(entry.get("snippets_of"))},
            conditions,
        )
        for entry in entries
    )


def build_advisory(entry: Mapping[str, Any], conditions: Conditions) -> Advisory:
    """Type an advisory.

    Raises:
        PatternError: it asks for what has no name.
    """
    place = str(entry.get("file", ""))
    return Advisory(
        entry["id"],
        entry["package"],
        entry["range"],
        entry.get("with") or {},
        conditions.read_conditions(
            {"if": entry.get("where") or (), "not": entry.get("not_where") or ()}, place
        ),
        conditions.read_conditions(entry, place),
        entry.get("message", ""),
        entry["causes"],
        entry["symptom"],
        entry["fixed"],
        entry.get("install", ""),
        tuple(entry.get("references") or ()),
    )
