"""Find that an attempt is through with the last epoch that its log plans.

In: the extract of an attempt that nothing has ended. Out: the anomaly `last-epoch`. Not here: how
far it came (`case.printed_progress`), steps and plans that no number states (`detectors.ending`,
`detectors.planned_end`).

An epoch is through once each curve has as many points in it as in the epoch before. A curve whose
points are rarer than the epochs tells nothing. The last epoch is the one that is planned, or, of a
log that holds several attempts, the one at which another of them ends.
"""

from collections.abc import Collection, Container, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lines import NOWHERE
from postmortem.core.message import Message, say
from postmortem.diagnosis.case.printed_progress import (
    PrintedProgress,
    iter_epoch_lines,
    read_progress,
)
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.ending import PART
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.series import Series

_FEWEST: Final = 3
"""Epochs, and records, that are needed."""
_ROW: Final = 2000
"""Characters of the line of a record, from its end, that may hold a count."""


def find_reached_plan(extract: Extract, ends: Collection[float] = ()) -> dict[str, Anomaly]:
    """Find the last record of the last epoch, if it was reached and is through.

    Args:
        extract: of the attempt.
        ends: the last epochs of the other attempts of the same log.
    """
    curves = [curve for curve in extract.series.values() if curve.last is not None]
    if max((len(curve.lines) for curve in curves), default=0) < _FEWEST:
        return {}
    begins = sorted(dict(_iter_begins(extract, curves)).items())
    is_through = len(begins) >= _FEWEST and _is_last_through(curves, begins)
    last = max(curves, key=lambda curve: curve.lines[-1])
    if not (is_through or _is_count_full(extract)):
        return {}
    whole = {end for end in ends if float(end).is_integer()}  # a part of an epoch is no plan
    progress = read_progress(extract, extract.facts.settings())
    epochs = [epoch for epoch, _ in begins]
    message = _describe_end(progress, epochs, whole, is_through=is_through)
    if message is None:
        return {}
    return {"last-epoch": Anomaly("last-epoch", message, last.source, NOWHERE, last.lines[-1])}


def _describe_end(
    progress: PrintedProgress, epochs: Sequence[float], whole: Container[float], *, is_through: bool
) -> Message | None:
    """Word the plan that the last record has reached; None where it has reached none.

    Args:
        progress: as it is printed.
        epochs: those that the records stand in.
        whole: the last epochs of the other attempts.
        is_through: whether the last epoch has as many records as the one before.
    """
    if _is_last_step(progress) or (is_through and _is_at_end(progress, epochs)):
        return say(
            "the last record is of epoch {epoch:g} of {planned:g}, which is through",
            epoch=progress.epoch,
            planned=progress.planned_epochs,
        )
    if is_through and progress.planned_epochs is None and epochs[-1] in whole:
        return say(
            "the last record is of epoch {epoch:g}, at which another attempt ended as well",
            epoch=epochs[-1],
        )
    return None


def _is_count_full(extract: Extract) -> bool:
    """Say whether a count such as `500/500` is full on the last record of each source."""
    for source, (line, _) in extract.last_record.items():
        first, text = extract.tails.get(source, (1, ""))
        rows = text.split("\n")[line - first :][:1] if line >= first else []
        if not any(
            part["now"] == part["of"] for row in rows for part in PART.finditer(row[-_ROW:])
        ):
            return False
    return bool(extract.last_record)


def _is_last_step(progress: PrintedProgress) -> bool:
    """Say whether the last step of the last epoch was reached, both of a printed plan."""
    step, steps, epoch, epochs = progress
    return None not in progress and step == steps and epoch == epochs


def _is_last_through(curves: Sequence[Series], begins: Sequence[tuple[float, int]]) -> bool:
    """Say whether the last epoch is as long as the one before; each comes with its first line."""
    (_, before), (_, last) = begins[-2:]
    return all(
        curve.count_within(before, last - 1) <= curve.count_within(last, max(last, curve.lines[-1]))
        for curve in curves
    )


def _is_at_end(progress: PrintedProgress, epochs: Sequence[float]) -> bool:
    """Say whether the last of the epochs that were begun is the last that was planned."""
    if progress.epoch is None or progress.planned_epochs is None:
        return False
    left = progress.planned_epochs - progress.epoch
    return left <= (epochs[0] == 0) and epochs[-1] == progress.epoch


def _iter_begins(extract: Extract, curves: Sequence[Series]) -> Iterator[tuple[float, int]]:
    """Yield each epoch and its first line, which comes last."""
    for curve in curves:
        if curve.name == names.EPOCH:
            yield from reversed([*zip(curve.values, curve.lines, strict=True)])
            return
    yield from sorted(iter_epoch_lines(extract), key=lambda found: -found[1])
