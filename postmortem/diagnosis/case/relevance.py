"""Choose the findings that count, and weigh each by its relation to the first failure.

In: findings of all sources, the signatures, the first failure. Out: the findings without those of
broad signatures where more specific rules explain the log, in the order of the log; `Occurrence`s
with a factor: a finding that came after the first failure or was survived counts less. Not here:
which failure came first (`case.order`), weights of signatures.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from postmortem.core.findings import Finding
from postmortem.core.log_text import compile_lazily
from postmortem.core.printed_words import join_words
from postmortem.diagnosis.case.failures import QUOTED, SURVIVED_RECORDS, Failure
from postmortem.diagnosis.case.order import is_collective_wait, may_have_waited
from postmortem.diagnosis.case.order_of_time import Clock
from postmortem.diagnosis.case.survived_errors import SurvivedErrors
from postmortem.diagnosis.case.values import Occurrence
from postmortem.extraction.extract import Extract, Sighting, count_records_after
from postmortem.rules.base import Signature
from postmortem.rules.vocabulary import Trait, has_trait

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
    broad_lines = {
        _get_line(found)
        for found in left
        if found.finding.role == "cause" and rules[found.finding.signature].broad
    }
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


def _get_line(found: Sighting) -> tuple[int, int]:
    return found.finding.source, found.finding.line


SAME_EVENT_LINES: Final = 60
_FULL: Final = 1.0
_AFTER: Final = 0.55
_LONG_AFTER: Final = 0.35
_NEXT_EVENT: Final = 0.75
_SURVIVED: Final = 0.2
_QUOTED: Final = 0.4
_BEHIND: Final = "after-first-failure"
_SAME_TEXT: Final = 120
_RIGHT_BEHIND: Final = 3
"""Lines within which what follows a failure still belongs to it."""


class _Situation(NamedTuple):
    """A finding, and what its standing depends on."""

    finding: Finding
    is_fatal: bool
    first: Failure | None
    records_after: int
    is_behind: bool
    """It stands behind the first failure."""
    is_outlived: bool
    """It stands within a traceback that ended nothing."""


class _Standing(NamedTuple):
    """How much a finding's evidence counts, and why less than in full."""

    factor: float
    because: str = ""


def build_occurrences(
    seen: Iterable[Sighting],
    rules: Mapping[str, Signature],
    first: Failure | None,
    extract: Extract,
    clock: Clock,
    dumps: Container[int] = (),
    outlived: SurvivedErrors | None = None,
) -> list[Occurrence]:
    """Give every finding its standing.

    Args:
        seen: the kept findings.
        rules: signatures by id.
        first: the first failure, if there is one.
        extract: tells how many records followed.
        clock: the order of events.
        dumps: sources that tell how things stand: nothing in them is before or behind the failure.
        outlived: the tracebacks that ended nothing.
    """
    found = []
    for sight in seen:
        finding, is_fatal = sight.finding, rules[sight.finding.signature].fatal
        standing = _Standing(_FULL)
        if finding.source not in dumps:
            is_behind = first is not None and _is_behind(finding, first, clock)
            is_passed = outlived is not None and outlived.is_passed(finding, first)
            after = count_records_after(extract, finding, sight.records_before)
            is_cause = is_fatal and finding.role == "cause"
            standing = _judge_relevance(
                _Situation(finding, is_cause, first, after, is_behind, is_passed)
            )
        found.append(Occurrence(finding, *standing, is_fatal))
    return sorted(found, key=lambda event: (event.finding.source, event.finding.offset))


def _is_behind(finding: Finding, first: Failure, clock: Clock) -> bool:
    """Say whether a finding stands behind the first failure.

    A watchdog of another process that may have waited for it does.
    """
    if clock.key(finding.source, finding.offset) > clock.key(first.source, first.offset):
        return True
    return not is_collective_wait(first.finding) and may_have_waited(finding, first, clock)


def _judge_relevance(it: _Situation) -> _Standing:
    """Judge a finding by the first case that holds: alone, then relative to the first failure."""
    for holds, standing in _BY_ITSELF:
        if holds(it):
            return standing
    if (first := it.first) is None:
        return _Standing(_FULL)
    applicable = (standing for holds, standing in _STANDINGS if holds(it, first))
    standing = next(applicable, _Standing(_LONG_AFTER, _BEHIND))
    # What is not fatal is no consequence, however late it comes.
    is_kept = it.is_fatal or standing.because != _BEHIND
    return standing if is_kept else _Standing(standing.factor)


def _is_survived(it: _Situation) -> bool:
    """Say whether the run went on behind it, and nothing had failed before it."""
    is_before = it.first is None or _place(it.finding) < _place(it.first)
    return it.is_fatal and it.records_after >= SURVIVED_RECORDS and is_before


def _is_caught(it: _Situation, first: Failure) -> bool:
    """Say whether it was logged below ERROR before something else failed.

    A signal from outside is no more than a warning to a launcher, and ends the run all the same.
    """
    if has_trait(it.finding.signature, Trait.STOPPED_FROM_OUTSIDE):
        return False
    is_another = _place(it.finding) != _place(first)
    return it.finding.level in QUOTED and it.is_fatal and not it.is_behind and is_another


def _is_not_behind(it: _Situation, first: Failure) -> bool:
    return not it.is_behind or _is_within(it, first, 0)


def _is_echo(it: _Situation, first: Failure) -> bool:
    is_origin = first.finding is not None and has_trait(
        first.finding.signature, Trait.ECHO_OF_A_FAILURE
    )
    return has_trait(it.finding.signature, Trait.ECHO_OF_A_FAILURE) and not is_origin


def _is_echo_origin(it: _Situation, first: Failure) -> bool:
    is_echo = first.finding is not None and has_trait(
        first.finding.signature, Trait.ECHO_OF_A_FAILURE
    )
    return is_echo and it.is_fatal and has_trait(it.finding.signature, Trait.MACHINE_LOST)


def _is_exit_report(it: _Situation, first: Failure) -> bool:
    is_exit = has_trait(it.finding.signature, Trait.STOPPED_FROM_OUTSIDE)
    return is_exit and first.traceback is not None and it.is_fatal


def _is_duplicate(it: _Situation, first: Failure) -> bool:
    return first.finding is not None and (
        it.finding.signature == first.finding.signature
        or it.finding.text[:_SAME_TEXT] == first.finding.text[:_SAME_TEXT]
    )


def _is_within(it: _Situation, first: Failure, lines: int) -> bool:
    """Say whether a finding stands so many lines behind a failure of its source, or before it."""
    return it.finding.source == first.source and it.finding.line <= first.end_line + lines


def _place(event: Finding | Failure) -> tuple[int, int]:
    return event.source, event.line


_BY_ITSELF: Final[tuple[tuple[Callable[[_Situation], bool], _Standing], ...]] = (
    (lambda it: it.finding.role == "harmless", _Standing(_FULL)),
    (_is_survived, _Standing(_SURVIVED, "survived")),
    (lambda it: it.is_outlived, _Standing(_SURVIVED, "survived")),
)
_STANDINGS: Final[tuple[tuple[Callable[[_Situation, Failure], bool], _Standing], ...]] = (
    (_is_caught, _Standing(_QUOTED, "survived")),
    (_is_not_behind, _Standing(_FULL)),
    (_is_echo, _Standing(_LONG_AFTER, _BEHIND)),
    (_is_echo_origin, _Standing(_FULL)),
    (_is_exit_report, _Standing(_AFTER, _BEHIND)),
    (partial(_is_within, lines=_RIGHT_BEHIND), _Standing(_FULL)),
    (_is_duplicate, _Standing(_FULL)),
    (partial(_is_within, lines=SAME_EVENT_LINES), _Standing(_NEXT_EVENT, _BEHIND)),
    (partial(_is_within, lines=10 * SAME_EVENT_LINES), _Standing(_AFTER, _BEHIND)),
)
