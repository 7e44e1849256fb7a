"""Find by watchdogs and peers the rank that is not where the others are.

In: findings of a watchdog's time-out with the sequence number and operation they captured, of its
count of enqueued work, of the ranks that join a communicator; what processes say of one another,
the last steps of each. Out: the anomalies `ranks-differ`, `rank-behind`, `nccl-rank-absent`;
`peer-named`, `silent-rank`, which stand for the process that is meant, at the line that shows it.
Not here: the wordings (`patterns/signatures/distributed`), time-outs of a single rank, dumps of the
flight recorder (`detectors.waiting_ranks`), values that go wrong (`detectors.ranks`).

Under one sequence number all ranks of a group must be in the same operation, and the rank that has
enqueued least has not come to the collective for which the others wait. Groups count for
themselves; lines that name different groups are not compared.

What waits for a process tells of it; the process itself may say nothing at all. So the one whom
several others name as gone or missing is looked at first, then the one that keeps silent where its
peers report, or whose last step is before theirs.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE, Finding, ProcessId
from postmortem.core.log_text import compile_lazily, compile_lazily_with_words, parse_whole_number
from postmortem.core.message import say
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.reading.prefixes import clean

WATCHDOG: Final = "distributed.nccl-timeout.watchdog"
COUNTS: Final = frozenset(
    {
        "distributed.nccl-timeout.work-status",
        "distributed.nccl-timeout.idle-rank",
        "distributed.nccl-timeout.dump-signal",
    }
)
INIT_START: Final = "context.nccl-init.start"
INIT_COMPLETE: Final = "context.nccl-init.complete"
_MOST_RANKS_OF_GROUP: Final = 1 << 20
NEVER: Final = 1 << 31
"""A count above it is torch's way, in some versions, to say that nothing was completed or
enqueued."""
_RANK: Final = compile_lazily(r"\bRank (\d{1,9})\]")
_GROUP: Final = compile_lazily(r"\[PG (?:ID )?(?P<group>[^\]]{1,80}?)(?: Rank \d+)?\]")
_MOST_SHOWN: Final = 8
_Place = tuple[int, ProcessId, int]
"""Source, process, line."""
_SIZE: Final = compile_lazily(r"(?:NumelIn=|TensorShape=\[)(?P<size>[\d, ]+)")


def detect_mismatched_collectives(observed: Observed) -> Iterable[Anomaly]:
    """Find ranks that are in different operations under one sequence number: the odd one of them.

    Where as many are in each, the one that stands behind.
    """
    for number, calls in _group_calls_by_sequence(observed).items():
        if len(calls) < 2:
            continue
        (odd_call, odd), *others = sorted(calls.items(), key=lambda entry: len(entry[1]))
        is_odd = len(odd) < len(others[0][1])
        if not is_odd:
            (other_call, other), (odd_call, odd), *_ = calls.items()
        else:
            other_call, other = others[-1]
        (rank, finding), rank_elsewhere = next(iter(odd.items())), next(iter(other))
        message = say(
            "SeqNum {number}: rank {one} in {one_call}, rank {other} in {other_call}",
            number=number[1],
            one=rank_elsewhere,
            one_call=other_call,
            other=rank,
            other_call=odd_call,
        )
        where = finding.where if finding.where.rank is not None else ProcessId(rank=int(rank))
        return [Anomaly("ranks-differ", message, finding.source, where, finding.line)]
    return []


def _group_calls_by_sequence(
    observed: Observed,
) -> Mapping[tuple[str, str], Mapping[str, Mapping[str, Finding]]]:
    """Give by group and sequence number which ranks wait in which operation."""
    found: dict[tuple[str, str], dict[str, dict[str, Finding]]] = {}
    for finding, _ in observed.findings:
        number, operation = finding.capture("seq"), finding.capture("op")
        rank = _RANK.search(finding.text)
        if finding.signature != WATCHDOG or number is None or operation is None or rank is None:
            continue
        size = _SIZE.search(finding.text)
        call = f"{operation}({size['size'].strip(', ')})" if size else operation
        calls = found.setdefault((_group(finding), number), {})
        if not any(rank[1] in ranks for ranks in calls.values()):
            calls.setdefault(call, {})[rank[1]] = finding
    return found


def detect_lagging_ranks(observed: Observed) -> Iterable[Anomaly]:
    """Find the ranks of a group that had enqueued less than its others."""
    for counts in _collect_enqueued_counts(observed).values():
        least, place = min(counts.values(), key=lambda count: count[0])
        most = max(count for count, _ in counts.values())
        late = sorted((rank for rank, (count, _) in counts.items() if count == least), key=int)
        if least < most:
            message = say(
                "last enqueued work: {least} on rank {late}, up to {most} on the others",
                least=least,
                late=", ".join(late),
                most=most,
            )
            return [Anomaly("rank-behind", message, *place)]
    return []


def _collect_enqueued_counts(observed: Observed) -> Mapping[str, Mapping[str, tuple[int, _Place]]]:
    """Give by group how much each rank had enqueued, by what it says first."""
    counts: dict[str, dict[str, tuple[int, _Place]]] = defaultdict(dict)
    for finding, _ in observed.findings:
        enqueued, rank = parse_whole_number(finding.capture("enqueued")), _RANK.search(finding.text)
        if (
            finding.signature in COUNTS
            and enqueued is not None
            and rank is not None
            and enqueued < NEVER
        ):
            place = (finding.source, finding.where, finding.line)
            counts[_group(finding)].setdefault(rank[1], (enqueued, place))
    return counts


def detect_absent_ranks(observed: Observed) -> Iterable[Anomaly]:
    """Find a communicator that some ranks have begun to join and none has joined.

    It is told which ranks did not begin.
    """
    for count, ranks in _list_incomplete_communicators(observed):
        missing = [rank for rank in range(min(count, _MOST_RANKS_OF_GROUP)) if rank not in ranks]
        if missing and len(ranks) > 1:
            last = max(ranks.values(), key=lambda finding: (finding.source, finding.line))
            message = say(
                "{begun} of {count} ranks began to join the communicator and none has joined; not"
                " seen: rank {missing}",
                begun=len(ranks),
                count=count,
                missing=format_ranks(missing),
            )
            return [Anomaly("nccl-rank-absent", message, last.source, last.where, last.line)]
    return []


def _list_incomplete_communicators(observed: Observed) -> list[tuple[int, Mapping[int, Finding]]]:
    """Give the communicators that no rank finished setting up: size, and start lines by rank."""
    begun: dict[tuple[str, int], dict[int, Finding]] = defaultdict(dict)
    joined: set[tuple[str, int]] = set()
    for finding, _ in observed.findings:
        if finding.signature not in {INIT_START, INIT_COMPLETE}:
            continue
        key = (finding.capture("comm") or "", parse_whole_number(finding.capture("nranks")) or 0)
        if finding.signature == INIT_COMPLETE:
            joined.add(key)
        else:
            begun[key][parse_whole_number(finding.capture("rank")) or 0] = finding
    return [(key[1], ranks) for key, ranks in begun.items() if key not in joined]


def format_ranks(ranks: Sequence[int], most: int = _MOST_SHOWN) -> str:
    """List the first of them."""
    rest = " ..." if len(ranks) > most else ""
    return ", ".join(map(str, ranks[:most])) + rest


def _group(finding: Finding) -> str:
    group = _GROUP.search(finding.text)
    return group["group"] if group else ""


_FEWEST: Final = 3
"""Processes among which one can be odd."""
_MOST_TEXT: Final = 600
_MOST_RANKS_EXPECTED: Final = 1 << 16
_LIST: Final = r"[\[({]?(?P<ranks>\d{1,6}(?:(?:, ?|,? and )\d{1,6}){0,8})[\])}]?"
_MISSED: Final = compile_lazily_with_words(
    "rank",
    r"(?i)\b(?:missing|absent|waiting (?:for|on)|lost|lost (?:connection|contact) (?:to|with)"
    r"|(?:no|not received) (?:\w+ ){1,4}from|not heard from|unresponsive|lagging|dead"
    r"|straggl\w+|blocked (?:by|on)|timed? ?out (?:waiting )?(?:for|on)"
    r"|disconnected from)(?: \w+){0,3}? \(?(?:global )?ranks?\b[ :=#]{0,3}" + _LIST,
)
_DID_NOT: Final = compile_lazily_with_words(
    "rank",
    r"(?i)\branks? " + _LIST + r" (?:(?:is|are|was|were|has|have|had) )?(?:(?:not|never) "
    r"(?:join|reach|arriv|respond|enter|report|show|call)\w*|did ?n[o']t \w+"
    r"|failed to (?:pass|join|reach|arrive|enter|respond)|missing|absent|unresponsive"
    r"|lagging|unreachable|lost|the lagging|stuck|gone|disconnected|timed out)",
)
_HOST: Final = r"(?P<host>[A-Za-z][\w-]{0,60}(?:\.[A-Za-z][\w-]{0,60}){0,4})"
_GONE: Final = compile_lazily_with_words(
    "peer node ssh",
    r"(?:(?:closed by|from|to|with) (?:remote )?peer|remote peer) " + _HOST + r"<\d{1,6}>"
    r"|\b[Nn]odes? (?:failure on )?(?P<node>[A-Za-z][\w.-]{0,80}?),? "
    r"(?:(?:is|are|was|has been|state) )?(?:not responding|unreachable|down\b|DOWN|lost|NotReady"
    r"|failed)"
    r"|Node failure on (?P<failed>[A-Za-z][\w.-]{0,80})"
    r"|^(?:pdsh@\S{1,80}: )?(?P<ssh>[A-Za-z][\w.-]{0,80}): ssh exited with exit code 255",
)
_DOWN_NODE: Final = compile_lazily(
    r"^NodeName=(?P<record>\S{1,80})[^\n]*\n(?:[ \t](?![ \t]{0,7}State=)[^\n]*\n){0,16}"
    r"[ \t]{1,8}State=[\w+*]*(?:DOWN|NOT_RESPONDING|FAIL)"
    r"|^(?P<row>[A-Za-z][\w.-]{0,79})[ \t]{1,20}\d{1,9}[ \t]{1,20}\S{1,80}[ \t]{1,20}"
    r"(?:down|fail|no_respond)\w*[*~#!%$@^-]?\s",
    re.MULTILINE,
)
"""Of `scontrol show node` and `sinfo -N -l`."""
_BEGUN: Final = compile_lazily_with_words(
    "rank", r"(?i)\b(?:(?:missing|stalled|absent) ranks? ?|ranks that caused the desync are): *$"
)
_LISTED: Final = compile_lazily(
    r"^\s*(?:(?P<rank>\d{1,6}): \[|(?:- )?\[(?P<ranks>[\d, -]{1,200})\] (?:joined|finished) )"
)
_SPAN: Final = compile_lazily(r"(\d{1,6})(?:-(\d{1,6}))?")
_FEW: Final = 16
"""Ranks of a list that are looked at."""
_NAMES: Final = ("host", "node", "failed", "ssh")
_WORDS: Final = frozenset({"is", "was", "has", "set", "state", "the", "a", "this", "that", "on"})


class _MissingReport(NamedTuple):
    """A line that names a process, or a machine, as missing."""

    by: tuple[int, ProcessId]
    source: int
    line: int


def detect_reported_missing(observed: Observed) -> Iterable[Anomaly]:
    """Find the process, or the machine, that most of the others name as gone or missing."""
    tellers: dict[ProcessId, dict[tuple[int, ProcessId], _MissingReport]] = defaultdict(dict)
    for report, missing in _iter_missing_reports(observed):
        for process in missing:
            tellers[process].setdefault(report.by, report)
    ranked = sorted(tellers.items(), key=lambda entry: -len(entry[1]))
    if not ranked or (
        len(ranked) > 1
        and len(ranked[0][1]) == len(ranked[1][1])
        and (ranked[0][0].rank is None) == (ranked[1][0].rank is None)
    ):
        return []
    where, by = ranked[0]
    first = min(by.values(), key=lambda report: (report.source, report.line))
    message = say(
        "{rank} is missed by {count} that tell of it",
        rank=where.describe(),
        count=len(by),
    )
    return [Anomaly("peer-named", message, first.source, where, first.line)]


def _iter_missing_reports(observed: Observed) -> Iterator[tuple[_MissingReport, list[ProcessId]]]:
    """Yield the lines that name a process as missing: findings, and the ends of the sources."""
    for finding, _ in observed.findings:
        if missing := _parse_missing_processes(finding.text[:_MOST_TEXT]):
            by = (finding.source, finding.where)
            yield _MissingReport(by, finding.source, finding.line), missing
    for source, (first, text) in observed.tails.items():
        if source in observed.processes:
            yield from _iter_down_nodes(observed, source)
            begun = False
            for number, line in enumerate(text.split("\n"), first):
                if missing := _parse_missing_processes(line[:_MOST_TEXT], begun=begun):
                    yield _MissingReport((source, NOWHERE), source, number), missing
                begun = _BEGUN.search(line) is not None or (begun and bool(missing))


def _iter_down_nodes(
    observed: Observed, source: int
) -> Iterator[tuple[_MissingReport, list[ProcessId]]]:
    """Yield the nodes that a report of Slurm's states calls down, if another source names them.

    The others have nothing to do with the job.
    """
    first, text = observed.tails[source]
    if "NodeName=" not in text and "NODELIST" not in text:
        return
    down = {match["record"] or match["row"]: match.start() for match in _DOWN_NODE.finditer(text)}
    if not down:
        return
    name = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, down))})(?![\w-])")
    others = (other for other in observed.tails if other != source)
    texts = (
        end for other in others for end in (observed.heads.get(other, ""), observed.tails[other][1])
    )
    for node in sorted({found for other in texts for found in name.findall(other)}):
        line = first + text.count("\n", 0, down[node])
        yield _MissingReport((source, NOWHERE), source, line), [ProcessId(node=node)]


def _parse_missing_processes(text: str, *, begun: bool = False) -> list[ProcessId]:
    """Read whom a line names as missing, or one of a list that has begun."""
    if begun and (match := _LISTED.search(clean(text).text)) is not None:
        return [ProcessId(rank=rank) for rank in _expand_ranks(match["rank"] or match["ranks"])]
    for pattern in (_MISSED, _DID_NOT):
        if (match := pattern.search(text)) is not None:
            return [ProcessId(rank=int(rank)) for rank in re.findall(r"\d+", match["ranks"])]
    if (match := _GONE.search(text)) is not None:
        name = next(match[group] for group in _NAMES if match[group]).rstrip(".,:;")
        return [] if name.lower() in _WORDS else [ProcessId(node=name)]
    return []


def _expand_ranks(listed: str) -> list[int]:
    """Read a list with ranges, as far as it may name an outlier: `0-1, 3`."""
    spans = ((int(first), int(last or first)) for first, last in _SPAN.findall(listed))
    return [*islice((rank for first, last in spans for rank in range(first, last + 1)), _FEW)]


def detect_silent_process(observed: Observed) -> Iterable[Anomaly]:
    """Find the one process that keeps silent where its peers report, or stops before them."""
    last = _collect_last_steps(observed)
    waiting = _collect_watchdog_reports(observed)
    ranks = {where.rank for where in (*last, *observed.processes.values())}
    ranks.update(_list_ranks_in_shared_log(observed, waiting))
    quiet = sorted(rank for rank in ranks if rank is not None and rank not in waiting)
    if len(waiting) >= _FEWEST - 1 and len(quiet) == 1:
        finding = next(iter(waiting.values()))
        message = say(
            "the watchdogs of {count} ranks report, that of rank {rank} does not",
            count=len(waiting),
            rank=quiet[0],
        )
        return [
            Anomaly("silent-rank", message, finding.source, ProcessId(rank=quiet[0]), finding.line)
        ]
    return _detect_first_to_stop(last)


def _list_ranks_in_shared_log(observed: Observed, waiting: Mapping[int, Finding]) -> Iterable[int]:
    """Give the ranks of a job that writes one log, in which the watchdogs of several report.

    There all that have one report; of several files some may not be there.
    """
    if len(waiting) < _FEWEST - 1 or len({finding.source for finding in waiting.values()}) > 1:
        return ()
    named = parse_whole_number(observed.facts.get("env.world_size")) or 0
    return range(min(max(named, max(waiting) + 1), _MOST_RANKS_EXPECTED))


def _collect_watchdog_reports(observed: Observed) -> Mapping[int, Finding]:
    """Give the first report of each rank's watchdog."""
    found: dict[int, Finding] = {}
    for finding, _ in observed.findings:
        rank = re.search(r"\bRank (\d{1,6})\]", finding.text)
        if finding.signature == WATCHDOG and rank is not None:
            found.setdefault(int(rank[1]), finding)
    return found


class _Step(NamedTuple):
    """The last step that a process records, and where."""

    step: float
    source: int
    line: int


def _collect_last_steps(observed: Observed) -> Mapping[ProcessId, _Step]:
    """Give the last recorded step of each process: of a rank, or of the only one of a machine."""
    found: dict[ProcessId, _Step] = {}
    for series in observed.series:
        last = series.last
        if last is None or math.isnan(last.step):
            continue
        where = _shorten_process(series.where)
        if where == NOWHERE:
            continue
        if where not in found or found[where].step < last.step:
            found[where] = _Step(last.step, series.source, last.line)
    return found


def _shorten_process(where: ProcessId) -> ProcessId:
    if where.rank is not None:
        return ProcessId(rank=where.rank)
    if where.local_rank is not None:
        return ProcessId(local_rank=where.local_rank, node=where.node)
    return ProcessId(node=where.node, pid=where.pid if where.node is None else None)


def _detect_first_to_stop(last: Mapping[ProcessId, _Step]) -> list[Anomaly]:
    """Find the one process whose last step is before that of all the others, which agree."""
    if len(last) < _FEWEST:
        return []
    (odd, first), *others = sorted(last.items(), key=lambda entry: entry[1].step)
    if first.step >= others[0][1].step or others[0][1].step != others[-1][1].step:
        return []
    message = say(
        "{name} records up to step {step:g}, the other {count} up to step {other:g}",
        name=odd.describe(),
        step=first.step,
        count=len(others),
        other=others[0][1].step,
    )
    return [Anomaly("silent-rank", message, first.source, odd, first.line)]
