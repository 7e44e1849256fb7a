"""Determine where a job failed first, and in which process.

In: the case. Out: `FirstFailure`. Not here: what came first of all that may have ended it
(`case.order`), who is meant by it (`case.faulty_process`), lines around it (`story.places`).
"""

from dataclasses import replace
from typing import Final

from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.message import Message, add_label, cut, quote
from postmortem.core.shown import FirstFailure
from postmortem.diagnosis.case.failures import Failure
from postmortem.diagnosis.case.faulty_process import FaultyProcess, find_faulty_process
from postmortem.diagnosis.case.reported_process import infer_global_rank
from postmortem.diagnosis.case.values import Case, Occurrence
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.nonfinite_hints import BEFORE
from postmortem.diagnosis.detectors.waiting_ranks import ALIKE, WAITING
from postmortem.diagnosis.story.own_log_failure import find_in_own_log
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.traits import Trait, has_trait

_MOST_TEXT: Final = 400
ONE_RANK: Final = "one-rank-first"
_STILL: Final = (
    "stack-apart",
    "silent-rank",
    "stood-still",
    "silence",
    "same-step",
    "stood-still-at-start",
    "stacks-dumped",
)
_NAMING_A_PROCESS: Final = (*_STILL, "peer-named")
"""Shapes that may stand for a process in the line of another."""
_OF_CURVES: Final = frozenset({"numerics", "learning"})
_OF_VALUES: Final = frozenset({"numerics", "cuda"})
"""Areas in which a value that is not finite may come to light late: a kernel asserts it."""
_RANKED: Final = {"odd-line": 0, ONE_RANK: 1}
_HUGE_AT_FIRST: Final = "grad-huge-first"


def build_first_failure(
    case: Case, knowledge: KnowledgeBase, area: str
) -> FirstFailure[Message] | None:
    """Name the first real failure over all sources and processes.

    Of a numerical cause, the first bad value before the exception; of a hang, the last sign of
    life.

    Args:
        case: the evidence.
        knowledge: the titles.
        area: of the cause that is named first.
    """
    failure = _find_first_failure(case, knowledge, area)
    if failure is not None:
        failure = replace(failure, where=infer_global_rank(case, failure.where))
    shown = _select_anomaly(case, area)
    meant = (
        find_faulty_process(case, case.first) if case.first is not None and shown is None else None
    )
    if failure is None or (meant is None if shown is None else shown.id not in _NAMING_A_PROCESS):
        return failure
    by_id, reporting = knowledge.by_id, case.first.finding if case.first is not None else None
    return find_in_own_log(
        case,
        failure,
        lambda name: by_id[name].title,
        meant.file if meant is not None else None,
        may_be_silent=reporting is None or by_id[reporting.signature].told_by != "launcher",
    )


def _find_first_failure(
    case: Case, knowledge: KnowledgeBase, area: str
) -> FirstFailure[Message] | None:
    """Give the line that shows it first, with the process that is meant."""
    first, meant = case.first, None
    shown = _select_anomaly(case, area)
    if first is not None and shown is None:
        meant = find_faulty_process(case, first)
        shown = meant.witness if meant is not None else None
    if shown is not None:
        where = shown.where if meant is None else meant.where
        return FirstFailure(shown.source, where, shown.line, None, shown.message.settled())
    if first is None:
        return _find_reported_by_peers(case, knowledge, area)
    if meant is None:
        meant = FaultyProcess(first.where)
    found = meant.seen or first.finding
    if found is not None:
        title = knowledge.by_id[found.signature].title
        sentence = add_label(title, cut(found.text.splitlines()[0], _MOST_TEXT)).settled()
        return FirstFailure(found.source, meant.where, found.line, found.time, sentence)
    return _build_from_traceback(first, meant.where)


def _find_reported_by_peers(
    case: Case, knowledge: KnowledgeBase, area: str
) -> FirstFailure[Message] | None:
    """Find the first line in which others report a failure that no process shows itself.

    Peers tell of one that is gone, a cluster of what it waits for, a launcher of its child.
    """
    reported = {("distributed", "failed"), ("hang", "stalled"), ("unknown", "failed")}
    if (area, case.outcome) not in reported:
        return None
    found = next(
        (event.finding for event in case.events if _is_peer_report(event, knowledge, area)), None
    )
    if found is None:
        return None
    title = knowledge.by_id[found.signature].title
    sentence = add_label(title, cut(found.text.splitlines()[0], _MOST_TEXT)).settled()
    return FirstFailure(found.source, NOWHERE, found.line, found.time, sentence)


def _is_peer_report(event: Occurrence, knowledge: KnowledgeBase, area: str) -> bool:
    """Say whether a line reports that peers or a cluster wait in vain."""
    finding = event.finding
    if event.because or has_trait(finding.signature, Trait.STANDSTILL):
        return False
    if area == "hang":
        suggested = knowledge.by_id[finding.signature].suggests
        return finding.role == "warning" and any(
            has_trait(cause, Trait.STANDSTILL) for cause in suggested
        )
    return finding.role == "consequence" and (
        area == "unknown" or has_trait(finding.signature, Trait.AMONG_PROCESSES)
    )


def _build_from_traceback(first: Failure, where: ProcessId) -> FirstFailure[Message]:
    raised = first.traceback
    assert raised is not None  # noqa: S101 -- a Failure has one of the two
    message = cut((raised.message.splitlines() or [""])[0], _MOST_TEXT)
    sentence = quote(": ".join(part for part in (raised.exception, message) if part))
    return FirstFailure(raised.source, where, raised.exception_line, raised.time, sentence)


def _select_anomaly(case: Case, area: str) -> Anomaly | None:
    """Choose the anomaly that is the first failure rather than what ended the run."""
    first, bad = case.first, _find_first_bad_value(case)
    if area == "hang" and (still := _find_last_sign_of_life(case)) is not None:
        return still
    areas = _OF_VALUES if bad is not None and bad.id == BEFORE else _OF_CURVES
    if bad is not None and (first is None or (area in areas and _is_before(bad, first))):
        return bad
    if first is None and area == "performance":
        return case.shapes.get("rank-slower") or case.shapes.get("slow-down")
    return _select_wait(case) if first is None else None


def _select_wait(case: Case) -> Anomaly | None:
    """Choose whom others wait for, by dumps or by their words, where nothing shows a failure."""
    named = (name for name in WAITING if name in case.shapes and name != ALIKE)
    waiting = next((case.shapes[name] for name in named), None)
    return waiting or (case.shapes.get("peer-named") if case.outcome == "failed" else None)


def _find_last_sign_of_life(case: Case) -> Anomaly | None:
    """Give the last sign of life of a run that stood still, as far as nothing else ended it."""
    reporting = case.first.finding if case.first is not None else None
    is_late_report = reporting is not None and has_trait(
        reporting.signature, Trait.ENDS_WHAT_STOOD_STILL
    )
    still = next((case.shapes[name] for name in _STILL if name in case.shapes), None)
    if still is None or not (case.first is None or is_late_report):
        return None
    missed = case.shapes.get("peer-named")
    return still if missed is None else still._replace(where=missed.where)


def _find_first_bad_value(case: Case) -> Anomaly | None:
    """Give the place where the curves go wrong first, as far as that may be the first failure."""
    bad = [
        anomaly for name, anomaly in case.shapes.items() if case.anomaly_types[name].can_be_first
    ]
    if not bad:
        return None
    if _HUGE_AT_FIRST in case.shapes:
        return case.shapes[_HUGE_AT_FIRST]
    return min(bad, key=lambda anomaly: (_RANKED.get(anomaly.id, 2), anomaly.source, anomaly.line))


def _is_before(anomaly: Anomaly, failure: Failure) -> bool:
    return anomaly.source != failure.source or anomaly.line < failure.line
