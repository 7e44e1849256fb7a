"""Memory and time: what a run uses, and what it waits for.

In: the curves of one process. Out: the shapes `memory-*`, `input-bound`, `slow-down`.
Not here: the arithmetic of an out-of-memory line (`facts.memory`), a run that stands still (`facts.silence`).
"""

import itertools
import math
import statistics
from typing import Final

from postmortem import names
from postmortem.facts.shapes.curves import Curves, Found
from postmortem.facts.shapes.speed import slowed

_MOSTLY: Final = 0.5
"""Share of a step beyond which waiting for data is most of it."""


def memory(curves: Curves) -> Found:
    """Memory that rises over the run."""
    points = curves.points(names.MEMORY)
    values = [point.value for point in points if math.isfinite(point.value)]
    if len(values) < 5:
        return []
    rising = sum(other > one for one, other in itertools.pairwise(values))
    falling = sum(other < one for one, other in itertools.pairwise(values))
    if values[-1] > 1.2 * values[0] and rising >= 4 and falling <= 0.2 * rising and rising >= 0.3 * len(values):
        return [("memory-rising", f"memory {values[0]:g} → {values[-1]:g} over {len(values)} records", points[0].line)]
    late = values[len(values) // 2:]
    if len(late) >= 8 and 0 < max(late) < 1.25 * min(late) and late[-1] < 1.1 * statistics.median(late):
        return [("memory-flat", f"memory {min(late):g} to {max(late):g} over {len(late)} records", points[-1].line)]
    return []


def speed(curves: Curves) -> Found:
    """Steps that take twice as long, or more, from some record on, as throughput or as time a step."""
    return slowed(names.THROUGHPUT, curves.points(names.THROUGHPUT)) or slowed(names.STEP_TIME, curves.points(names.STEP_TIME), is_time=True)


def waiting(curves: Curves) -> Found:
    """Steps that consist mostly of waiting for data."""
    steps, waits = curves.points(names.STEP_TIME), {point.line: point.value for point in curves.points(names.DATA_TIME)}
    pairs = [(point, waits[point.line]) for point in steps if point.value > 0 and point.line in waits]
    late = pairs[1:] or pairs
    if len(pairs) < 3 or statistics.median(wait / point.value for point, wait in late) < _MOSTLY:
        return []
    whole, part = statistics.median(point.value for point, _ in late), statistics.median(wait for _, wait in late)
    return [("input-bound", f"data time {part:.4g} of {whole:.4g} s a step over {len(pairs)} records", late[0][0].line)]
