"""Known defects of versions: whether they concern a machine, and whether a run shows them.

In: advisories, a `Case`. Out: which of them concern it, what shows their symptom, sentences. Not
here: the advisories (`patterns/advisories`), weights (`inference.scoring`), what to install
(`fixes.select`).
"""

import functools
from typing import Final

from postmortem.core.findings import Finding, ProcessId, Traceback
from postmortem.core.message import NOTHING, Message, join_list, parse_bilingual, quote, say
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference.predicates import Hit, compute_timeliness, evaluate_conditions
from postmortem.diagnosis.inference.rule_matching import RuleIndex, is_match, is_version_match
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.cause_rules import Advisory

_ERRORS: Final = frozenset({"cause", "consequence"})


def list_matching_advisories(case: Case, knowledge: KnowledgeBase) -> list[Advisory]:
    """Give the known defects that versions and machine of a case have, whatever the run shows."""
    known = case.answers.get(id(knowledge.advisories))
    if known is None:
        due = _build_rule_index(knowledge).of(case)
        found = [
            advisory
            for number in due
            if is_applicable(advisory := knowledge.advisories[number], case)
        ]
        known = case.answers[id(knowledge.advisories)] = (knowledge.advisories, found)
    entries: list[Advisory] = known[1]
    return entries


@functools.lru_cache(maxsize=4)
def _build_rule_index(knowledge: KnowledgeBase) -> RuleIndex:
    return RuleIndex(frozenset([("package", entry.package)]) for entry in knowledge.advisories)


def is_applicable(entry: Advisory, case: Case) -> bool:
    """Say whether versions and machine are those of the defect, whatever the run shows."""
    installed = case.environment.packages
    return (
        all(
            name in installed and is_version_match(installed[name], wanted)
            for name, wanted in entry.ranges.items()
        )
        and evaluate_conditions(entry.where, case) is not None
    )


def may_apply(entry: Advisory, case: Case) -> bool:
    """Say whether a defect may be this machine's: a version it needs is unknown, none differs."""
    installed = case.environment.packages
    return (
        any(name not in installed for name in entry.ranges)
        and all(
            is_version_match(installed[name], wanted)
            for name, wanted in entry.ranges.items()
            if name in installed
        )
        and evaluate_conditions(entry.where, case) is not None
    )


def find_symptom(entry: Advisory, case: Case) -> list[Hit] | None:
    """Find the evidence that a run shows the symptom of a defect; None where it does not."""
    hits = evaluate_conditions(entry.asked, case)
    if hits is None or not entry.message:
        return hits
    error = _find_matching_error(f"~{entry.message}", case)
    return None if error is None else [error, *hits]


def describe_defect(entry: Advisory, case: Case) -> Message:
    """Name the versions, the defect, and what mends it."""
    installed = case.environment.packages
    return say(
        "{what}: {symptom} (→ {fixed})",
        what=join_list([f"{name} {installed[name]}" for name in (entry.package, *entry.beside)]),
        symptom=parse_bilingual(entry.symptom),
        fixed=describe_remedy(entry),
    )


def describe_remedy(entry: Advisory) -> Message:
    """Give what mends a defect: a bare version is the same in every language."""
    return quote(entry.fixed) if isinstance(entry.fixed, str) else parse_bilingual(entry.fixed)


def _find_matching_error(pattern: str, case: Case) -> Hit | None:
    """Find the error that says something; of several the one that counts most."""
    hits = [
        Hit("signature", event.finding.signature, NOTHING, *_place(event.finding), event.factor)
        for event in case.events
        if event.finding.role in _ERRORS and is_match(event.finding.text, pattern)
    ]
    hits += [
        Hit(
            "traceback",
            traceback.exception,
            NOTHING,
            *_place(traceback),
            compute_timeliness(traceback, case),
        )
        for traceback in case.tracebacks
        if is_match(f"{traceback.exception}: {traceback.message}", pattern)
    ]
    return max(hits, key=lambda hit: hit.factor, default=None)


def _place(item: Finding | Traceback) -> tuple[int, ProcessId, int]:
    line = item.exception_line if isinstance(item, Traceback) else item.line
    return item.source, item.where, line
