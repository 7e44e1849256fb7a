"""Find the process that a report of NCCL's RAS names as the odd one.

In: findings of the parts of such reports (`ncclras`, `verbose status`). Out: the anomalies
`ras-outlier` and, of a rank that has launched fewer operations than the others,
`rank-absent-from-collective`. Not here: the wording of the parts (`patterns/signatures/context`).
Source: src/ras/client_support.cc of NCCL 2.24 to 2.31.

A process that does not answer comes first, then one that reports an error of its own, another
status than its peers, fewer operations. RAS lists the ranks of the smaller sets only: where most
are behind, or two operations name different ranks, none is named (`ranks-wait-alike`). A report
with training behind it says nothing: counts differ at any moment of a sound run. Ranks are
those of their communicator; only one that spans all GPUs of the job counts them as the job does.
"""

import re
from collections.abc import Container, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE, Finding, ProcessId
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import SEMICOLON, Message, cut, join_list, quote, say
from postmortem.diagnosis.detectors.collectives import format_ranks
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.diagnosis.detectors.waiting_ranks import ABSENT, ALIKE, OUTLIER

REPORT: Final = "context.ras-report"
_ORDER: Final = ("Missing", "dead", "error", "status", "launched")
"""What a set of processes is named for, the surest sign first."""
_PROCESS: Final = compile_lazily(
    r"^ +(?:Rank (?P<rank>\d{1,7})(?P<own> [^\n]{3,80}?)? -- (?:\[|GPUs? \S{1,80} managed by "
    r"process (?P<managed>\d{1,10}) on node (?P<node>\S{1,80}))"
    r"|Process (?P<pid>\d{1,10}) on node (?P<host>\S{1,80}) managing )"
)
_SET: Final = compile_lazily(r"^ +(?P<count>\d{1,7}) ranks (?P<own>(?:have|reported) [^\n]{3,80})")
_COUNT: Final = compile_lazily(r"launched (?:up to operation (?P<count>\d{1,18})|any operations)")
_OPERATION: Final = compile_lazily(r"different (?P<operation>\w{2,40}) operation counts")
_TOTAL: Final = compile_lazily(r"\A\(total\)[^\n]*\n[\d ]{1,80} (?P<gpus>\d{1,7})\s*\Z")
_SIZE: Final = compile_lazily(
    r"^ +(?P<group>\d+) +\d+ +\d+ +[\d-]+ +(?P<size>\d{1,7}) +\d+ +[A-Z]", re.MULTILINE
)
_GROUP: Final = compile_lazily(r"\A#(?P<group>\d+)-")
_ECHOES: Final = ("Remote process error", "operation in progress")
"""What ranks report of an error elsewhere."""
_MOST_SHOWN: Final = 8


class _NamedSet(NamedTuple):
    """Processes that a report lists together, and what for."""

    reason: str
    """One of `_ORDER`."""
    said: str
    """The value that they share: a status, an error, a count of operations."""
    size: int
    processes: tuple[ProcessId, ...]
    """As far as they are listed."""
    line: int
    operation: str
    group: str = ""
    """The communicator, as RAS numbers it."""
    source: int = 0


def detect_ras_outlier(observed: Observed) -> Iterator[Anomaly]:
    """Find the processes that a report of RAS names as odd, by the surest of its signs."""
    sets = [*_iter_odd_sets(observed)]
    reason = min((one.reason for one in sets), key=_ORDER.index, default="")
    chosen = [one for one in sets if one.reason == reason]
    listed = [one for one in chosen if one.processes]
    is_one = reason != "launched" or len({one.processes for one in listed}) == 1
    if listed and is_one:
        yield _build_anomaly(min(listed, key=lambda one: one.processes[0].rank is None))
    elif chosen:
        yield _build_anomaly(chosen[0]._replace(processes=()))


def _iter_odd_sets(observed: Observed) -> Iterator[_NamedSet]:
    """Yield the sets of processes that stand out in some part of a report at the end."""
    reports = [
        finding
        for finding, _ in observed.findings
        if finding.signature == REPORT
        and finding.line > observed.last_records.get(finding.source, 0)
    ]
    spanning = _list_spanning(reports)
    for finding in reports:
        group = _get_part(finding).partition(" ")[0]
        for topic in _split_topics(finding, spanning):
            for one in (*_select_failed(topic), *_select_odd(topic)):
                yield one._replace(source=finding.source, group=group)


def _list_spanning(reports: Sequence[Finding]) -> set[tuple[int, str]]:
    """List the groups of communicators, with their source, that span all GPUs of the job."""
    totals, sizes = {}, {}
    for report in reports:
        part = _get_part(report)
        if (total := _TOTAL.match(part)) is not None:
            totals[report.source] = total["gpus"]
        for size in _SIZE.finditer(part):
            sizes[report.source, size["group"]] = size["size"]
    return {key for key, size in sizes.items() if size == totals.get(key[0])}


def _split_topics(
    finding: Finding, spanning: Container[tuple[int, str]]
) -> Iterator[list[_NamedSet]]:
    """Read the sets of processes of a part of a report, those of one topic together."""
    part = _get_part(finding)
    group = _GROUP.match(part)
    is_of_job = group is not None and (finding.source, group["group"]) in spanning
    operation, found = "", list[_NamedSet]()
    rows = part.split("\n")
    for line, row in enumerate(rows, finding.end_line - len(rows) + 1):
        process, shared = _PROCESS.match(row), _SET.match(row)
        said = ((process and process["own"]) or (shared and shared["own"]) or "").strip()
        if said:
            size = int(shared["count"]) if shared else 1
            found.append(_NamedSet(_find_reason(said), said, size, (), line, operation))
        if process is not None and found:
            where = _parse_process(process, is_of_job=is_of_job)
            found[-1] = found[-1]._replace(processes=(*found[-1].processes, where))
        elif process is None and shared is None:
            yield found
            operation, found = _begin_topic(row, line)
    yield found


def _begin_topic(row: str, line: int) -> tuple[str, list[_NamedSet]]:
    """Give the operation that a topic is about, and its first set if the heading says it all."""
    topic = _OPERATION.search(row)
    reason = next((one for one in _ORDER[:2] if one in row), "")
    whole = [_NamedSet(reason, row.strip(), 0, (), line, "")] if reason else []
    return topic["operation"] if topic else "", whole


def _get_part(finding: Finding) -> str:
    return finding.capture("part") or ""


def _parse_process(match: re.Match[str], *, is_of_job: bool) -> ProcessId:
    """Name a process by its machine and number, and by its rank where that is the job's."""
    pid = match["managed"] or match["pid"]
    return ProcessId(
        rank=int(match["rank"]) if match["rank"] and is_of_job else None,
        node=match["node"] or match["host"],
        pid=int(pid) if pid else None,
    )


def _find_reason(said: str) -> str:
    if "launched" in said:
        return "launched"
    return "status" if "status" in said else "error"


def _select_failed(found: Sequence[_NamedSet]) -> Iterator[_NamedSet]:
    """Yield the sets that do not answer, or report an error that is not elsewhere."""
    for one in found:
        is_own = one.reason == "error" and not any(echo in one.said for echo in _ECHOES)
        if is_own or one.reason in _ORDER[:2]:
            yield one


def _select_odd(found: Sequence[_NamedSet]) -> Iterator[_NamedSet]:
    """Yield the sets that differ; of counts the lowest, without names if it is of most ranks."""
    counted = sorted((one for one in found if one.reason == "launched"), key=_count_operations)
    if len(counted) > 1:
        is_few = 2 * counted[0].size < sum(one.size for one in counted)
        yield counted[0] if is_few else counted[0]._replace(processes=())
    states = sorted((one for one in found if one.reason == "status"), key=lambda one: -one.size)
    yield from (one for one in states[1:] if "RUNNING" not in one.said)


def _count_operations(one: _NamedSet) -> int:
    match = _COUNT.search(one.said)
    return int(match["count"] or 0) if match else 0


def _build_anomaly(one: _NamedSet) -> Anomaly:
    """Name the processes, with what RAS says of them, at the line that lists the first.

    Of most ranks of a communicator none is named: any of the others may have gone on.
    """
    said = quote(cut(one.said, 160))
    operation = f" ({one.operation})" if one.operation else ""
    if not one.processes:
        message = say(
            "NCCL's RAS counts {count}: {said}{operation}; which of them hold up the others it does"
            " not list",
            count=one.size,
            said=said,
            operation=operation,
        )
        return Anomaly(ALIKE, message, one.source, NOWHERE, one.line)
    first, ranks = one.processes[0], [where.rank for where in one.processes]
    known = [rank for rank in ranks if rank is not None]
    message = say(
        "NCCL's RAS names {processes}: {said}{operation}",
        processes=(
            f"rank {format_ranks(known, _MOST_SHOWN)}"
            if len(known) == len(ranks)
            else join_list([*map(_name_process, one.processes[:_MOST_SHOWN])], SEMICOLON)
        ),
        said=said,
        operation=operation,
    )
    captures = {"operation": one.operation, "group": one.group} if one.operation else {}
    if known:
        captures |= {"rank": str(known[0]), "ranks": ",".join(map(str, known[:_MOST_SHOWN]))}
    name = ABSENT if one.reason == "launched" else OUTLIER
    return Anomaly(name, message, one.source, first, one.line, captures)


def _name_process(where: ProcessId) -> Message:
    return say(
        "process {pid} on {node}",
        pid=where.pid or "?",
        node=where.node or "?",
    )
