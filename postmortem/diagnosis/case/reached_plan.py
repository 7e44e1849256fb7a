"""Find that an attempt is through with the last epoch that its log plans.

In: the extract of an attempt that nothing has ended. Out: the anomaly `last-epoch`. Not here: how
far it came (`case.printed_progress`), steps and plans that no number states (`detectors.ending`,
`detectors.planned_end`).

An epoch is through once each curve with a point in the epoch before has as many in it. A
curve whose points are rarer than the epochs tells nothing.
"""

import bisect
from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lines import NOWHERE
from postmortem.core.message import say
from postmortem.diagnosis.case.printed_progress import (
    PrintedProgress,
    iter_epoch_lines,
    read_progress,
)
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.series import Series

_FEWEST: Final = 3
"""Epochs, and records, that are needed."""


def find_reached_plan(extract: Extract) -> dict[str, Anomaly]:
    """Find the last record of the last epoch, if it was reached and is through."""
    curves = [curve for curve in extract.series.values() if curve.last is not None]
    if max((len(curve.lines) for curve in curves), default=0) < _FEWEST:
        return {}
    progress = read_progress(extract, extract.facts.settings())
    if not _is_last_epoch_through(extract, curves, progress):
        return {}
    last = max(curves, key=lambda curve: curve.lines[-1])
    message = say(
        "the last record is of epoch {epoch:g} of {planned:g}, which is through",
        "最后一条记录属于第 {epoch:g} 轮，共 {planned:g} 轮，该轮已完成",
        epoch=progress.epoch,
        planned=progress.planned_epochs,
    )
    return {"last-epoch": Anomaly("last-epoch", message, last.source, NOWHERE, last.lines[-1])}


def _is_last_epoch_through(
    extract: Extract, curves: Sequence[Series], progress: PrintedProgress
) -> bool:
    """Say whether the last of the planned epochs was reached and is as long as the one before."""
    begins = sorted(dict(_iter_begins(extract, curves)).items())
    if len(begins) < _FEWEST or progress.epoch is None or progress.planned_epochs is None:
        return False
    left = progress.planned_epochs - progress.epoch
    if left > (begins[0][0] == 0) or begins[-1][0] != progress.epoch:
        return False
    (_, before), (_, last) = begins[-2:]
    return all(
        bisect.bisect_left(curve.lines, before) == bisect.bisect_left(curve.lines, last)
        or bisect.bisect_left(curve.lines, last) - bisect.bisect_left(curve.lines, before)
        <= len(curve.lines) - bisect.bisect_left(curve.lines, last)
        for curve in curves
    )


def _iter_begins(extract: Extract, curves: Sequence[Series]) -> Iterator[tuple[float, int]]:
    """Yield each epoch and its first line, which comes last."""
    for curve in curves:
        if curve.name == names.EPOCH:
            yield from reversed([*zip(curve.values, curve.lines, strict=True)])
            return
    yield from sorted(iter_epoch_lines(extract), key=lambda found: -found[1])
