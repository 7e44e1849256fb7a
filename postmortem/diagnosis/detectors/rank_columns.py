"""Find which of the ranks printed side by side on one line went bad first.

In: the curves of one process. Out: the anomaly `one-rank-first`. Not here: ranks that write lines
of their own (`detectors.ranks`).
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves, show
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Point, Series

_RANK: Final = compile_lazily(
    r"(?P<before>(?:\w{0,30}[_/.@ -])?)(?:r|rk|ranks?|gpu|cuda|dev(?:ice)?|replica|worker|dp)"
    r"[_:\[ -]?(?P<rank>\d{1,4})\]?(?P<behind>(?:[_/. -]\w{1,30})?)",
    re.IGNORECASE,
)
_FEWEST: Final = 2


def detect_first_nonfinite_rank(observed: Observed) -> Iterable[Anomaly]:
    """Find the one column of a rank that stops being finite before those of all others."""
    curves = observed.curves
    for members in _group_by_rank(curves):
        bad = sorted(
            (
                (curve.first_nonfinite, curve)
                for curve in members
                if curve.first_nonfinite is not None
            ),
            key=lambda pair: pair[0].line,
        )
        if not bad or len(members) < _FEWEST or not _has_later_peer(members, bad[0][0]):
            continue
        (point, first), *others = bad
        if others and others[0][0].line <= point.line:
            continue
        message = say(
            "{shown}; the {count} others are finite there",
            shown=say("{name} {shown}", name=first.name, shown=show(point)),
            count=len(members) - 1,
        )
        return [curves.shape("one-rank-first", message, point.line)]
    return []


def _group_by_rank(curves: Curves) -> list[list[Series]]:
    """Put the columns side by side whose names differ in the rank alone."""
    groups: dict[tuple[str, str], list[Series]] = defaultdict(list)
    for name in curves.called(_RANK):
        if match := _RANK.fullmatch(name):
            groups[match["before"], match["behind"]].append(curves.by_name[name])
    return list(groups.values())


def _has_later_peer(members: Iterable[Series], point: Point) -> bool:
    """Say whether another column has a figure as late as a point."""
    return any(
        curve.last is not None
        and curve.last.line >= point.line
        and curve.first_nonfinite is not point
        for curve in members
    )
