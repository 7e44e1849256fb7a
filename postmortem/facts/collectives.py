"""What the watchdogs of several ranks say of one collective.

In: findings of the watchdog's time-out with the sequence number and operation they captured. Out: shape `ranks-differ`.
Not here: the wordings (`patterns/signatures/distributed`), time-outs of a single rank.

Under one sequence number all ranks of a group must be in the same operation. Groups count for themselves; lines that name different groups are not compared.
"""

import re
from collections.abc import Iterable
from typing import Final

from postmortem.facts.shapes import Shape
from postmortem.model.findings import Finding

WATCHDOG: Final = "distributed.nccl-timeout.watchdog"
_RANK: Final = re.compile(r"\bRank (\d+)\]")
_GROUP: Final = re.compile(r"\[PG (?:ID )?(?P<group>[^\]]{1,80}?)(?: Rank \d+)?\]")
_SIZE: Final = re.compile(r"(?:NumelIn=|TensorShape=\[)(?P<size>[\d, ]+)")


def shapes(findings: Iterable[Finding]) -> list[Shape]:
    """Find the first pair of ranks that disagree."""
    known: dict[tuple[str, str], tuple[str, str]] = {}
    for finding in findings:
        number, operation = finding.capture("seq"), finding.capture("op")
        rank = _RANK.search(finding.text)
        if finding.signature != WATCHDOG or number is None or operation is None or rank is None:
            continue
        size, group = _SIZE.search(finding.text), _GROUP.search(finding.text)
        call = f"{operation}({size['size'].strip(', ')})" if size else operation
        other, other_call = known.setdefault((group["group"] if group else "", number), (rank[1], call))
        if other != rank[1] and other_call != call:
            return [Shape("ranks-differ", f"SeqNum {number}: rank {other} in {other_call}, rank {rank[1]} in {call}", finding.source, finding.where, finding.line)]
    return []
