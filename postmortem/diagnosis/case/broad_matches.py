"""Match broad signatures on exceptions whose line no rule knows.

In: tracebacks and findings of a log, the signatures. Out: findings of broad signatures, which go by
words of the field. Not here: whether they count (`case.specificity`).

Elsewhere a broad signature is looked for only on lines that hold one of its literals, since they
may be anything and are many. What a program said when it ended is one line, and is asked of all.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from postmortem.core.findings import Finding, Traceback
from postmortem.diagnosis.case.final_errors import find_final_errors
from postmortem.diagnosis.case.specificity import is_any_exception
from postmortem.extraction.extract import Extract, Sighting
from postmortem.rules.base import KnowledgeBase, Signature

_MOST: Final = 8
"""Exceptions that are asked, the last ones."""
_EXPLAINING: Final = frozenset({"cause", "consequence", "harmless"})
"""Roles of what says what a line means."""


def find_broad_matches(
    extract: Extract, seen: Sequence[Sighting], knowledge: KnowledgeBase
) -> Iterator[Sighting]:
    """Give what broad signatures find in the last exceptions that no signature knows."""
    known = {
        (found.finding.source, line)
        for found in seen
        if found.finding.role in _EXPLAINING
        and not is_any_exception(knowledge.by_id[found.finding.signature])
        for line in range(found.finding.line, found.finding.end_line + 1)
    }
    matched: set[str] = set()
    for traceback, before in _iter_exception_texts(extract, known):
        text = f"{traceback.exception}: {traceback.message}".removeprefix(": ")
        place = (traceback.source, traceback.exception_line)
        if not traceback.message or place in known or text in matched:
            continue
        matched.add(text)
        for rule in _iter_matching_rules(text, knowledge.signatures):
            yield Sighting(_build_finding(rule, traceback, text), before, (0, ""))
        if len(matched) == _MOST:
            return


def _iter_exception_texts(
    extract: Extract, known: Collection[tuple[int, int]]
) -> Iterator[tuple[Traceback, int]]:
    """Give exceptions with their tracebacks, the last one first, then what logs end with."""
    yield from reversed(extract.tracebacks)
    lines: dict[int, set[int]] = {}
    for source, line in known:
        lines.setdefault(source, set()).add(line)
    for _, words in find_final_errors(extract, lines):
        yield words.traceback, sum(extract.records.values())


def _iter_matching_rules(text: str, rules: Collection[Signature]) -> Iterator[Signature]:
    for rule in rules:
        if rule.broad and _is_match(rule, text):
            yield rule


def _is_match(rule: Signature, text: str) -> bool:
    """Search a printed text; where that takes too long, nothing is known."""
    try:
        return rule.search(text) is not None
    except TimeoutError:
        return False


def _build_finding(rule: Signature, traceback: Traceback, text: str) -> Finding:
    return Finding(
        rule.id,
        rule.role,
        traceback.source,
        traceback.where,
        traceback.exception_line,
        traceback.exception_line,
        max(traceback.offset, traceback.end_offset - 1),
        text,
        (),
        traceback.time,
        level=traceback.level,
    )
