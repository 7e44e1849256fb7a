"""What the watchdogs of several ranks say of one collective.

In: findings of the watchdog's time-out with the sequence number and operation they captured, of its
count of enqueued work, and of the ranks that join a communicator. Out: shapes `ranks-differ`,
`rank-behind`, `nccl-rank-absent`. Not here: the wordings (`patterns/signatures/distributed`),
time-outs of a single rank.

Under one sequence number all ranks of a group must be in the same operation, and the rank that has
enqueued least has not come to the collective for which the others wait. Groups count for
themselves; lines that name different groups are not compared.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from postmortem.facts.shapes import Shape
from postmortem.model.findings import Finding
from postmortem.model.numerals import whole_number
from postmortem.model.said import say

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
"""A count above it is torch's way, in some versions, to say that nothing was completed or enqueued."""
_RANK: Final = re.compile(r"\bRank (\d{1,9})\]")
_GROUP: Final = re.compile(r"\[PG (?:ID )?(?P<group>[^\]]{1,80}?)(?: Rank \d+)?\]")
_SIZE: Final = re.compile(r"(?:NumelIn=|TensorShape=\[)(?P<size>[\d, ]+)")


def shapes(findings: Iterable[Finding]) -> list[Shape]:
    """Find the first pair of ranks that disagree, and the rank that has not come."""
    seen = list(findings)
    return [*_differing(seen), *_behind(seen), *_absent(seen)]


def _differing(findings: Iterable[Finding]) -> list[Shape]:
    known: dict[tuple[str, str], tuple[str, str]] = {}
    for finding in findings:
        number, operation = finding.capture("seq"), finding.capture("op")
        rank = _RANK.search(finding.text)
        if finding.signature != WATCHDOG or number is None or operation is None or rank is None:
            continue
        size = _SIZE.search(finding.text)
        call = f"{operation}({size['size'].strip(', ')})" if size else operation
        other, other_call = known.setdefault((_group(finding), number), (rank[1], call))
        if other != rank[1] and other_call != call:
            said = say(
                "SeqNum {number}: rank {one} in {one_call}, rank {other} in {other_call}",
                "SeqNum {number}：rank {one} 在 {one_call}，rank {other} 在 {other_call}",
                number=number,
                one=other,
                one_call=other_call,
                other=rank[1],
                other_call=call,
            )
            return [Shape("ranks-differ", said, finding.source, finding.where, finding.line)]
    return []


def _behind(findings: Iterable[Finding]) -> list[Shape]:
    """Compare how much each rank of a group had enqueued."""
    counts: dict[str, dict[str, tuple[int, Finding]]] = defaultdict(dict)
    for finding in findings:
        enqueued, rank = whole_number(finding.capture("enqueued")), _RANK.search(finding.text)
        if (
            finding.signature in COUNTS
            and enqueued is not None
            and rank is not None
            and enqueued < NEVER
        ):
            counts[_group(finding)].setdefault(rank[1], (enqueued, finding))
    for group in counts.values():
        (least, finding), most = (
            min(group.values(), key=lambda one: one[0]),
            max(count for count, _ in group.values()),
        )
        late = sorted((rank for rank, (count, _) in group.items() if count == least), key=int)
        if least < most and len(late) < len(group):
            said = say(
                "last enqueued work: {least} on rank {late}, up to {most} on the others",
                "最后入队的集合通信：rank {late} 为第 {least} 个，其他 rank 最多到第 {most} 个",
                least=least,
                late=", ".join(late),
                most=most,
            )
            return [Shape("rank-behind", said, finding.source, finding.where, finding.line)]
    return []


def _absent(findings: Iterable[Finding]) -> list[Shape]:
    """Find a communicator that some ranks have begun to join and none has joined, and the ranks that did not begin."""
    begun: dict[tuple[str, int], dict[int, Finding]] = defaultdict(dict)
    joined: set[tuple[str, int]] = set()
    for finding in findings:
        if finding.signature in {INIT_START, INIT_COMPLETE}:
            key = (finding.capture("comm") or "", whole_number(finding.capture("nranks")) or 0)
            if finding.signature == INIT_COMPLETE:
                joined.add(key)
            else:
                begun[key][whole_number(finding.capture("rank")) or 0] = finding
    for key, ranks in begun.items():
        missing = [rank for rank in range(min(key[1], _MOST_RANKS)) if rank not in ranks]
        if key not in joined and missing and len(ranks) > 1:
            last = max(ranks.values(), key=lambda finding: (finding.source, finding.line))
            said = say(
                "{begun} of {count} ranks began to join the communicator and none has joined; not"
                " seen: rank {missing}",
                "{count} 个 rank 中有 {begun} 个开始加入通信器，但没有一个完成；未出现的是 rank"
                " {missing}",
                begun=len(ranks),
                count=key[1],
                missing=", ".join(map(str, missing[:8])) + (" ..." if len(missing) > 8 else ""),
            )
            return [Shape("nccl-rank-absent", said, last.source, last.where, last.line)]
    return []


def _group(finding: Finding) -> str:
    group = _GROUP.search(finding.text)
    return group["group"] if group else ""
