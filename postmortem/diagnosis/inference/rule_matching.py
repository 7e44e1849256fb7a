"""Match rules to a case fast: which items may hold at all, and whether a printed value fits.

In: what items of rules ask, a `Case`; a value as it was printed, and a condition such as ">= 1e-3",
"~regex" or a list. Out: the numbers of the items that may hold; whether texts, numbers and versions
fit. Not here: whether an item does hold (`inference.predicates`), where the value comes from.

Of a thousand questions nine in ten name a signature, an anomaly or a setting that a case has not:
those are never asked.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from postmortem.core.findings import Environment
from postmortem.core.log_text import compile_lazily, parse_number, parse_whole_number
from postmortem.diagnosis.case.values import Case
from postmortem.rules.cause_rules import ConditionSet
from postmortem.rules.engine import compile_pattern

_COMPARISON: Final = compile_lazily(r"(==|!=|>=|<=|>|<)\s*([^,\s]+)")


def is_match(value: Any, condition: Any) -> bool:  # noqa: PLR0911 -- a return a form
    """Compare a value: `~regex`, numbers as in ">= 1e-3", a list of alternatives, or equality.

    Upper and lower case are the same.
    """
    if isinstance(condition, list):
        return any(is_match(value, alternative) for alternative in condition)
    if isinstance(condition, bool) or isinstance(value, bool):
        return str(value).lower() == str(condition).lower()
    if isinstance(condition, (int, float)):
        known = parse_number(str(value))
        return known is not None and known == float(condition)
    text = str(condition)
    if text.startswith("~"):
        return _has_match(f"(?i){text[1:]}", str(value))
    if text.strip() == "any":
        return True
    comparisons = _COMPARISON.findall(text)
    if comparisons:
        known = parse_number(str(value))
        return known is not None and all(
            _compare(known, operator, float(limit))
            for operator, limit in comparisons
            if parse_number(limit) is not None
        )
    return str(value).lower() == text.lower()


def _has_match(pattern: str, text: str) -> bool:
    """Search untrusted text; a search that takes too long counts as no match."""
    try:
        return compile_pattern(pattern).search(text) is not None
    except TimeoutError:
        return False


def is_version_match(version: str, condition: Any) -> bool:
    """Compare a version with ">= 2.5, < 2.5.1", an exact "2.5.0", a `~regex`, or a list of these.

    Only releases are compared: a nightly build of 2.6 counts as 2.6, and local parts (+cu121) do
    not count. Otherwise it answers as `packaging` does, which would take longer to import than a
    small log takes to judge; a test holds both together.
    """
    if isinstance(condition, list):
        return any(is_version_match(version, one) for one in condition)
    text = str(condition).strip()
    if text.startswith("~"):
        return _has_match(text[1:], version)
    if text == "any":
        return True
    known = _parse_release(version)
    comparisons = _COMPARISON.findall(text)
    if not comparisons:
        wanted = _parse_release(text)
        return bool(wanted) and known[: len(wanted)] == wanted
    return all(
        _compare_versions(known, operator, _parse_release(limit)) for operator, limit in comparisons
    )


def _parse_release(version: str) -> tuple[int, ...]:
    release = re.match(r"v?(\d+(?:\.\d+)*)", version.strip())
    return tuple(parse_whole_number(part) or 0 for part in release[1].split(".")) if release else ()


def _compare_versions(known: tuple[int, ...], operator: str, limit: tuple[int, ...]) -> bool:
    if not known:
        return False
    width = max(len(known), len(limit))
    return _compare(
        known + (0,) * (width - len(known)), operator, limit + (0,) * (width - len(limit))
    )


def _compare(known: Any, operator: str, limit: Any) -> bool:
    table: Mapping[str, bool] = {
        "==": known == limit,
        "!=": known != limit,
        ">=": known >= limit,
        "<=": known <= limit,
        ">": known > limit,
        "<": known < limit,
    }
    return table[operator]


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
    yield from (("shape", name) for name in case.anomalies)
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
