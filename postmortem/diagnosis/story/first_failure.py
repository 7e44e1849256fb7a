"""Determine where a job failed first, in which process, and what that process printed itself.

In: the case. Out: `FirstFailure`; where another process reported it, the same in the faulty
process's own file: its own first error, else its last sign of life, and who told of it. Not here:
what came first of all that may have ended it (`case.order`), which process is at fault
(`case.faulty_process`), lines around it, the user's own frame (`story.shown_places`).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Final, NamedTuple

from postmortem.core.answer import FirstFailure
from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.message import Message, add_label, cut, quote, say
from postmortem.diagnosis.case.failures import Failure, is_consequence
from postmortem.diagnosis.case.faulty_process import (
    FaultyProcess,
    find_faulty_process,
    infer_global_rank,
    is_of,
)
from postmortem.diagnosis.case.values import Case, Occurrence
from postmortem.diagnosis.detectors.nonfinite_hints import BEFORE
from postmortem.diagnosis.detectors.observed import Anomaly
from postmortem.diagnosis.detectors.signs_of_life import list_lines_before
from postmortem.diagnosis.detectors.waiting_ranks import ALIKE, WAITING
from postmortem.extraction.facts.clock import compute_seconds_between, iter_timed_lines
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.vocabulary import Trait, has_trait

_MOST_OWN_LINE: Final = 200
_LAST: Final = say("last sign of life: {text}")
_REPORTED_BY: Final = say("{own} (told by {teller}, line {line}: {why})")


class _OwnLine(NamedTuple):
    """A line of the process at fault."""

    source: int
    line: int
    time: str | None
    text: Message


def find_in_own_log(
    case: Case,
    failure: FirstFailure[Message],
    titles: Callable[[str], Message],
    file: int | None = None,
    *,
    may_be_silent: bool = True,
) -> FirstFailure[Message]:
    """Give the same failure where the process at fault shows it, if it has a file that does.

    Args:
        case: the evidence.
        failure: where another tells of it, with the process that is meant.
        titles: gives the title of a signature.
        file: the process's own log, where it is known by its name.
        may_be_silent: a last sign of life will do. It does not where a launcher tells how its
            child ended: nobody but the child has seen it nearer.
    """
    own = [file] if file is not None else _list_logs(case, failure.where)
    if not own or failure.source in own:
        return failure
    found = min(_iter_own_errors(case, own, titles), key=lambda words: words[:2], default=None)
    if found is None and may_be_silent:
        found = _find_last_sign(case, own, failure.time)
    return failure if found is None else _add_reporter(case, failure, found)


def _add_reporter(
    case: Case, failure: FirstFailure[Message], found: _OwnLine
) -> FirstFailure[Message]:
    """Name the process that reported the failure."""
    reporter = _name(case, failure.source)
    why = _REPORTED_BY.fill(
        own=found.text, teller=reporter, line=failure.line, why=failure.why
    ).settled()
    return replace(failure, source=found.source, line=found.line, time=found.time, why=why)


def _list_logs(case: Case, where: ProcessId) -> list[int]:
    """Name the logs of one process; of a machine, where one process of it has logs."""
    logs = {
        number: source.where
        for number, source in enumerate(case.sources)
        if source.kind in {"log", "notebook"} and source.lines and source.where != NOWHERE
    }
    if named := [number for number, own in logs.items() if is_of(own, where)]:
        return named
    return _list_machine_logs(logs, where)


def _list_machine_logs(logs: Mapping[int, ProcessId], where: ProcessId) -> list[int]:
    """Name the logs of a machine, all of one process: of the one that is meant, or of any."""
    here = [number for number, own in logs.items() if own.node == where.node is not None]
    ranks = {logs[number].rank for number in here}
    return here if len(ranks) == 1 and (where.rank is None or ranks == {None}) else []


def _iter_own_errors(
    case: Case, own: Sequence[int], titles: Callable[[str], Message]
) -> Iterator[_OwnLine]:
    """Yield the errors of the process itself."""
    for event in case.events:
        finding = event.finding
        is_its = finding.source in own and finding.role == "cause" and event.is_fatal
        if is_its and not has_trait(finding.signature, Trait.MET_WHEN_OTHERS_ENDED):
            text = add_label(titles(finding.signature), _cut(finding.text))
            yield _OwnLine(finding.source, finding.line, finding.time, text)
    for raised in case.tracebacks:
        if raised.source in own and not is_consequence(raised):
            text = _cut(f"{raised.exception}: {raised.message}")
            yield _OwnLine(raised.source, raised.exception_line, raised.time, text)


def _find_last_sign(case: Case, own: Sequence[int], reported_at: str | None) -> _OwnLine | None:
    """Find the last line of the training's own file that reports no end.

    A process that goes on while others have given it up has its say before they do.
    """
    extract = case.extract
    source = max(
        own,
        key=lambda source: (extract.records.get(source, 0), case.sources[source].lines, -source),
    )
    if source not in extract.tails:
        return None
    record = extract.last_record.get(source, (0, 0))[0]
    ends = [
        event.finding.line
        for event in case.events
        if event.finding.source == source
        and event.finding.line > record
        and event.finding.role in {"cause", "consequence"}
    ]
    tail = extract.tails[source]
    later = [
        moment.line
        for moment, _ in iter_timed_lines(tail)
        if reported_at is not None and compute_seconds_between(reported_at, moment.time)
    ]
    end = min([*ends, *later], default=math.inf)
    lines = list_lines_before(end, tail) or list_lines_before(min(ends, default=math.inf), tail)
    if not lines:
        return None
    line, text = lines[-1]
    return _OwnLine(source, line, None, _LAST.fill(text=_cut(text)))


def _cut(text: str) -> Message:
    return quote(cut((text.strip().splitlines() or [""])[0], _MOST_OWN_LINE))


def _name(case: Case, source: int) -> str:
    """Name a file as shortly as tells it from the others."""
    parts = [PurePath(source.path).parts for source in case.sources]
    own = parts[source]
    for count in range(1, len(own) + 1):
        if sum(other[-count:] == own[-count:] for other in parts) == 1:
            return "/".join(own[-count:])
    return case.sources[source].path


_MOST_SENTENCE: Final = 400
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
        sentence = add_label(title, cut(found.text.splitlines()[0], _MOST_SENTENCE)).settled()
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
    sentence = add_label(title, cut(found.text.splitlines()[0], _MOST_SENTENCE)).settled()
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
    message = cut((raised.message.splitlines() or [""])[0], _MOST_SENTENCE)
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
        return case.anomalies.get("rank-slower") or case.anomalies.get("slow-down")
    return _select_wait(case) if first is None else None


def _select_wait(case: Case) -> Anomaly | None:
    """Choose whom others wait for, by dumps or by their words, where nothing shows a failure."""
    named = (name for name in WAITING if name in case.anomalies and name != ALIKE)
    waiting = next((case.anomalies[name] for name in named), None)
    return waiting or (case.anomalies.get("peer-named") if case.outcome == "failed" else None)


def _find_last_sign_of_life(case: Case) -> Anomaly | None:
    """Give the last sign of life of a run that stood still, as far as nothing else ended it."""
    reporting = case.first.finding if case.first is not None else None
    is_late_report = reporting is not None and has_trait(
        reporting.signature, Trait.ENDS_WHAT_STOOD_STILL
    )
    still = next((case.anomalies[name] for name in _STILL if name in case.anomalies), None)
    if still is None or not (case.first is None or is_late_report):
        return None
    missed = case.anomalies.get("peer-named")
    return still if missed is None else still._replace(where=missed.where)


def _find_first_bad_value(case: Case) -> Anomaly | None:
    """Give the place where the curves go wrong first, as far as that may be the first failure."""
    bad = [
        anomaly for name, anomaly in case.anomalies.items() if case.anomaly_types[name].can_be_first
    ]
    if not bad:
        return None
    if _HUGE_AT_FIRST in case.anomalies:
        return case.anomalies[_HUGE_AT_FIRST]
    return min(bad, key=lambda anomaly: (_RANKED.get(anomaly.id, 2), anomaly.source, anomaly.line))


def _is_before(anomaly: Anomaly, failure: Failure) -> bool:
    return anomaly.source != failure.source or anomaly.line < failure.line
