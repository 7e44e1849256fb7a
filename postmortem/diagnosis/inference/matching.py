"""Compare what a run shows with what a predicate asks: texts, numbers, versions.

In: a value as it was printed, and a condition such as ">= 1e-3", "~regex" or a list. Out: whether
it fits. Not here: where the value comes from (`inference.predicates`).
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.numerals import parse_whole_number
from postmortem.extraction.facts.number_texts import parse_number
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
