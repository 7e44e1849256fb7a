"""The arithmetic of a CUDA out-of-memory line.

In: findings of `memory.cuda-oom.*` with the sizes they captured, how many metric records stood before, and the size of the card where another line
tells it.
Out: shapes `oom-fragmented` or `oom-little-spare`, `oom-other-process` or `oom-all-own`, `oom-larger-than-card`, `oom-capped`, `oom-stray-contexts`,
`oom-after-steps` or `oom-before-steps`; their texts show the account in GiB.
Not here: the wordings (`patterns/signatures/memory`), the phase of the run (frames, in `patterns/causes/memory`).

    total - free - (allocated + reserved by this process)    held by others, and the context of this process
    reserved - allocated, against the request               fragmentation
The max_split_size / expandable_segments hint stands in every such line and is no evidence.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from postmortem.facts.shapes import Shape
from postmortem.model.findings import Finding

FAMILY: Final = "memory.cuda-oom."
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(bytes|[KMGT](?:i?B)?\b)", re.IGNORECASE)
_UNITS: Final = {"b": 1 / (1 << 30), "k": 1 / (1 << 20), "m": 1 / 1024, "g": 1.0, "t": 1024.0}
_PROCESS: Final = re.compile(r"\bProcess\s+(\d+)\s+has\s+(\S+\s+\S+)\s+memory\s+in\s+use")
_OTHERS_SHARE: Final = 0.1
_OTHERS_GIB: Final = 1.5
_CONTEXT_GIB: Final = 1.0
"""Up to this, another process holds hardly more than a CUDA context."""
_ROUNDING: Final = 1.02


class Account(NamedTuple):
    """The figures of one line in GiB; None where it does not print them, or prints what cannot be."""

    asked: float | None
    total: float | None
    free: float | None
    allocated: float | None
    spare: float | None
    """Reserved by this process, but not allocated."""
    own: float | None
    """Held by this process: as the driver counts it (with its context), else what its allocator has reserved."""
    processes: tuple[tuple[str, float], ...]
    """(pid, GiB) of the processes that the line names beside "this process"; in a container one of them may be this one."""
    is_own_named: bool

    @property
    def others(self) -> float | None:
        """What is neither free nor held by this process."""
        return None if self.total is None or self.free is None or self.own is None else self.total - self.free - self.own


def gib(text: str | None) -> float | None:
    """Read a printed size as GiB; None if there is none."""
    match = _SIZE.search(text or "")
    return None if match is None else float(match[1]) * _UNITS[match[2][0].lower()]


def account(finding: Finding) -> Account:
    """Read the figures of a line."""
    asked, total, free, allocated, reserved = (gib(finding.capture(name)) for name in ("asked", "total", "free", "allocated", "reserved"))
    asked = asked if asked is not None else gib(finding.capture("asked2"))
    spare = gib(finding.capture("unallocated"))
    if spare is None and reserved is not None and allocated is not None:
        spare = reserved - allocated
    if reserved is None and allocated is not None:
        reserved = allocated + (spare or 0.0)
    mine = gib(finding.capture("process_in_use"))
    if mine is not None and total is not None and mine > _ROUNDING * total:    # a counter that the driver does not keep (2**64 bytes)
        mine = None
    processes = tuple((pid, size) for pid, text in _PROCESS.findall(finding.text) if (size := gib(text)) is not None)
    return Account(asked, total, free, allocated, spare, mine if mine is not None else reserved, processes, mine is not None)


def shapes(findings: Iterable[tuple[Finding, int]], card_gib: float | None = None) -> list[Shape]:
    """Judge every out-of-memory line; each shape once, at its first line.

    Args:
        findings: findings, each with the number of metric records before it.
        card_gib: memory of the largest GPU that was printed, for lines that do not print it.
    """
    found: dict[str, Shape] = {}
    for finding, records_before in findings:
        if not finding.signature.startswith(FAMILY):
            continue
        name = "oom-after-steps" if records_before else "oom-before-steps"
        found.setdefault(name, _shape(name, f"{records_before} metric records before the first out-of-memory line", finding))
        figures = account(finding)
        for one in (_spare(figures), _others(figures), _stray(figures), _too_large(figures, gib(finding.capture("needed")), card_gib), _capped(figures, gib(finding.capture("allowed")))):
            if one is not None:
                found.setdefault(one[0], _shape(*one, finding))
    for present, absent in (("oom-fragmented", "oom-little-spare"), ("oom-other-process", "oom-all-own")):
        if present in found:    # on any rank
            found.pop(absent, None)
    return list(found.values())


def _spare(one: Account) -> tuple[str, str] | None:
    if one.asked is None or one.spare is None:
        return None
    reserved = f"{one.allocated + one.spare:.2f} reserved - {one.allocated:.2f} allocated = " if one.allocated is not None else ""
    is_enough = one.spare > max(1.2 * one.asked, 0.5)
    text = f"{reserved}{one.spare:.2f} GiB reserved but unallocated, {one.asked:.2f} GiB asked"
    return ("oom-fragmented" if is_enough else "oom-little-spare", text)


def _others(one: Account) -> tuple[str, str] | None:
    others = one.others
    if one.total is None or one.free is None or one.own is None or others is None or one.own > _ROUNDING * one.total:
        return None
    text = f"{one.total:.2f} total - {one.free:.2f} free - {one.own:.2f} of this process = {max(0.0, others):.2f} GiB"
    if others < max(_OTHERS_SHARE * one.total, _OTHERS_GIB):
        return ("oom-all-own", f"{text} for contexts")
    held = [f"process {pid}: {size:.2f}" for pid, size in sorted(one.processes, key=lambda entry: -entry[1])[:4] if one.is_own_named or abs(size - one.own) > _CONTEXT_GIB]
    return ("oom-other-process", f"{text} held elsewhere" + (f" ({', '.join(held)})" if held else ""))


def _stray(one: Account) -> tuple[str, str] | None:
    """Several processes with hardly more than a context each: ranks of one job that opened one on the wrong card."""
    small = [size for _, size in one.processes if size <= _CONTEXT_GIB]
    if len(small) < 2:
        return None
    return ("oom-stray-contexts", f"{len(small)} other processes with {min(small):.2f} to {max(small):.2f} GiB each on this GPU")


def _too_large(one: Account, needed: float | None, card_gib: float | None) -> tuple[str, str] | None:
    """One request, or one compiled program, that no empty card could hold."""
    total, asked = one.total if one.total is not None else card_gib, needed if needed is not None else one.asked
    if asked is None or total is None or asked <= total:
        return None
    return ("oom-larger-than-card", f"{asked:.2f} GiB asked at once, the card has {total:.2f} GiB")


def _capped(one: Account, allowed: float | None) -> tuple[str, str] | None:
    if allowed is None or one.total is None or allowed * _ROUNDING > one.total:
        return None
    return ("oom-capped", f"{allowed:.2f} of {one.total:.2f} GiB allowed to this process")


def _shape(name: str, text: str, finding: Finding) -> Shape:
    return Shape(name, text, finding.source, finding.where, finding.line)
