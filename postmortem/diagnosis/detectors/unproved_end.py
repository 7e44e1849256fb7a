"""Judge whether a run with few records that came to its end shows that it learnt.

In: the series of the job, the number of classes or words as printed, how the run ended. Out: the
anomalies `few-losses`, `loss-no-better`, and `at-chance` of a last loss that is that of guessing.
Not here: a level of many records (`detectors.trend`), chance throughout (`detectors.baseline`).
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lines import ProcessId
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves, as_share
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.baseline import list_class_counts
from postmortem.diagnosis.detectors.loss_of_training import WORTH
from postmortem.diagnosis.detectors.objectives import is_rise_expected
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.scores import list_score_names
from postmortem.extraction.facts.series import Series

_LOSSES: Final = (names.LOSS, names.EVAL_LOSS)
_FEW: Final = 4
"""Records beyond which the course of a loss is judged elsewhere."""
_LEVEL_FROM: Final = 8
_FALLEN: Final = 0.9
"""Share of the first loss to which one that is learnt has come at least."""
_HARDLY: Final = 0.98
"""The same above which nothing was gained."""
_NEAR: Final = 0.985
_BEYOND: Final = 1.1
"""Shares of the logarithm of the classes between which a loss is that of guessing: guesses that are
no better cost more, never less."""
_FEWEST_CLASSES: Final = 2
_WORDS: Final = 1000
"""The smallest number of classes that are words."""
_FREQUENCY: Final = 0.6
"""Share of the logarithm of the words to which it comes to know how frequent each is."""
_HIGH_SCORE: Final = 0.5
_RISEN: Final = 1.2
_KNOWS_NOTHING: Final = 6.0
"""Cross entropy of knowing how frequent words are, where their number is not printed."""


def detect_unproved_learning(observed: Observed) -> Iterable[Anomaly]:
    """Find a run that is through, and whose few figures do not show that it has learned."""
    if observed.outcome != "completed":
        return []
    processes = [
        process for process in _group_curves_by_process(observed) if process.count(names.LOSS)
    ]
    if not processes or any(map(_has_learned, processes)):
        return []
    curves = max(processes, key=lambda process: process.count(names.LOSS))
    values = [point.value for point in curves.finite(names.LOSS)]
    if not values or is_rise_expected(curves) or abs(values[-1]) <= WORTH:
        return []
    return (
        _detect_chance_level_loss(observed, curves, values)
        or _detect_unimproved_loss(observed, curves, values)
        or _detect_too_few_records(curves, values)
    )


def _group_curves_by_process(observed: Observed) -> list[Curves]:
    """Put the series of each process side by side."""
    groups: dict[tuple[int, ProcessId], list[Series]] = {}
    for curve in observed.series:
        groups.setdefault((curve.source, curve.where), []).append(curve)
    return [Curves(members, *process, observed.metrics) for process, members in groups.items()]


def _has_learned(curves: Curves) -> bool:
    """Say whether a loss fell clearly, or a score rose or is high."""
    losses = [[point.value for point in curves.finite(name)] for name in _LOSSES]
    scores = [[point.value for point in curves.finite(name)] for name in list_score_names(curves)]
    return any(map(_has_fallen, losses)) or any(map(_is_good, scores))


def _has_fallen(values: Sequence[float]) -> bool:
    """Say whether a loss has ever been clearly below its first value."""
    return len(values) > 1 and min(values) < (_FALLEN * values[0] if values[0] > 0 else values[0])


def _is_good(values: Sequence[float]) -> bool:
    """Say whether a score is high at last, whatever its scale, or has risen well."""
    if not values:
        return False
    share = as_share(values[-1])
    return share > _HIGH_SCORE or (len(values) > 1 and values[-1] > _RISEN * abs(values[0]))


def _detect_chance_level_loss(
    observed: Observed, curves: Curves, values: Sequence[float]
) -> list[Anomaly]:
    """Find two records or more of which the last costs what guessing among the classes does."""
    if len(values) < len(("first", "last")):
        return []
    for classes in list_class_counts(observed.facts, _FEWEST_CLASSES):
        level = math.log(classes)
        if _NEAR * level <= values[-1] <= _BEYOND * level and values[-1] > _HARDLY * values[0]:
            message = say(
                "loss {last:.4g} at last, after {first:.4g} at first; ln({classes}) = {level:.4g}",
                first=values[0],
                last=values[-1],
                classes=classes,
                level=level,
            )
            return [curves.shape("at-chance", message, curves.finite(names.LOSS)[-1].line)]
    return []


def _detect_unimproved_loss(
    observed: Observed, curves: Curves, values: Sequence[float]
) -> list[Anomaly]:
    """Find a last loss as high as the first, or that of words whose frequency alone is known."""
    line = curves.finite(names.LOSS)[-1].line
    if 1 < len(values) < _LEVEL_FROM and values[-1] > _HARDLY * values[0] > 0:
        message = say(
            "loss {first:.4g} at first, {last:.4g} at last, in {count} records",
            first=values[0],
            last=values[-1],
            count=len(values),
        )
        return [curves.shape("loss-no-better", message, line)]
    level = _estimate_word_frequency_loss(observed, curves)
    if len(values) <= _FEW and values[-1] >= level:
        message = say(
            "loss {last:.4g} at last: who knows but how frequent words are comes to {level:.2g}",
            last=values[-1],
            level=level,
        )
        return [curves.shape("loss-no-better", message, line)]
    return []


def _estimate_word_frequency_loss(observed: Observed, curves: Curves) -> float:
    """Give the loss of a language model that knows how frequent words are; inf if it is none."""
    words = max(list_class_counts(observed.facts, _WORDS), default=0)
    if words:
        return _FREQUENCY * math.log(words)
    return _KNOWS_NOTHING if curves.of("perplexity") else math.inf


def _detect_too_few_records(curves: Curves, values: Sequence[float]) -> list[Anomaly]:
    """Find one record of the loss, or a few between which it hardly falls."""
    if len(values) > _FEW:
        return []
    message = say(
        "{count} records of the loss, the last {last:.4g}",
        count=len(values),
        last=values[-1],
    )
    return [curves.shape("few-losses", message, curves.finite(names.LOSS)[-1].line)]
