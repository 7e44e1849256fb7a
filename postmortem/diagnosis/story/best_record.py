"""Find the best value of the validation: it tells which checkpoint to keep.

In: the extract of the attempt, what names of metrics mean. Out: `BestRecord`. Not here: whether
the run overfits (`detectors.validation`), which checkpoints were saved (`facts.checkpoints`).

What the run itself keeps the best value of goes first, then the loss of the validation, which
trainers choose a checkpoint by unless told otherwise, then its scores; where none is printed, a
score or reward of the run stands for them.
"""

import bisect
import math
from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.shown import BestRecord
from postmortem.diagnosis.case.printed_progress import is_within_epochs
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.number_texts import normalise_step
from postmortem.extraction.facts.series import Point, Series
from postmortem.rules.metrics import MetricClass, MetricTable

_HIGHER: Final = "higher"
_LOSSES: Final = ("loss", "value-error")
_PASSED: Final = ("aside", "machine", "throughput", "step-time", "policy-change", "coefficient")
_BEST: Final = compile_lazily(r"(?i)best|so_far|^(?:new|current)|[\W_]")
_OF_VALIDATION: Final = compile_lazily(
    r"(?i)(?:^|(?<=[\W_]))(?:val|valid|validation|eval|dev|test)(?=[\W_])"
)
"""What the name of a best value, and that of a metric, has besides what is measured."""
_PARTIAL: Final = ("retrieval", "top-accuracy")
"""What one side of is seen, as the precision, goes behind what tells the whole."""
_LOOKED_AT: Final = 100
"""Points of a score by which it is told whether it stands on the lines of the training."""


def find_best_record(extract: Extract, metrics: MetricTable) -> BestRecord | None:
    """Find the best value of the metric by which the checkpoints of an attempt are judged."""
    every = extract.copies.leading(extract.series)
    ranked = sorted(_iter_judging(every, metrics), key=lambda entry: entry[0])
    if not ranked:
        return None
    _, series, better = ranked[0]
    points = [point for point in series.kept() if math.isfinite(point.value)]
    choose = max if better == _HIGHER else min
    best = choose(points, key=lambda point: point.value)
    return BestRecord(
        name=series.name,
        value=best.value,
        step=None if is_within_epochs(series) else normalise_step(best.step),
        epoch=_find_epoch(every, series, best),
        source=series.source,
        line=best.line,
        better=better,
        last=points[-1].value,
    )


def _iter_judging(
    every: Sequence[Series], metrics: MetricTable
) -> Iterator[tuple[tuple[float, ...], Series, str]]:
    """Yield the series that may judge a checkpoint, with their rank and which way is better."""
    trained = _select_series(every, names.LOSS)
    losses = _select_series(every, names.EVAL_LOSS)
    evaluated = {line for series in losses for line in series.lines}
    tracked = {_get_core(series) for series in every if "best" in series.name.lower()}
    for index, series in enumerate(every):
        is_known = series.name == names.EVAL_LOSS
        kind = _classify(series, metrics)
        if kind is None:
            continue
        is_loss = kind.id in _LOSSES
        is_named = is_known or metrics.is_any(series.name, "validation")
        is_judged = is_named or (not is_loss and _is_apart(series, trained, evaluated))
        if not is_judged and is_loss:
            continue
        is_tracked = _get_core(series) in tracked
        rank = (_is_flat(series), not is_judged, not is_tracked, not is_known, is_loss)
        yield (*rank, not is_named, *_rank(series, kind), index), series, kind.better


def _classify(series: Series, metrics: MetricTable) -> MetricClass | None:
    """Give what a series measures; None where that judges nothing."""
    is_known = series.name == names.EVAL_LOSS
    kind = metrics["loss"][0] if is_known else metrics.classify(series.name)
    return None if kind is None or not kind.better or _is_passed(series, metrics) else kind


def _get_core(series: Series) -> str:
    """Give the metric that a series is of, whether or not it keeps its best value."""
    return _BEST.sub("", _OF_VALIDATION.sub("", series.name)).lower()


def _select_series(every: Sequence[Series], name: str) -> list[Series]:
    return [series for series in every if series.name == name]


def _is_passed(series: Series, metrics: MetricTable) -> bool:
    """Say whether a series judges nothing: of the training, an aside, without a finite value."""
    is_aside = "train" in series.name.lower() or metrics.is_any(series.name, *_PASSED)
    return is_aside or not math.isfinite(series.min)


def _is_flat(series: Series) -> bool:
    return series.points > 1 and series.min == series.max


def _rank(series: Series, kind: MetricClass) -> tuple[float, ...]:
    """Rank a series by what it measures: the whole, often, and strictly."""
    strictness = series.max if math.isfinite(kind.bounds[1]) else 0
    return kind.better != _HIGHER, kind.id in _PARTIAL, -series.points, strictness


def _is_apart(series: Series, trained: Sequence[Series], evaluated: set[int]) -> bool:
    """Say whether a score stands on lines of its own, or on those of the validation loss."""
    lines = series.lines[:_LOOKED_AT]
    if evaluated.issuperset(lines):
        return True
    return bool(trained) and not any(
        _is_among(line, loss.lines) for loss in trained for line in lines
    )


def _is_among(line: int, lines: Sequence[int]) -> bool:
    place = bisect.bisect_left(lines, line)
    return place < len(lines) and lines[place] == line


def _find_epoch(every: Sequence[Series], judged: Series, best: Point) -> float | None:
    """Give the epoch that stands on the line of a point, or was the last to be printed before."""
    if judged.producer == names.IN_LISTS:
        epochs = (series.steps for series in every if _is_list_of_epochs(series, judged))
        return next((best.step for steps in epochs if best.step in steps), None)
    found = [
        (series.lines[place - 1], series.values[place - 1])
        for series in every
        if series.name == names.EPOCH and series.source == judged.source
        if (place := bisect.bisect_right(series.lines, best.line))
    ]
    return max(found, default=(0, None))[1]


def _is_list_of_epochs(series: Series, judged: Series) -> bool:
    """Say whether a series is the list of the epochs of another one."""
    same = (judged.producer, judged.source, judged.where)
    return series.name == names.EPOCH and (series.producer, series.source, series.where) == same
