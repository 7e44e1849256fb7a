"""What fixes may name beside the settings: files, checkpoints, rates, what a line has captured.

In: the case, how far the run came, the evidence of a cause. Out: names and values. Not here: which
of them a fix takes (`fixes.select`).
"""

import math
from collections.abc import Sequence

from postmortem.core import names
from postmortem.core.answer import Evidence
from postmortem.core.message import Message
from postmortem.core.shown import Progress
from postmortem.diagnosis.case.values import Case
from postmortem.extraction.facts.series import Point, Series


def collect_known_numbers(case: Case, done: Progress) -> dict[str, str]:
    """Collect what fixes may name beside the settings.

    The log, checkpoints, the rate at the peak of its schedule.
    """
    found = {
        "log": _log(case),
        "last_checkpoint": done.last_checkpoint or "",
        "good_checkpoint": done.resume_from or "",
        "checkpoint_before_first_bad": done.checkpoint_before_first_bad,
        "learning_rate": _peak_rate(case),
    }
    return {name: value for name, value in found.items() if value}


def _log(case: Case) -> str:
    """Give the path of the first log that is a file, or nothing."""
    logs = (
        source.path
        for source in case.sources
        if source.kind in {"log", "notebook"} and source.is_file
    )
    return next(logs, "")


def _peak_rate(case: Case) -> str:
    """Give the rate to which the last attempt had risen, or nothing while it was still rising.

    Of several groups of parameters the highest: one that is still on its way up hides the rest.
    """
    by_end = [
        (max(point.value for point in points), points)
        for series in case.gathered.series.values()
        if series.name == names.LEARNING_RATE and (points := _select_finite(series))
    ]
    top = max((highest for highest, _ in by_end), default=0.0)
    may_stand_still = "rate-standstill" in case.shapes
    is_peak = any(  # two loggers may print one rate, one of them but once
        highest == top and _is_peak(points, may_stand_still=may_stand_still)
        for highest, points in by_end
    )
    return f"{top:g}" if top > 0 and is_peak else ""


def _select_finite(series: Series) -> Sequence[Point]:
    return [point for point in series.kept() if math.isfinite(point.value)]


def _is_peak(rates: Sequence[Point], *, may_stand_still: bool) -> bool:
    """Say whether the highest of some rates is that of the schedule, and not of a moment.

    It has come down since, or it holds. A rate that a skipped step keeps where it is proves
    nothing, nor does the first one of a run that was resumed.
    """
    values = [point.value for point in rates]
    top = max(values)
    if values[-1] < top:
        return values.index(top) > 0 or not _is_resumed(rates)
    holds = sum(value == top for value in values)
    return len(values) > 1 and 2 * holds > len(values) and not may_stand_still


def _is_resumed(rates: Sequence[Point]) -> bool:
    """Say whether more steps stand before the first record than between it and the next."""
    first, second = rates[0].step, rates[1].step
    return math.isfinite(first) and math.isfinite(second) and first > 2 * (second - first)


def collect_captures(evidence: Sequence[Evidence[Message]], case: Case) -> dict[str, str]:
    """Give what signatures of a cause and anomalies of the run captured, as fixes name it.

    Of signatures the strongest speaks first, then the others, then what else was found in the same
    lines. What anomalies captured has names of its own.
    """
    signs = [item for item in evidence if item.kind == "signature" and item.weight > 0]
    findings = [event.finding for event in case.events]
    own = [
        found
        for item in signs
        for found in findings
        if (found.signature, found.line) == (item.id, item.line)
    ]
    places = {(found.source, found.line) for found in own}
    beside = [found for found in findings if (found.source, found.line) in places]
    captures = _collect_anomaly_captures(case)
    for found in (*own, *beside):
        for name, value in found.captures:
            captures.setdefault(f"capture_{name}", value)
    return captures


def _collect_anomaly_captures(case: Case) -> dict[str, str]:
    return {
        f"anomaly_{name}": value
        for anomaly in case.shapes.values()
        for name, value in anomaly.captures.items()
    }
