"""Find the process at fault where a peer, a watchdog, a launcher or the kernel reports the failure.

In: the case, the finding that tells. Out: `FaultyProcess`, or nothing where whoever tells it is the
one; the process that a launcher, a cluster or an agent names as failed, by its ranks, or the index
of the file whose name is said. Not here: which failure came first (`case.order`), finding the odd
one among the processes (`detectors.collectives`).

The line of the first failure stays whose it is; the process that the report names is the one at
fault. A line of the odd process itself is the better witness and stands in its place.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import PurePath
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE, Finding, ProcessId
from postmortem.core.log_text import compile_lazily, parse_whole_number
from postmortem.diagnosis.case.failures import Failure
from postmortem.diagnosis.case.order import ROOT_CAUSE
from postmortem.diagnosis.case.values import Case, Occurrence
from postmortem.diagnosis.detectors.collectives import WATCHDOG
from postmortem.diagnosis.detectors.observed import Anomaly
from postmortem.diagnosis.detectors.stacks import find_process_by_pid
from postmortem.diagnosis.detectors.waiting_ranks import ALIKE
from postmortem.extraction.extract import process_of
from postmortem.rules.vocabulary import Trait, has_trait

_CHILD: Final = compile_lazily(r"\blocal_rank: (?P<local_rank>\d{1,4})\b")
_WORLD: Final = compile_lazily(
    r"(?i)\bworld(?:[ _-]?size)?['\"]?\s?[:=]?\s?(?P<size>[1-9]\d{0,2})\b(?![.%])"
)
_SUFFIXES: Final = compile_lazily(
    r"(?:\.(?:log|txt|out|err|stdout|stderr|gz|xz|zst|bz2))+\Z", re.IGNORECASE
)
_ENTRY: Final = "context.elastic-entry"
_FEWEST: Final = 5
"""Characters of a file's name that is no chance word."""
_MOST_OF_ONE: Final = 8
"""Processes that one machine commonly runs."""
_MOST_ABOVE: Final = 40
"""Lines above the one that tells, in which a record names what it is about."""


def find_child_process(case: Case, finding: Finding) -> ProcessId | None:
    """Give the process that an agent names with its exit, else as the root cause."""
    if (match := _CHILD.search(finding.text)) is None:
        return None
    local_rank = parse_whole_number(match["local_rank"])
    roots = {
        ProcessId(rank=parse_whole_number(captures["rank"]), local_rank=local_rank)
        for event in case.signatures(ROOT_CAUSE)
        if event.finding.source == finding.source
        and parse_whole_number((captures := dict(event.finding.captures))["local_rank"])
        == local_rank
    }
    if len(roots) == 1:
        return roots.pop()
    return ProcessId(rank=local_rank if _is_one_machine(case) else None, local_rank=local_rank)


def find_process_in_agent_table(case: Case, finding: Finding) -> ProcessId | None:
    """Give the process in whose entry of an agent's table a line stands."""
    for event in case.signatures(_ENTRY):
        reported = event.finding
        if reported.source == finding.source and reported.line <= finding.line <= reported.end_line:
            captures = dict(reported.captures)
            return ProcessId(
                parse_whole_number(captures["rank"]),
                parse_whole_number(captures["local_rank"]),
                captures["host"],
                None,
            )
    return None


def _is_one_machine(case: Case) -> bool:
    """Say whether the ranks of the files are those of one machine."""
    ranks = [source.where.rank for source in case.sources if source.where.rank is not None]
    nodes = {source.where.node for source in case.sources}
    return nodes == {None} and max(ranks, default=_MOST_OF_ONE) < _MOST_OF_ONE


def infer_global_rank(case: Case, where: ProcessId) -> ProcessId:
    """Give a process of which only the local rank is printed its rank, where both are the same.

    They are where as many local ranks are seen as the job has processes.
    """
    if where.rank is not None or where.local_rank is None:
        return where
    world_size = case.environment.world_size
    sizes = (
        {world_size}
        if world_size is not None
        else {
            parse_whole_number(match["size"])
            for head in case.extract.heads.values()
            for match in _WORLD.finditer(head)
        }
    )
    seen = {source.where.local_rank for source in case.sources}
    seen.update(event.finding.where.local_rank for event in case.events)
    size = sizes.pop() if len(sizes) == 1 else None
    is_all = size is not None and seen - {None} == set(range(size))
    return where._replace(rank=where.local_rank) if is_all else where


def find_named_log(case: Case, finding: Finding) -> int | None:
    """Give the log whose name stands in the reporting line, or nearest above it."""
    names = {
        number: name
        for number in case.logs
        if number != finding.source
        and len(name := _SUFFIXES.sub("", PurePath(case.sources[number].path).name)) >= _FEWEST
        and any(not character.isalpha() for character in name)
    }
    for line in (finding.text, *_iter_lines_above(case, finding)):
        named = [number for number, name in names.items() if _has_whole_name(name, line)]
        if named:
            return named[0] if len(named) == 1 else None
    return None


def _has_whole_name(name: str, line: str) -> bool:
    """Say whether a line holds a name as a whole."""
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", line) is not None


def _iter_lines_above(case: Case, finding: Finding) -> Iterator[str]:
    """Yield the lines above the reporting line, as far as they are kept."""
    head = (1, case.extract.heads.get(finding.source, ""))
    for begin, text in (case.extract.tails.get(finding.source, head), head):
        lines = text.split("\n")
        if begin <= finding.line < begin + len(lines):
            yield from reversed(lines[: finding.line - begin][-_MOST_ABOVE:])
            return


def is_of(own: ProcessId, where: ProcessId) -> bool:
    """Say whether a file is that of a process, by its rank or its local rank."""
    if own == NOWHERE:
        return False
    if where.rank is not None and own.rank is not None:
        return own.rank == where.rank
    is_here = own.node is None or where.node is None or own.node == where.node
    return is_here and where.local_rank is not None and own.local_rank == where.local_rank


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
        anomaly = next((case.anomalies[name] for name in _ODD if name in case.anomalies), None)
        if anomaly is None and ALIKE in case.anomalies:
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
    silent, finding = case.anomalies.get("silent-rank"), first.finding
    is_labelled = process_of(case.extract, first.source).filled(first.where) != NOWHERE
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
    is_named = process_of(case.extract, source).rank is not None
    return is_named or bool(case.extract.records.get(source))


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
    heads = {source: text for source, text in case.extract.heads.items() if source != teller}
    for source, head in heads.items():
        own = process_of(case.extract, source)
        if own != NOWHERE and any(match["pid"] in numbers for match in _OWN_PID.finditer(head)):
            yield own
    lines = [line for head in heads.values() for line in head.split("\n")]
    named = (find_process_by_pid(lines, int(number)) for number in sorted(numbers))
    yield from (where for where in named if where != NOWHERE)


def _iter_processes(case: Case, event: Occurrence) -> Iterator[ProcessId]:
    """Give the process of a line, by its label or by the file that it stands in."""
    where = event.finding.where.filled(process_of(case.extract, event.finding.source))
    if where != NOWHERE:
        yield where
