"""Detect a run whose scores are all close to 0 well after its beginning.

In: the curves of one process. Out: the anomalies `nothing-moves`, or `collapse` where the loss
falls all the same, `no-progress` where the beginning is near. Not here: one such score beside
others that are sound (`detectors.degenerate`), a score that is low and level
(`detectors.low_scores`), rewards (`detectors.policy`).

A single score of 0 may be of a class that is not there. Where every score is, nothing is right.
"""

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.objectives import is_of_no_classes, is_policy
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.scores import SHARES
from postmortem.extraction.facts.series import Point

_OF_BOXES: Final = compile_lazily(r"(?:^|[_/ ])(?:bbox|box|obj|m?ap)(?:$|[_/ @\d])", re.IGNORECASE)
"""Figures of a detector, which finds nothing for some epochs before it finds anything."""
_NOTHING: Final = 0.006
_NOTHING_OF_FIVE: Final = 0.03
_OF_FIVE: Final = compile_lazily(r"@5|top_?5", re.IGNORECASE)
_LEARNT: Final = 100.0
"""A perplexity below which many words are told right."""
_RISEN: Final = 1.2
"""Times its first level at which a score of next to nothing is on its way up."""
_KINDS, _BOTH = 3, 4
_FEW, _SEVERAL, _MANY = 2, 5, 10
_LATE_EPOCH, _EPOCH, _STEP = 10, 3, 500
"""From where on so few, several or many records are not of the beginning."""
_FALLEN: Final = 0.9
_VERY_MANY: Final = 20
_LOW: Final = 0.15
"""A share that is never above this, in many records, and does not rise, is not learnt."""
_CHANCE: Final = 0.01
"""By how much a share may be higher without having risen."""


def detect_near_zero_scores(observed: Observed) -> Iterable[Anomaly]:
    """Find a run all of whose scores are next to nothing in all records, and do not rise."""
    curves = observed.curves
    scores = _collect_score_points(curves)
    most = max((point.value for points in scores.values() for point in points), default=0.0)
    whole = 100.0 if most > 1 else 1.0
    if not scores or is_policy(curves) or _is_none_of_these(curves, scores):
        return []
    if not all(_is_nothing(name, points, whole) for name, points in scores.items()):
        return []
    longest = max(scores.values(), key=len)
    if not _is_behind_the_beginning(curves, longest):
        return _detect_zero_from_beginning(curves, scores)
    message = say(
        "every score ({scores}) is {value:.3g} or less in all {count} records",
        "全部 {count} 条记录里，所有得分（{scores} 项）都不超过 {value:.3g}",
        scores=len(scores),
        value=most,
        count=len(longest),
    )
    kind = "collapse" if _is_loss_falling(curves) else "nothing-moves"
    return [curves.shape(kind, message, longest[0].line)]


def detect_unlearnt_shares(observed: Observed) -> Iterable[Anomaly]:
    """Find low shares that are no higher at last than at first, in many records of a whole run."""
    curves = observed.curves
    shares = [
        [point.value for point in curves.so_far(name) or curves.finite(name)]
        for name in curves.of(*SHARES, "detection", "quality")
    ]
    shares = [values for values in shares if len(values) >= _VERY_MANY]
    most = max(map(max, shares), default=0.0)
    if not shares or _is_loss_falling(curves) or not all(map(_is_unlearnt, shares)):
        return []
    epochs = {point.value for point in curves.finite(names.EPOCH)}
    if epochs and len(epochs) < _SEVERAL:
        return []
    message = say(
        "every score ({scores}) is {value:.3g} or less in {count} records, and none rises",
        "{count} 条记录里，所有得分（{scores} 项）都不超过 {value:.3g}，也没有上升",
        scores=len(shares),
        value=most,
        count=max(map(len, shares)),
    )
    name = next(iter(curves.of(*SHARES, "detection", "quality")))
    return [curves.shape("no-progress", message, curves.finite(name)[0].line)]


def _is_unlearnt(values: Sequence[float]) -> bool:
    """Say whether a share is low throughout, and not higher at last than by chance."""
    third = len(values) // 3
    first, last = statistics.fmean(values[:third]), statistics.fmean(values[-third:])
    return 0 <= min(values) <= max(values) <= _LOW and last <= _RISEN * first + _CHANCE


def _collect_score_points(curves: Curves) -> dict[str, Sequence[Point]]:
    """Give the points of all scores, those of their means so far where these are printed."""
    names_of = curves.of(*SHARES)
    scores = {name: curves.so_far(name) or curves.finite(name) for name in names_of}
    return {name: points for name, points in scores.items() if points}


def _detect_zero_from_beginning(
    curves: Curves, scores: Mapping[str, Sequence[Point]]
) -> list[Anomaly]:
    """Find scores of several kinds that are exactly 0 in a second pass still, in training too."""
    epochs = [point.value for point in curves.finite(names.EPOCH)]
    points = max(scores.values(), key=len)
    is_exact = not any(point.value for score in scores.values() for point in score)
    has_enough = len(scores) >= _KINDS and len(points) >= _BOTH and len(set(epochs)) >= _FEW
    if not (is_exact and has_enough) or _is_loss_falling(curves) or curves.called(_OF_BOXES):
        return []
    message = say(
        "{scores} scores are exactly 0 in all {count} records of {epochs} passes over the data",
        "遍历数据 {epochs} 次，{scores} 项得分在全部 {count} 条记录里都恰好为 0",
        scores=len(scores),
        count=len(points),
        epochs=len(set(epochs)),
    )
    return [curves.shape("no-progress", message, points[0].line)]


def _is_none_of_these(curves: Curves, scores: Mapping[str, Sequence[Point]]) -> bool:
    """Say whether accuracies contradict the loss, or the perplexity: they are counted wrongly."""
    if not set(scores) <= set(curves.of("accuracy")):
        return False
    most = max(point.value for points in scores.values() for point in points)
    falling = ([point.value for point in curves.finite(name)] for name in curves.of("perplexity"))
    is_learnt = any(ppl and ppl[-1] < min(_LEARNT, _FALLEN * ppl[0]) for ppl in falling)
    return is_learnt or is_of_no_classes(curves, most)


def _is_nothing(name: str, points: Sequence[Point], whole: float) -> bool:
    """Say whether a score is next to nothing throughout, and rises no more than by chance."""
    values = [point.value / whole for point in points]
    nothing = _NOTHING_OF_FIVE if _OF_FIVE.search(name) and whole > 1 else _NOTHING
    behind = values[1:] if len(values) > _FEW else values
    if not 0 <= min(behind) <= max(behind) <= nothing:
        return False
    third = max(1, len(values) // 3)
    first, last = statistics.median(values[:third]), statistics.median(values[-third:])
    return last <= _RISEN * first


def _is_behind_the_beginning(curves: Curves, points: Sequence[Point]) -> bool:
    """Say whether there are records enough, and of passes or steps late enough."""
    epochs = [point.value for point in curves.finite(names.EPOCH)]
    if epochs:
        few = len(points) >= _FEW and epochs[0] >= _LATE_EPOCH
        enough = _LATE_EPOCH if curves.called(_OF_BOXES) else _EPOCH
        return few or (len(points) >= _SEVERAL and epochs[-1] >= enough)
    return len(points) >= _MANY and points[0].step >= _STEP


def _is_loss_falling(curves: Curves) -> bool:
    points = curves.so_far(names.LOSS) or curves.finite(names.LOSS)
    values = [point.value for point in points]
    third = max(1, len(values) // 3)
    return bool(values) and statistics.median(values[-third:]) < _FALLEN * statistics.median(
        values[:third]
    )
