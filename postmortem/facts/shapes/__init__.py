"""What curves look like.

Hidden NaN, run-up against out of the blue, spike, plateau, a scaler settling or collapsing.

In: series. Out: `Shape`s, named as in `names.SHAPES`, each with a sentence of figures and the line
where it shows. Not here: what a shape means for a cause (`patterns/causes`), the arithmetic of
memory (`facts.memory`).
"""

from collections.abc import Callable, Iterable
from typing import Final

from postmortem.facts.environment import FactStore
from postmortem.facts.numbers import number
from postmortem.facts.series import Series
from postmortem.facts.shapes import (
    baseline,
    course,
    figures,
    gradients,
    nonfinite,
    policy,
    resources,
    scaler,
)
from postmortem.facts.shapes.curves import Curves, Found, Shape
from postmortem.model.lines import Where

__all__ = ["Shape", "shapes"]

_MOST_PROCESSES: Final = 64
_SPREADS: Final = ("nan-", "grad-")
"""Shapes that the all-reduce carries from the process that went wrong first, which shows how, to the others, which show only what came of it."""
DETECTORS: Final[tuple[Callable[[Curves], Found], ...]] = (
    nonfinite.nonfinite,
    nonfinite.hidden,
    nonfinite.zero_rate,
    scaler.standstill,
    nonfinite.evaluation,
    nonfinite.components,
    nonfinite.inputs,
    gradients.gradients,
    course.course,
    scaler.scale,
    scaler.skipped,
    policy.rewards,
    policy.entropy,
    policy.preferences,
    resources.waiting,
    resources.speed,
    gradients.rate,
    figures.figures,
)


def shapes(
    series: Iterable[Series], facts: FactStore | None = None, origin: Shape | None = None
) -> list[Shape]:
    """Find the shapes of all curves, each id once, at its first line.

    Args:
        series: of all processes.
        facts: what the log says of the run; its vocabulary and the memory of its device give
            figures a scale.
        origin: what shows that one process went wrong before the others.
    """
    groups: dict[tuple[int, Where], list[Series]] = {}
    for one in series:
        groups.setdefault((one.source, one.where), []).append(one)
    members = [
        (source, where, Curves(own))
        for (source, where), own in list(groups.items())[:_MOST_PROCESSES]
    ]
    vocabulary, capacity = (
        (number(facts.get("setting.vocab_size") or ""), facts.cards.largest_gib())
        if facts is not None
        else (None, None)
    )
    found: dict[str, Shape] = {}
    first = None if origin is None else (origin.source, origin.where)
    for source, where, curves in sorted(members, key=lambda member: member[:2] != first):
        seen = [shape for detector in DETECTORS for shape in detector(curves)]
        for name, said, line in (
            *seen,
            *resources.memory(curves, capacity),
            *baseline.first_loss(curves, vocabulary),
        ):
            if first in {None, (source, where)} or not name.startswith(_SPREADS):
                found.setdefault(name, Shape(name, said, source, where, line))
    return list(found.values())
