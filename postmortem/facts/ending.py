"""A run whose last record is of its last step.

In: series, and the number of steps that the records or the log name as the whole. Out: the shape
`last-step`. Not here: lines that say that a run is through (`patterns/signatures/healthy`).
"""

import math
from collections.abc import Iterable
from typing import Final

from postmortem import names
from postmortem.facts.series import Series
from postmortem.facts.shapes import Shape
from postmortem.model.lines import NOWHERE
from postmortem.model.said import say

_FEWEST: Final = 10


def shape(series: Iterable[Series], total: float) -> Shape | None:
    """Find a training loss that is recorded up to the last step, reached once.

    A count that starts anew in each epoch reaches its end in each.

    Args:
        series: of all processes.
        total: the last step of the run; NaN where none is named.
    """
    if not total >= _FEWEST:
        return None
    for one in series:
        if one.name != names.LOSS or one.last is None or one.last.step != total:
            continue
        steps = [step for step in one.steps if not math.isnan(step)]
        if steps == sorted(steps) and steps[0] < total:
            said = say(
                "the last record is of step {step:g} of {total:g}",
                "最后一条记录是第 {step:g} 步，共 {total:g} 步",
                step=one.last.step,
                total=total,
            )
            return Shape("last-step", said, one.source, NOWHERE, one.last.line)
    return None
