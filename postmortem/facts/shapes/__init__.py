"""What curves look like: hidden NaN, run-up against out of the blue, spike, plateau, a scaler settling or collapsing.

In: series. Out: `Shape`s, named as in `names.SHAPES`, each with a sentence of figures and the line where it shows.
Not here: what a shape means for a cause (`patterns/causes`), the arithmetic of memory (`facts.memory`).
"""

from collections.abc import Callable, Iterable
from typing import Final

from postmortem.facts.series import Series
from postmortem.facts.shapes import course, gradients, nonfinite, policy, resources, scaler
from postmortem.facts.shapes.curves import Curves, Found, Shape
from postmortem.model.lines import Where

__all__ = ["Shape", "shapes"]

_MOST_PROCESSES: Final = 64
DETECTORS: Final[tuple[Callable[[Curves], Found], ...]] = (
    nonfinite.nonfinite, nonfinite.hidden, nonfinite.zero_rate, scaler.standstill, nonfinite.evaluation, nonfinite.components, gradients.gradients, course.course,
    scaler.scale, resources.memory, policy.rewards, policy.entropy, resources.waiting, resources.speed, gradients.rate,
)


def shapes(series: Iterable[Series]) -> list[Shape]:
    """Find the shapes of all curves, each id once, at its first line."""
    groups: dict[tuple[int, Where], list[Series]] = {}
    for one in series:
        groups.setdefault((one.source, one.where), []).append(one)
    found: dict[str, Shape] = {}
    for (source, where), members in list(groups.items())[:_MOST_PROCESSES]:
        curves = Curves(members)
        for detector in DETECTORS:
            for name, text, line in detector(curves):
                found.setdefault(name, Shape(name, text, source, where, line))
    return list(found.values())
