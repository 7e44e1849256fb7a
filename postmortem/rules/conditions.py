"""Named conditions: what a rule asks of a case, by name.

In: the compiled conditions, and the names that an item of a cause, a fix or an advisory gives. Out:
`Condition`s, and `ConditionSet` where an item names them. Not here: whether they hold in a case
(`inference.predicates`), how a predicate is written (`rules.schema`).

A name is a condition of `patterns/conditions`, the id of a signature (it has dots, and `.*` takes
all below), or an anomaly (`patterns/anomalies`).
"""

from collections.abc import Container, Iterable, Mapping
from typing import Any, Final, NamedTuple

from postmortem.core.errors import PatternError

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
