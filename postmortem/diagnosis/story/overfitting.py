"""Notes on a run that overfits its training data.

In: the extract. Out: sentences, which name the checkpoint to go back to. Not here: the anomaly that
makes it the cause (`detectors.validation`), which asks for a further rise and for the scores.
"""

import math
import statistics
from collections.abc import Iterator
from typing import Final

from postmortem.core import names
from postmortem.core.message import Message, say
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.series import Point, Series

_FEWEST: Final = 5
"""Evaluations below which a rise may be chance."""
_LAST: Final = 3
_RISE: Final = 1.15
"""Times the lowest evaluation, which all of the last ones must reach."""


def describe_overfitting(extract: Extract) -> Iterator[Message]:
    """Say where the loss of the evaluation was lowest, if it rose while that of training fell."""
    losses = list(extract.copies.leading(extract.series))
    for series in losses:
        if series.name != names.EVAL_LOSS:
            continue
        points = [point for point in series.kept() if math.isfinite(point.value)]
        if len(points) < _FEWEST:
            continue
        best = min(points, key=lambda point: point.value)
        is_risen = all(point.value >= _RISE * best.value for point in points[-_LAST:])
        if best.value > 0 and is_risen and _has_fallen(losses, series, best):
            yield say(
                "the loss of the evaluation was lowest at {place} ({low:.4g}) and is {last:.4g} at"
                " the end, while the training loss went on falling: the run overfits from there;"
                " compare with the checkpoint of that time before this one is used",
                "验证 loss 在{place}最低（{low:.4g}），结束时为 {last:.4g}，而训练 loss 仍在下降："
                "此后已过拟合；使用最终权重之前，请先与当时的检查点比较",
                place=_place(series, best),
                low=best.value,
                last=points[-1].value,
            )
            return


def _has_fallen(losses: list[Series], evaluated: Series, best: Point) -> bool:
    """Say whether the training loss of the same process is lower at the end than at the best."""
    for series in losses:
        of_run = (series.source, series.where) == (evaluated.source, evaluated.where)
        if series.name != names.LOSS or not of_run:
            continue
        values = [(point.line, point.value) for point in series.kept()]
        before = [value for line, value in values if line <= best.line][-_LAST:]
        behind = [value for line, value in values if line > best.line][-_LAST:]
        return bool(before and behind) and statistics.median(behind) < statistics.median(before)
    return False


def _place(series: Series, best: Point) -> Message:
    """Word where the evaluation was lowest."""
    if series.interleaved or math.isnan(best.step):
        return say("line {line}", "第 {line} 行", line=best.line)
    return say("step {step:g}", "第 {step:g} 步", step=best.step)
