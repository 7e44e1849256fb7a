"""Judge labelled logs without some of the signatures that were written for them.

In: sampled cases. Out: the same cases, judged without some of the signatures that they show. Not
here: what is learnt from it (`learn.evidence_fit`).

Rules are right for nearly all logs that they were written from, so these do not show how often a
verdict on a new log is right. A log without its signatures stands for one with a wording that no
rule knows.
"""

import copy
import dataclasses
import zlib
from collections.abc import Container, Iterator, Mapping
from typing import Final

from postmortem.diagnosis.case.build import build_case
from postmortem.diagnosis.inference.verdict import rank
from postmortem.extraction.extract import Extract
from postmortem.learn.samples import SampledLog
from postmortem.rules.base import KnowledgeBase, Signature

HALVES: Final = ("half 0", "half 1")
"""By chance each of the signatures of failures, but for those of words."""
NARROW: Final = "narrow"
"""All signatures that suggest a right cause, but for those of words."""
BLIND: Final = "blind"
"""All signatures that suggest a right cause."""


def iter_ablated_cases(
    sample: SampledLog, knowledge: KnowledgeBase, wanted: Container[str]
) -> Iterator[tuple[str, SampledLog]]:
    """Give a case as it is judged without signatures; kinds that take none away are left out."""
    gathered = sample.case.gathered
    shown = {place[0]: knowledge.by_id[place[0]] for place in gathered.findings}
    for kind, names in _select_ablated_rules(sample, shown).items():
        if names and kind in wanted:
            left = [rule for rule in knowledge.signatures if rule.id not in names]
            case = build_case(
                _drop_findings(gathered, names),
                dataclasses.replace(knowledge, signatures=tuple(left)),
            )
            yield kind, sample._replace(case=case, ranking=rank(case, knowledge))


def _select_ablated_rules(
    sample: SampledLog, shown: Mapping[str, Signature]
) -> dict[str, set[str]]:
    label = sample.label
    blind = {name for name, rule in shown.items() if not label.right.isdisjoint(rule.suggests)}
    failures = {
        name
        for name, rule in shown.items()
        if not rule.broad and rule.role in {"cause", "consequence"}
    }
    by_chance = {
        kind: {name for name in failures if _is_drawn(f"{number}:{name}:{label.log.name}")}
        for number, kind in enumerate(HALVES)
    }
    narrow = {name for name in blind if not shown[name].broad}
    return {**by_chance, NARROW: narrow, BLIND: blind}


def _is_drawn(name: str) -> bool:
    return zlib.crc32(name.encode()) % 2 == 1


def _drop_findings(gathered: Extract, names: Container[str]) -> Extract:
    left = copy.copy(gathered)
    left.findings = {
        place: kept for place, kept in gathered.findings.items() if place[0] not in names
    }
    return left
