"""What fixes may name beside the settings: files, checkpoints, rates, what a line has captured.

In: the case, how far the run came, the evidence of a cause. Out: names and values. Not here: which
of them a fix takes (`fixes.select`).
"""

import math
from collections.abc import Sequence

from postmortem import names
from postmortem.case.values import Case
from postmortem.model.answer import Evidence
from postmortem.model.said import Said
from postmortem.model.shown import Progress


def known_numbers(case: Case, done: Progress) -> dict[str, str]:
    """Collect what fixes may name beside the settings.

    The log, checkpoints, the largest printed rate.
    """
    found = {
        "log": _log(case),
        "last_checkpoint": done.last_checkpoint or "",
        "good_checkpoint": done.resume_from or "",
        "checkpoint_before_first_bad": done.checkpoint_before_first_bad,
        "learning_rate": _largest_rate(case),
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


def _largest_rate(case: Case) -> str:
    """Give the largest learning rate that was printed, or nothing."""
    rates = [
        series.max
        for series in case.gathered.series.values()
        if series.name == names.LEARNING_RATE and math.isfinite(series.max)
    ]
    largest = max(rates, default=0.0)
    return f"{largest:g}" if largest > 0 else ""


def captures_of(evidence: Sequence[Evidence[Said]], case: Case) -> dict[str, str]:
    """Give what the signatures of a cause have captured, under the names that fixes use.

    The strongest speaks first, then the others, then what else was found in the same lines.
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
    captures: dict[str, str] = {}
    for found in (*own, *beside):
        for name, value in found.captures:
            captures.setdefault(f"capture_{name}", value)
    return captures
