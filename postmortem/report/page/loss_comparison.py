"""Compare the losses of a job's processes: which one went wrong first.

In: the series of a `Diagnosis`. Out: those to draw on one axis, the outlier first. Not here:
arranging them (`page.panel_layout`). Gradients are averaged over the ranks: what one rank spoils
reaches the others a step later, so only a comparison by step tells them apart.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from postmortem.core.diagnosis import Diagnosis
from postmortem.core.lines import NOWHERE
from postmortem.core.names import LOSS, LOSS_SCALE
from postmortem.core.shown import SeriesView

NAMED: Final = 8
"""Lines with a name; more cannot be told apart."""
MOST: Final = 64
"""Lines at most, those without a name included."""
_NOT_TRAINING: Final = ("eval", "val", "test")


class LossComparison(NamedTuple):
    """The same loss of several processes."""

    series: tuple[SeriesView, ...]
    has_odd: bool
    """Whether the first differs from the others: it went wrong before them, or failed."""
    left_out: tuple[SeriesView, ...]
    """What is too much to draw."""


def find_differing_losses(diagnosis: Diagnosis) -> LossComparison | None:
    """Find the loss that at least two processes print at the same steps, with different values.

    One whose NaN begins on one process is preferred.
    """
    found = [
        (name, members)
        for name, group in _collect_losses_by_process(diagnosis).items()
        if len(members := _filter_overlapping(_sort_by_rank(group.values()))) > 1
        and _has_differences(members)
    ]
    if not found:
        return None
    _, members = min(
        found,
        key=lambda pair: (_find_earliest_nonfinite(pair[1]) is None, pair[0] != LOSS, pair[0]),
    )
    odd = _find_earliest_nonfinite(members) or _find_failed_process(diagnosis, members)
    ordered = (*([odd] if odd else []), *(series for series in members if series is not odd))
    return LossComparison(ordered[:MOST], odd is not None, ordered[MOST:])


def _collect_losses_by_process(diagnosis: Diagnosis) -> dict[str, dict[object, SeriesView]]:
    """Give each training loss by name, and of each process the longest series of it."""
    found: dict[str, dict[object, SeriesView]] = defaultdict(dict)
    for series in sorted(diagnosis.series, key=lambda series: -series.points):
        if _is_training_loss(series.name) and _has_steps(series):
            process = series.where if series.where != NOWHERE else series.source
            found[series.name].setdefault(process, series)
    return found


def _is_training_loss(name: str) -> bool:
    return "loss" in name and name != LOSS_SCALE and not name.startswith(_NOT_TRAINING)


def _has_steps(curve: SeriesView) -> bool:
    steps = [step for step, _, _ in curve.samples if step is not None and math.isfinite(step)]
    return len(steps) == len(curve.samples) > 1 and all(
        first < second for first, second in pairwise(steps)
    )


def _sort_by_rank(members: Iterable[SeriesView]) -> list[SeriesView]:
    """Order processes by node and rank, as far as they are printed."""
    return sorted(
        members,
        key=lambda member: (
            member.where.node or "",
            *(
                -1 if number is None else number
                for number in (member.where.rank, member.where.local_rank, member.where.pid)
            ),
            member.source,
        ),
    )


def _filter_overlapping(members: list[SeriesView]) -> list[SeriesView]:
    """Keep those that share steps with the longest: the others are of another part of the run."""
    longest = max(members, key=lambda member: member.points)
    first, last = _get_step_range(longest)
    return [
        member
        for member in members
        if _get_step_range(member)[0] < last and _get_step_range(member)[1] > first
    ]


def _get_step_range(curve: SeriesView) -> tuple[float, float]:
    return curve.samples[0][0] or 0.0, curve.samples[-1][0] or 0.0


def _has_differences(members: Sequence[SeriesView]) -> bool:
    """Say whether there is more than one curve to see.

    A loss averaged over the processes is the same on each.
    """
    return (
        len({repr([(step, value) for step, value, _ in member.samples]) for member in members}) > 1
    )


def _find_earliest_nonfinite(members: Sequence[SeriesView]) -> SeriesView | None:
    """Find the one whose values stop being finite at an earlier step than those of all others."""
    bad = sorted(
        (_find_first_nonfinite_step(member), index)
        for index, member in enumerate(members)
        if _find_first_nonfinite_step(member) < math.inf
    )
    if not bad or (len(bad) > 1 and bad[1][0] <= bad[0][0]):
        return None
    step, index = bad[0]
    return (
        members[index]
        if any(
            _get_step_range(member)[1] >= step for member in members if member is not members[index]
        )
        else None
    )


def _find_first_nonfinite_step(curve: SeriesView) -> float:
    return next(
        (step for step, value, _ in curve.samples if step is not None and not math.isfinite(value)),
        math.inf,
    )


def _find_failed_process(diagnosis: Diagnosis, members: Sequence[SeriesView]) -> SeriesView | None:
    """Find the one of the process that failed first."""
    first = diagnosis.first_failure
    if first is None:
        return None
    return next(
        (
            member
            for member in members
            if member.source == first.source and member.where == first.where
        ),
        None,
    )
