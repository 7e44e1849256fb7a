"""Find the process at fault where a peer, a watchdog or the kernel reports the failure.

In: the case. Out: `FaultyProcess`, or nothing where whoever tells it is the one. Not here: which
failure came first (`case.order`), finding the odd one among the processes
(`detectors.outlier_process`).

The line of the first failure stays whose it is; the process that the report names is the one at
fault. A line of the odd process itself is the better witness and stands in its place.
"""

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from postmortem.core.findings import Finding
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.diagnosis.case.failures import Failure
from postmortem.diagnosis.case.reported_process import (
    find_child_process,
    find_named_log,
    find_process_in_agent_table,
    is_of,
)
from postmortem.diagnosis.case.values import Case, Occurrence
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.collectives import WATCHDOG
from postmortem.diagnosis.detectors.stack_dumps import find_process_by_pid
from postmortem.diagnosis.detectors.waiting_ranks import ALIKE
from postmortem.extraction.extract import process_of
from postmortem.rules.traits import Trait, has_trait

_ODD: Final = (
    "ranks-differ", "rank-stuck-in-collective", "rank-absent-from-collective", "ras-outlier",
    "rank-behind", "stack-apart", "peer-named", "silent-rank", "rank-without-dump",
)  # fmt: skip
"""Shapes that stand for the process at fault, the surest first."""
_PID: Final = compile_lazily(
    r"(?:\bpid[ =:]{1,2}'?|Killed process |task \S{1,40}:|\w\[)(?P<pid>[1-9]\d{1,9})\b"
)
_PLACED: Final = compile_lazily(
    r"\b[Rr]ank[ =:]{0,2}(?P<rank>\d{1,5})\b[ ,;(]{1,3}"
    r"(?:(?:on )?(?:node|host)[ =:]{1,2}(?P<node>[A-Za-z][\w.-]{0,62}\w)"
    r"|(?:device|gpu)[ =:]{1,2}\d)"
)
"""A rank with its machine or its device beside it."""
_OWN_PID: Final = compile_lazily(r"\b(?:pid|PID)[ =:]{1,2}(?P<pid>[1-9]\d{1,9})\b")


class FaultyProcess(NamedTuple):
    """The process at fault, and the anomaly that shows it, if any."""

    where: ProcessId
    shape: Anomaly | None = None
    seen: Finding | None = None
    """What is printed of the machine at fault itself, where another file only tells of it."""
    file: int | None = None
    """The log that is named by its own name, where nothing else names the process."""

    @property
    def witness(self) -> Anomaly | None:
        """Give the anomaly whose line the process at fault printed itself."""
        return self.shape if self.shape is not None and self.shape.id == _ODD[0] else None


def find_faulty_process(case: Case, first: Failure) -> FaultyProcess | None:
    """Find the process at fault where another one reported the first failure."""
    finding = first.finding
    is_anothers = first.reported_process != NOWHERE and not is_of(
        first.reported_process, first.where
    )
    other = first.reported_process if is_anothers else _find_unreported_rank(case, first)
    if other is not None:
        return FaultyProcess(other)
    if finding is None:
        return None
    if has_trait(finding.signature, Trait.NAMES_A_PEER):
        anomaly = next((case.shapes[name] for name in _ODD if name in case.shapes), None)
        if anomaly is None and ALIKE in case.shapes:
            return FaultyProcess(NOWHERE)
        if anomaly is None or anomaly.where == NOWHERE:
            return None
        where = anomaly.where.filled(_get_node(case, anomaly))
        return FaultyProcess(where, anomaly, _find_first_machine_finding(case, first, where))
    return None if first.where.rank is not None else _resolve_process(case, first, finding)


def _resolve_process(case: Case, first: Failure, finding: Finding) -> FaultyProcess | None:
    """Find the process of a line without a rank: by its text, else by who reports it."""
    named = _parse_named_rank(finding) or find_process_in_agent_table(case, finding)
    if named is not None:
        return FaultyProcess(named.filled(first.where))
    return (
        None
        if _is_of_a_process(case, first.source)
        else _find_reported_process(case, first, finding)
    )


def _find_unreported_rank(case: Case, first: Failure) -> ProcessId | None:
    """Name the rank that fails without its label, while the watchdogs of all others report."""
    silent, finding = case.shapes.get("silent-rank"), first.finding
    is_labelled = process_of(case.gathered, first.source).filled(first.where) != NOWHERE
    if silent is None or is_labelled:
        return None
    if finding is not None and has_trait(finding.signature, Trait.NAMES_NO_PROCESS):
        return None
    is_before = any(
        event.finding.source == first.source and event.finding.line > first.line
        for event in case.signatures(WATCHDOG)
    )
    return silent.where if is_before else None


def _find_reported_process(case: Case, first: Failure, finding: Finding) -> FaultyProcess | None:
    """Find the process that a kernel, an agent or a cluster reports as failed."""
    victim = next(_find_victims(case, finding), None) or find_child_process(case, finding)
    if victim is not None:
        return FaultyProcess(victim.filled(first.where))
    file = find_named_log(case, finding)
    return (
        None
        if file is None
        else FaultyProcess(case.sources[file].where.filled(first.where), file=file)
    )


def _parse_named_rank(finding: Finding) -> ProcessId | None:
    """Give the only rank that a line names as the place of the failure, with node or device."""
    if has_trait(finding.signature, Trait.NAMES_NO_PROCESS):
        return None
    processes = {
        ProcessId(rank=int(match["rank"]), node=match["node"])
        for match in _PLACED.finditer(finding.text)
    }
    return processes.pop() if len(processes) == 1 else None


def _find_first_machine_finding(case: Case, first: Failure, where: ProcessId) -> Finding | None:
    """Give what first is printed of a lost machine under its own label."""
    if where.node is None or where.rank is not None or first.where.node == where.node:
        return None
    return next(
        (
            event.finding
            for event in case.events
            if event.finding.where.node == where.node
            and event.finding.role in {"cause", "consequence"}
        ),
        None,
    )


def _get_node(case: Case, anomaly: Anomaly) -> ProcessId:
    """Give the machine of a rank, where a line or a file of it names one."""
    nodes = (
        event.finding.where
        for event in case.events
        if anomaly.where.rank is not None and event.finding.where.rank == anomaly.where.rank
    )
    return next((where for where in nodes if where.node is not None), NOWHERE)


def _is_of_a_process(case: Case, source: int) -> bool:
    """Say whether a file's name or a record in it shows that a process of the run wrote it."""
    is_named = process_of(case.gathered, source).rank is not None
    return is_named or bool(case.gathered.records.get(source))


def _find_victims(case: Case, finding: Finding) -> Iterator[ProcessId]:
    """Yield the processes that the kernel's, or a machine's, log means.

    One whose own log has the number of the process that it names; else one that fails by itself.
    """
    numbers = {
        match["pid"]
        for event in case.signatures(finding.signature)
        if event.finding.source == finding.source
        for match in _PID.finditer(event.finding.text)
    }
    others = [event for event in case.events if event.finding.source != finding.source]
    for event in others:
        if any(match["pid"] in numbers for match in _PID.finditer(event.finding.text)):
            yield from _iter_processes(case, event)
    yield from _find_processes_by_number(case, numbers, finding.source)
    for event in others:
        is_own = event.is_fatal and not has_trait(event.finding.signature, Trait.NAMES_NO_PROCESS)
        if is_own and event.finding.where.rank is not None:
            yield event.finding.where


def _find_processes_by_number(
    case: Case, numbers: Collection[str], teller: int
) -> Iterator[ProcessId]:
    """Yield the processes whose files begin with one of the numbers, or that lines name by it."""
    heads = {source: text for source, text in case.gathered.heads.items() if source != teller}
    for source, head in heads.items():
        own = process_of(case.gathered, source)
        if own != NOWHERE and any(match["pid"] in numbers for match in _OWN_PID.finditer(head)):
            yield own
    lines = [line for head in heads.values() for line in head.split("\n")]
    named = (find_process_by_pid(lines, int(number)) for number in sorted(numbers))
    yield from (where for where in named if where != NOWHERE)


def _iter_processes(case: Case, event: Occurrence) -> Iterator[ProcessId]:
    """Give the process of a line, by its label or by the file that it stands in."""
    where = event.finding.where.filled(process_of(case.gathered, event.finding.source))
    if where != NOWHERE:
        yield where
