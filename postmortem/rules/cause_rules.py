"""Causes, fixes and advisories as typed values, with the conditions, actions and code they name.

In: compiled entries of `patterns/causes`, `patterns/fixes`, `patterns/conditions` and
`patterns/actions.yaml`. Out: `CauseRule`, `FixRule`, `Advisory`, `Condition`, `ActionRule`, whose
texts carry every language, and the filled code of snippets. Not here: weighing
(`inference.scoring`), whether conditions hold in a case (`inference.predicates`), how a predicate
is written (`rules.schema`), choosing fixes (`fixes.select`), the user's numbers (`fixes.figures`).

The name of a condition is one of `patterns/conditions`, the id of a signature (it has dots, and
`.*` takes all below), or an anomaly (`patterns/anomalies`).

A snippet is written with English comments; `zh` maps each of them to its Chinese form, and so a
whole line where the snippet is prose, or a `<place to fill>`. The code is the same by construction.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core.errors import PatternError
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message

MOST_NAMES: Final = 3
"""Conditions that one item may name, exceptions included."""
INLINE: Final = (
    "write the predicate as a condition in conditions/<area>.yaml, with a name, and put the name"
    " here: `if: [the-name]`, or `not: [the-name]`"
)
"""How to mend a predicate that stands where names belong."""


class Condition(NamedTuple):
    """Something that may hold in a case."""

    id: str
    meaning: Mapping[str, str]
    """By language; empty for a signature or a shape, which say themselves what they are."""
    predicate: Mapping[str, Any]
    """In the form of patterns/README.md, without names of other conditions."""


class ConditionSet(NamedTuple):
    """The conditions of an item of a rule: all wanted ones must hold, and no unwanted one."""

    wanted: tuple[Condition, ...] = ()
    unwanted: tuple[Condition, ...] = ()


ALWAYS: Final = ConditionSet()
"""An item that names no condition."""


class Conditions:
    """The conditions of a knowledge base by name, including signatures and anomalies."""

    def __init__(self, entries: Iterable[Mapping[str, Any]], anomalies: Container[str]) -> None:
        """Take the compiled entries, and the ids of anomalies."""
        self._anomalies = anomalies
        self._known = {
            entry["id"]: Condition(entry["id"], entry["meaning"], entry["holds"])
            for entry in entries
        }

    def read_conditions(self, entry: Mapping[str, Any], place: str) -> ConditionSet:
        """Read the conditions that an item names under `if` and `not`; errors name `place`.

        Raises:
            PatternError: a predicate stands where names belong, or there is no such condition.
        """
        if "if" not in entry and "not" not in entry:
            if "when" in entry:
                raise PatternError("`when` is now `if` and `not`", place, INLINE)
            return ALWAYS
        return ConditionSet(
            self._find_conditions(entry.get("if", ()), place),
            self._find_conditions(entry.get("not", ()), place),
        )

    def _find_conditions(self, names: Any, place: str) -> tuple[Condition, ...]:
        if not isinstance(names, (list, tuple)):
            raise PatternError("a predicate stands where names belong", place, INLINE)
        known = self._known
        return tuple(
            [known[name] if name in known else self._make_leaf(name, place) for name in names]
        )

    def _make_leaf(self, name: Any, place: str) -> Condition:
        """Make a condition of the id of a signature or shape."""
        kind = get_predicate_type(name, self._anomalies)
        if kind is None:
            raise PatternError(
                f"no condition, signature or shape has the name {name!r}", place, INLINE
            )
        leaf = self._known[name] = Condition(name, {}, {kind: name})
        return leaf


def get_predicate_type(name: Any, anomalies: Container[str]) -> str | None:
    """Say which predicate a name that is no condition's stands for: signature, shape or none."""
    if not isinstance(name, str):
        return None
    return "signature" if "." in name else "shape" if name in anomalies else None


class ActionRule(NamedTuple):
    """A row of `patterns/actions.yaml`."""

    id: str
    pattern: str
    """A regex that is searched in the title and the snippet of a fix."""
    area: str
    """The area of the causes of which it is asked; empty: of all."""
    refuted_by: tuple[Condition, ...]
    """Each of them alone refutes the action."""


def build_action_rule(row: Mapping[str, Any], conditions: Conditions) -> ActionRule:
    """Type a row.

    Raises:
        PatternError: it names no condition that there is.
    """
    asked = conditions.read_conditions({"if": row["refuted_by"]}, "actions.yaml")
    return ActionRule(row["id"], row["pattern"], row.get("area", ""), asked.wanted)


_PLACEHOLDER: Final = compile_lazily(r"\$\{(\w{1,80})(?:\|([^}]{0,400}))?\}")
_STAND_IN: Final = compile_lazily(r"`\$\{(\w{1,80})\|([^}`]{0,200})\}`")


class Snippet(NamedTuple):
    """Code to copy, with places for the user's numbers."""

    language: str
    """Of the code: python, bash, text ..."""
    code: str
    zh: Mapping[str, str]
    """Its comments in Chinese."""


def parse_snippet(entry: Mapping[str, Any]) -> Snippet:
    """Take a snippet as a file of fixes holds it."""
    return Snippet(entry["language"], entry["code"], entry.get("zh") or {})


def translate_comments(snippet: Snippet) -> Message:
    """Give the code with its comments in either language."""
    chinese = snippet.code
    for comment, translation in snippet.zh.items():
        chinese = _place(comment).sub(r"\g<1>" + translation.replace("\\", r"\\"), chinese)
    return Message(snippet.code, chinese)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace `${name|default}` by the user's value, else the default, else `<name>`."""

    def replacement(match: re.Match[str]) -> str:
        return values.get(match[1]) or (match[2] if match[2] is not None else f"<{match[1]}>")

    return _PLACEHOLDER.sub(replacement, template)


def fill_sentence(text: str, values: Mapping[str, str]) -> str:
    """Fill a text; words that stand in for a name are no code, and lose its backticks."""

    def plain(match: re.Match[str]) -> str:
        return match[0] if values.get(match[1]) else match[2]

    return fill(_STAND_IN.sub(plain, text), values)


def find_unknown_comments(snippet: Snippet) -> Iterator[str]:
    """Yield what `zh` translates and the code holds neither as a comment, a line nor a place."""
    yield from (comment for comment in snippet.zh if not _place(comment).search(snippet.code))


def _place(comment: str) -> "re.Pattern[str]":
    literal = re.escape(comment)
    return re.compile(
        f"(){literal}" if comment.startswith("<") else rf"(^|#\s*){literal}$", re.MULTILINE
    )


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
    """Where all of these were handed in, it is not asked for: `inference.case_contents`."""


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
