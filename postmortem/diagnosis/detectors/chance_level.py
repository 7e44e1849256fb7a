"""Compare losses with those of guessing: the first one, all of them, the last of a short run.

In: the curves of a process or job, the number of classes or the size of the vocabulary as printed,
how the run ended. Out: the anomalies `first-loss-high`, `first-loss-low`, `at-chance`, and of a run
with few records that came to its end `few-losses` and `loss-no-better`. Not here: the course of the
loss, a level of many records (`detectors.trend`).

A loss of chance is the logarithm of the number of classes or words.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.log_text import parse_number
from postmortem.core.message import say
from postmortem.diagnosis.detectors.curve_roles import is_rise_expected
from postmortem.diagnosis.detectors.observed import (
    WORTH,
    Anomaly,
    Curves,
    Observed,
    as_share,
    format_position,
    group_series_by_process,
)
from postmortem.diagnosis.detectors.scores import list_score_names
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.facts.series import Point

_HIGH: Final = 1.5
"""Times ln(vocabulary): far above guessing, so wrong weights, wrong labels, or a sum where a mean
is meant."""
_LOW: Final = 0.02
_EARLY: Final = 10
"""The last step whose loss still tells of the loaded weights."""
_EARLY_SHARE: Final = 0.05
"""The same as a share of the first pass over the data."""
_SMALLEST: Final = 32
_IMAGENET: Final = 1000
"""Classes that need not be printed: nothing else makes a loss of 6.908 that does not move."""
_COUNTED: Final = ("setting.num_classes", "setting.num_labels", "setting.vocab_size")
_NEAR_LOGARITHM: Final = 0.003
"""Share by which a loss that says nothing differs from the logarithm at most."""
_FEWEST: Final = 3
_MANY: Final = 1000


def detect_initial_loss_level(observed: Observed) -> Iterable[Anomaly]:
    """Compare the first training loss with ln(vocabulary), if that is printed."""
    vocabulary = parse_number(observed.facts.get("setting.vocab_size") or "")
    first = next(iter(observed.curves.points(names.LOSS)), None)
    if vocabulary is None or vocabulary < _SMALLEST or first is None:
        return []
    if not _is_early(observed.curves, first) or not 0.0 < first.value < math.inf:
        return []
    guess = math.log(vocabulary)
    name = "first-loss-high" if first.value > _HIGH * guess else "first-loss-low"
    if name == "first-loss-low" and first.value >= _LOW * guess:
        return []
    message = say(
        "loss {loss:.4g} at {place}, ln({vocabulary:.0f}) = {guess:.4g}",
        loss=first.value,
        place=format_position(first),
        vocabulary=vocabulary,
        guess=guess,
    )
    return [observed.curves.shape(name, message, first.line)]


def detect_chance_level(observed: Observed) -> Iterable[Anomaly]:
    """Find a loss that is the logarithm of the classes in all records, far into the run."""
    curves = observed.curves
    counts = {_IMAGENET, *list_class_counts(observed.facts, _SMALLEST)}
    for name in curves.of("loss", "entropy"):
        points = curves.finite(name)
        if len(points) < _FEWEST or not _is_far(curves, points):
            continue
        for classes in sorted(counts):
            level = math.log(classes)
            if all(abs(point.value - level) <= _NEAR_LOGARITHM * level for point in points):
                message = say(
                    "{name} is ln({classes}) = {level:.4g} in all {count} records",
                    name=name,
                    classes=classes,
                    level=level,
                    count=len(points),
                )
                return [curves.shape("at-chance", message, points[0].line)]
    return []


def list_class_counts(facts: FactStore, least: int) -> list[int]:
    """Give the numbers of classes, labels and words that the log prints, if not less than this."""
    printed = (parse_number(facts.get(name) or "") for name in _COUNTED)
    return [int(count) for count in printed if count and count >= least]


def _is_far(curves: Curves, points: Sequence[Point]) -> bool:
    """Say whether all records are from behind the first epoch or the first thousand steps."""
    epochs = [point.value for point in curves.finite(names.EPOCH)]
    return points[0].step >= _MANY or bool(epochs and epochs[0] >= 1)


def _is_early(curves: Curves, first: Point) -> bool:
    """Say whether a record is early enough; where no step is printed, by the share of an epoch."""
    if not math.isnan(first.step):
        return first.step <= _EARLY
    return curves.by_line(names.EPOCH).get(first.line, math.inf) <= _EARLY_SHARE


_LOSSES: Final = (names.LOSS, names.EVAL_LOSS)
_FEW: Final = 4
"""Records beyond which the course of a loss is judged elsewhere."""
_LEVEL_FROM: Final = 8
_FALLEN: Final = 0.9
"""Share of the first loss to which one that is learnt has come at least."""
_HARDLY: Final = 0.98
"""The same above which nothing was gained."""
_LEAST_OF_CHANCE: Final = 0.985
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
    groups = group_series_by_process(observed.series)
    processes = [Curves(series, *where, observed.metrics) for where, series in groups.items()]
    processes = [process for process in processes if process.count(names.LOSS)]
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
        if (
            _LEAST_OF_CHANCE * level <= values[-1] <= _BEYOND * level
            and values[-1] > _HARDLY * values[0]
        ):
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
