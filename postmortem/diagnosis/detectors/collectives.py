"""Compare what the watchdogs of several ranks report of one collective.

In: findings of the watchdog's time-out with the sequence number and operation they captured, of its
count of enqueued work, and of the ranks that join a communicator. Out: the anomalies
`ranks-differ`, `rank-behind`, `nccl-rank-absent`. Not here: the wordings
(`patterns/signatures/distributed`), time-outs of a single rank, dumps of the flight recorder
(`detectors.waiting_ranks`).

Under one sequence number all ranks of a group must be in the same operation, and the rank that has
enqueued least has not come to the collective for which the others wait. Groups count for
themselves; lines that name different groups are not compared.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from postmortem.core.findings import Finding
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import ProcessId
from postmortem.core.message import say
from postmortem.core.numerals import parse_whole_number
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed

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
_MOST_RANKS: Final = 1 << 20
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
        missing = [rank for rank in range(min(count, _MOST_RANKS)) if rank not in ranks]
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
