"""Known defects of versions: whether they concern a machine, and whether a run shows them.

In: advisories, a `Case`. Out: which of them concern it, what shows their symptom, sentences. Not
here: the advisories (`patterns/advisories`), weights (`inference.rules`), what to install
(`fixes.advised`).
"""

import functools
from typing import Final

from postmortem.case.values import Case
from postmortem.inference.due import Due
from postmortem.inference.matching import matches, version_matches
from postmortem.inference.predicates import Hit, holds, timeliness
from postmortem.knowledge.base import KnowledgeBase
from postmortem.knowledge.causes import Advisory
from postmortem.model.findings import Finding, Traceback
from postmortem.model.lines import Where
from postmortem.model.said import NOTHING, Said, both, listed, quote, say

_ERRORS: Final = frozenset({"cause", "consequence"})


def concerning(case: Case, knowledge: KnowledgeBase) -> list[Advisory]:
    """Give the known defects that versions and machine of a case have, whatever the run shows."""
    known = case.answers.get(id(knowledge.advisories))
    if known is None:
        due = _due(knowledge).of(case)
        found = [one for number in due if affects(one := knowledge.advisories[number], case)]
        known = case.answers[id(knowledge.advisories)] = (knowledge.advisories, found)
    entries: list[Advisory] = known[1]
    return entries


@functools.lru_cache(maxsize=4)
def _due(knowledge: KnowledgeBase) -> Due:
    return Due(frozenset([("package", entry.package)]) for entry in knowledge.advisories)


def affects(entry: Advisory, case: Case) -> bool:
    """Say whether versions and machine are those of the defect, whatever the run shows."""
    installed = case.environment.packages
    ranges = {entry.package: entry.range, **entry.beside}
    return (
        all(
            name in installed and version_matches(installed[name], wanted)
            for name, wanted in ranges.items()
        )
        and holds(entry.where, case) is not None
    )


def shows(entry: Advisory, case: Case) -> list[Hit] | None:
    """Give what of a run shows the symptom of a defect, or None where it does not show."""
    hits = holds(entry.asked, case)
    if hits is None or not entry.message:
        return hits
    said = _saying(f"~{entry.message}", case)
    return None if said is None else [said, *hits]


def told(entry: Advisory, case: Case) -> Said:
    """Name the versions, the defect, and what mends it."""
    installed = case.environment.packages
    return say(
        "{what}: {symptom} (→ {fixed})",
        "{what}：{symptom}（→ {fixed}）",
        what=listed([f"{name} {installed[name]}" for name in (entry.package, *entry.beside)]),
        symptom=both(entry.symptom),
        fixed=fixed(entry),
    )


def fixed(entry: Advisory) -> Said:
    """Give what mends a defect: a bare version is the same in every language."""
    return quote(entry.fixed) if isinstance(entry.fixed, str) else both(entry.fixed)


def _saying(pattern: str, case: Case) -> Hit | None:
    """Find the error that says something; of several the one that counts most."""
    hits = [
        Hit("signature", one.finding.signature, NOTHING, *_place(one.finding), one.factor)
        for one in case.events
        if one.finding.role in _ERRORS and matches(one.finding.text, pattern)
    ]
    hits += [
        Hit("traceback", one.exception, NOTHING, *_place(one), timeliness(one, case))
        for one in case.tracebacks
        if matches(f"{one.exception}: {one.message}", pattern)
    ]
    return max(hits, key=lambda hit: hit.factor, default=None)


def _place(one: Finding | Traceback) -> tuple[int, Where, int]:
    line = one.exception_line if isinstance(one, Traceback) else one.line
    return one.source, one.where, line
