"""What fixes may name beside the settings: files, checkpoints, rates, what a line has captured.

In: the case, how far the run came, the evidence of a cause. Out: names and values. Not here: which
of them a fix takes (`fixes.select`).
"""

import math
from collections.abc import Sequence

from postmortem import names
from postmortem.case.case import Case
from postmortem.model.diagnosis import Evidence, Progress
from postmortem.model.said import Said


def known_numbers(case: Case, done: Progress) -> dict[str, str]:
    """Collect what fixes may name beside the settings.

    The log, checkpoints, the largest printed rate.
    """
    rates = [
        series.max
        for series in case.gathered.series.values()
        if series.name == names.LEARNING_RATE and math.isfinite(series.max)
    ]
    found = {
        "log": next(
            (
                source.path
                for source in case.sources
                if source.kind in {"log", "notebook"} and source.is_file
            ),
            "",
        ),
        "last_checkpoint": done.last_checkpoint or "",
        "good_checkpoint": done.resume_from or "",
        "checkpoint_before_first_bad": done.checkpoint_before_first_bad,
        "learning_rate": f"{max(rates):g}" if rates and max(rates) > 0 else "",
    }
    return {name: value for name, value in found.items() if value}


def captures_of(evidence: Sequence[Evidence[Said]], case: Case) -> dict[str, str]:
    """Give what the strongest signature of a cause has captured, under the names that fixes use."""
    strongest = next(
        (item for item in evidence if item.kind == "signature" and item.weight > 0), None
    )
    event = next(
        (
            event
            for event in case.events
            if strongest
            and event.finding.signature == strongest.id
            and event.finding.line == strongest.line
        ),
        None,
    )
    return {f"capture_{name}": value for name, value in event.finding.captures} if event else {}
