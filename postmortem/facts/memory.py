"""The arithmetic of a CUDA out-of-memory line.

In: findings of `memory.cuda-oom.*` with the sizes they captured, and how many metric records stood before.
Out: shapes `oom-fragmented`, `oom-other-process`, `oom-after-steps`, `oom-before-steps`.
Not here: the wordings (`patterns/signatures/memory`).

    total - free - (allocated + reserved by this process)    held by others
    reserved - allocated, against the request               fragmentation
The max_split_size / expandable_segments hint stands in every such line and is no evidence.
"""

import re
from collections.abc import Iterable
from typing import Final

from postmortem.facts.shapes import Shape
from postmortem.model.findings import Finding

FAMILY: Final = "memory.cuda-oom."
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(bytes|[KMGT]i?B)", re.IGNORECASE)
_UNITS: Final = {"bytes": 1 / (1 << 30), "k": 1 / (1 << 20), "m": 1 / 1024, "g": 1.0, "t": 1024.0}
_OTHERS_SHARE: Final = 0.25
_OTHERS_GIB: Final = 1.5


def gib(text: str | None) -> float | None:
    """Read a printed size as GiB; None if there is none."""
    match = _SIZE.search(text or "")
    if match is None:
        return None
    unit = match[2].lower()
    return float(match[1]) * _UNITS["bytes" if unit == "bytes" else unit[0]]


def shapes(findings: Iterable[tuple[Finding, int]]) -> list[Shape]:
    """Judge every out-of-memory line; each shape once, at its first line."""
    found: dict[str, Shape] = {}
    for finding, records_before in findings:
        if not finding.signature.startswith(FAMILY):
            continue
        name = "oom-after-steps" if records_before else "oom-before-steps"
        found.setdefault(name, _shape(name, f"{records_before} metric records before the first out-of-memory line", finding))
        for shape in filter(None, (_fragmented(finding), _shared(finding))):
            found.setdefault(shape.id, shape)
    return list(found.values())


def _fragmented(finding: Finding) -> Shape | None:
    asked, allocated, reserved = (gib(finding.capture(name)) for name in ("asked", "allocated", "reserved"))
    spare = gib(finding.capture("unallocated"))
    if spare is None and reserved is not None and allocated is not None:
        spare = reserved - allocated
    if asked is None or spare is None or spare <= max(1.2 * asked, 0.5):
        return None
    return _shape("oom-fragmented", f"reserved but unallocated {spare:.2f} GiB > asked {asked:.2f} GiB", finding)


def _shared(finding: Finding) -> Shape | None:
    total, free, allocated, reserved = (gib(finding.capture(name)) for name in ("total", "free", "allocated", "reserved"))
    mine = gib(finding.capture("process_in_use"))
    if mine is None:
        spare = gib(finding.capture("unallocated"))
        mine = reserved if reserved is not None else allocated + spare if allocated is not None and spare is not None else allocated
    if total is None or free is None or mine is None:
        return None
    others = total - free - mine
    if others < max(_OTHERS_SHARE * total * 0.4, _OTHERS_GIB):
        return None
    return _shape("oom-other-process", f"{total:.2f} total - {free:.2f} free - {mine:.2f} of this process = {others:.2f} GiB held elsewhere", finding)


def _shape(name: str, text: str, finding: Finding) -> Shape:
    return Shape(name, text, finding.source, finding.where, finding.line)
