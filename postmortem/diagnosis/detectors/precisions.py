"""Detect an object detector whose average precision stays at 0.

In: the curves of one process. Out: the anomaly `nothing-moves`. Not here: accuracies and rates of
errors (`detectors.curve_conditions`), scores that are lost (`detectors.scores`).
"""

from collections.abc import Iterable
from typing import Final

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed

_PRECISION: Final = compile_lazily(r"(?:^|[_/-])m?AP(?:50|_?0\.5)?$")
_LOWEST: Final = 0.006
_SEVERAL: Final = 3
_EVALUATIONS: Final = 12
_OF_COCO: Final = "coco-eval"
"""What evaluates a trained model; others begin with an evaluation of one that is not."""


def detect_zero_precision(observed: Observed) -> Iterable[Anomaly]:
    """Find a precision of about 0 in many evaluations, or where no loss shows an early run."""
    curves = observed.curves
    for name in curves.called(_PRECISION):
        points = curves.finite(name)
        values = [abs(point.value) for point in points]
        is_trained = bool(points) and (
            curves.by_name[name].producer == _OF_COCO or points[0].step > 0
        )
        has_loss = names.LOSS in curves.by_name
        is_enough = len(values) >= (_EVALUATIONS if has_loss else 1 if is_trained else _SEVERAL)
        if is_enough and max(values) < _LOWEST:
            message = say(
                "{name} {value:.4g} at last, never above {most:.4g} in {count} evaluations",
                name=name,
                value=points[-1].value,
                most=max(values),
                count=len(values),
            )
            return [curves.shape("nothing-moves", message, points[0].line)]
    return []
