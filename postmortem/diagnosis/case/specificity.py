"""Drop findings of broad signatures where more specific rules explain the log.

In: findings, the signatures. Out: those that count, in the order of the log. Not here: how much
each counts (`case.relevance`).
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.printed_words import join_words
from postmortem.extraction.extract import Sighting
from postmortem.rules.base import Signature
from postmortem.rules.traits import Trait, has_trait

_OF_A_COMMAND: Final = compile_lazily(r"^\s{0,80}(?:[$%>#] |--?[A-Za-z])|\\\s{0,8}$")
"""A line of a script or of the command that somebody gave, which no program prints."""

_GOES_ON: Final = compile_lazily(
    r"\b(?:ignor(?:ed|ing)|skipp(?:ed|ing)|fall(?:ing|s)? ?back|retrying|respawn\w*|recovered"
    r"|reconnect(?:ed|ing)|will (?:retry|continue|be (?:ignored|skipped))|continuing)\b|"
    + join_words("goes-on"),
    re.IGNORECASE,
)
"""That whoever prints it goes on, so that it ends nothing."""
_ENDS: Final = compile_lazily(
    r"\b(?:giv\w{1,4} up|gave up|fatal|abort\w*|exit\w*|stop\w*|cannot|unable|fail\w* after|kill\w*"
    r"|terminat\w*|raise\w*|out of retries|exhausted)\b|" + join_words("ends"),
    re.IGNORECASE,
)


def drop_less_specific(
    seen: Iterable[Sighting], rules: Mapping[str, Signature], dumps: Container[int] = ()
) -> list[Sighting]:
    """Leave out the findings of broad signatures where another one names what ended the run.

    On a line that a narrower rule explains they count nowhere, nor in `dumps`: sources that tell
    how things stand, not what happened. Where they count, what says no more of their line than that
    an exception was raised is left out.
    """
    ordered = sorted(seen, key=lambda found: (found.finding.source, found.finding.offset))
    if any(_is_fatal_cause(found, rules[found.finding.signature]) for found in ordered):
        return [found for found in ordered if not rules[found.finding.signature].broad]
    left = _drop_explained_matches(ordered, rules, dumps)
    broad_lines = {_get_line(found) for found in left if _is_broad_cause(found, rules)}
    return [
        found
        for found in left
        if _get_line(found) not in broad_lines
        or not is_any_exception(rules[found.finding.signature])
    ]


def _drop_explained_matches(
    seen: Sequence[Sighting], rules: Mapping[str, Signature], dumps: Container[int]
) -> list[Sighting]:
    """Drop matches on lines that no program printed, and on lines that are explained."""
    explained = _collect_explained_lines(seen, rules)

    def counts(found: Sighting) -> bool:
        is_unexplained = found.finding.source not in dumps and _get_line(found) not in explained
        text = found.finding.text
        is_over = _GOES_ON.search(text) is not None and _ENDS.search(text) is None
        return is_unexplained and not is_over and not _OF_A_COMMAND.search(text)

    return [found for found in seen if not rules[found.finding.signature].broad or counts(found)]


def _collect_explained_lines(
    seen: Iterable[Sighting], rules: Mapping[str, Signature]
) -> set[tuple[int, int]]:
    return {
        (found.finding.source, line)
        for found in seen
        if _is_explanation(found, rules[found.finding.signature])
        for line in range(found.finding.line, found.finding.end_line + 1)
    }


def _is_explanation(found: Sighting, rule: Signature) -> bool:
    is_known = found.finding.role == "harmless" or (
        found.finding.role == "consequence"
        and not has_trait(_select_strongest_cause(rule), Trait.UNEXPLAINED)
    )
    return is_known and not rule.broad and not is_any_exception(rule)


def _is_fatal_cause(found: Sighting, rule: Signature) -> bool:
    is_cause = found.finding.role == "cause" and rule.fatal and not rule.told_by
    return is_cause and not rule.broad and not is_any_exception(rule)


def is_any_exception(rule: Signature) -> bool:
    """Say whether a rule takes an exception for the user's own, and nothing better."""
    return has_trait(_select_strongest_cause(rule), Trait.USER_EXCEPTION)


def _select_strongest_cause(rule: Signature) -> str:
    return max(rule.suggests, key=lambda cause: _LEVELS[rule.suggests[cause]], default="")


_LEVELS: Final = {"weak": 0, "moderate": 1, "strong": 2, "decisive": 3}


def _is_broad_cause(found: Sighting, rules: Mapping[str, Signature]) -> bool:
    return found.finding.role == "cause" and rules[found.finding.signature].broad


def _get_line(found: Sighting) -> tuple[int, int]:
    return found.finding.source, found.finding.line
