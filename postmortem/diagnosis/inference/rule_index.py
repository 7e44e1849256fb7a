"""Index rules by what a case must have for them to hold.

In: what items of rules ask, a `Case`. Out: the numbers of the items that may hold. Not here:
whether they do (`inference.predicates`).

Of a thousand questions nine in ten name a signature, a shape or a setting that a case has not:
those are never asked.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from postmortem.core.job_facts import Environment
from postmortem.diagnosis.case.values import Case
from postmortem.rules.conditions import ConditionSet

Needs = frozenset[tuple[str, Any]]
"""Things of which a case must have one, each with its kind."""
_NAMED: Final = frozenset({"signature", "shape", "framework", "precision", "outcome"})
"""Kinds of predicates that name what a case must have, one or several of which one suffices."""
_KEYED: Final = frozenset({"setting", "package", "env"})
"""Kinds that ask something of each of several things by name."""
_BARE: Final = frozenset({"gpu", "traceback"})
"""Kinds that ask something of any such thing."""
_FIELDS: Final = tuple(Environment.__dataclass_fields__)


class RuleIndex:
    """Items of rules, found by what a case must have."""

    def __init__(self, items: Iterable[Needs | None]) -> None:
        """Index the needs of each item; None for an item that is always evaluated."""
        self._always: list[int] = []
        self._by_need: defaultdict[tuple[str, Any], list[int]] = defaultdict(list)
        for number, needs in enumerate(items):
            if needs is None:
                self._always.append(number)
            else:
                for need in needs:
                    self._by_need[need].append(number)

    def of(self, case: Case) -> Sequence[int]:
        """Give the numbers of the items that may hold in a case, in order."""
        known = case.answers.get(id(self))
        if known is None:
            found = set(self._always)
            for thing in _iter_available_keys(case):
                found.update(self._by_need.get(thing, ()))
            known = case.answers[id(self)] = (self, sorted(found))
        numbers: Sequence[int] = known[1]
        return numbers


def infer_needs(item: ConditionSet) -> Needs | None:
    """Give what a case must have for all that an item asks to hold."""
    return _select_fewest_needs(
        infer_predicate_needs(condition.predicate) for condition in item.wanted
    )


def infer_predicate_needs(predicate: Mapping[str, Any]) -> Needs | None:
    """Give what a case must have for a predicate to hold."""
    return _select_fewest_needs(
        _infer_key_needs(kind, wanted) for kind, wanted in predicate.items()
    )


def _select_fewest_needs(found: Iterable[Needs | None]) -> Needs | None:
    """Give the narrowest of several needs, all of which must be met."""
    return min((needs for needs in found if needs is not None), key=len, default=None)


def _infer_key_needs(kind: str, wanted: Any) -> Needs | None:
    if kind in _NAMED:
        names = wanted if isinstance(wanted, list) else (wanted,)
        return frozenset([(kind, name) for name in names])
    if kind in _KEYED:
        return frozenset([(kind, _normalise_name(kind, next(iter(wanted))))]) if wanted else None
    if kind in _BARE:
        return frozenset([(kind, "")])
    if kind == "all":
        return _select_fewest_needs(infer_predicate_needs(predicate) for predicate in wanted)
    if kind == "any":
        each = [infer_predicate_needs(predicate) for predicate in wanted]
        return None if None in each else frozenset().union(*filter(None, each))
    return None


def _normalise_name(kind: str, name: str) -> str:
    return name.lower().replace("_", "-") if kind == "package" else name


def _iter_available_keys(case: Case) -> Iterator[tuple[str, Any]]:
    """Name all that a case has of what may be needed."""
    environment = case.environment
    for signature in {event.finding.signature for event in case.events}:
        yield ("signature", signature)
        parts = signature.split(".")
        yield from (
            ("signature", ".".join([*parts[:count], "*"])) for count in range(1, len(parts))
        )
    yield from (("shape", name) for name in case.shapes)
    yield from (("framework", name) for name in case.frameworks)
    yield from (("setting", name) for name in case.settings)
    yield from (("package", name) for name in environment.packages)
    yield from (("env", name) for name in _FIELDS if getattr(environment, name) is not None)
    yield ("precision", environment.precision)
    yield from (("outcome", name) for name in case.outcome_names)
    if environment.gpus:
        yield ("gpu", "")
    if case.tracebacks:
        yield ("traceback", "")
