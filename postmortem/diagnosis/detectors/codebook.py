"""Detect a collapsed codebook, of which hardly any code is used.

In: the curves of one process. Out: the anomaly `collapse`. Not here: the perplexity of words, other
figures that freeze (`detectors.curve_conditions`).

The perplexity of codes is how many of them are used as if equally often; 1 is a single one.
"""

import re
import statistics
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed

_OF_CODES: Final = compile_lazily(
    r"code_?book|(?<![a-z])r?vq|quanti[sz]|commit|(?:^|[_/ .-])code(?:s|words?)?(?:$|[_/ .-])",
    re.IGNORECASE,
)
_USE: Final = compile_lazily(
    r"(?:^|[_/ .-])(?:usage|use|used|util[a-z]{0,7}|active|unique|alive)(?:$|[_/ .-])",
    re.IGNORECASE,
)
_LOSS: Final = compile_lazily(r"loss", re.IGNORECASE)
_FEWEST: Final = 5
_LAST: Final = 3
_ONE: Final = 1.2
"""The perplexity below which all is one code."""
_GONE: Final = 0.03
"""Share of what was used at best that is next to nothing."""
_HIGH: Final = 0.2
"""A loss whose exponential is no perplexity of nearly 1."""
_SEVERAL: Final = 16.0


def detect_codebook_collapse(observed: Observed) -> Iterable[Anomaly]:
    """Find codes of which at last one is used, or next to none of those that were."""
    curves = observed.curves
    for name in _list_usage_metrics(curves):
        points = curves.finite(name)
        values = [point.value for point in points]
        if len(values) < _FEWEST or min(values) < 0:
            continue
        is_count = name in curves.of("perplexity")
        if _is_one(values, is_count=is_count) or _is_lost(values, is_count=is_count):
            message = say(
                "{name} {best:.4g} at best, {last:.4g} at last: hardly any code is used",
                name=name,
                best=max(values),
                last=values[-1],
            )
            first = next(index for index in range(len(values)) if _is_low(values, index))
            return [curves.shape("collapse", message, points[first].line)]
    return []


def _list_usage_metrics(curves: Curves) -> list[str]:
    """List the metrics that count how many codes are used."""
    has_codes = bool(curves.called(_OF_CODES))
    perplexities = {
        *(name for name in curves.of("perplexity") if has_codes or _is_of_no_loss(curves, name)),
        *filter(_USE.search, curves.called(_OF_CODES, _LOSS)),
    }
    return [name for name in curves.by_name if name in perplexities]


def _is_of_no_loss(curves: Curves, name: str) -> bool:
    """Say whether a perplexity that is always 1 is not the exponential of a printed loss."""
    losses = [point.value for point in curves.finite(names.LOSS)][-_LAST:]
    return (
        bool(losses)
        and min(losses) > _HIGH
        and all(0 < point.value < _ONE for point in curves.finite(name))
        and not (set(curves.by_name) & {names.EVAL_LOSS})
    )


def _is_one(values: Sequence[float], *, is_count: bool) -> bool:
    """Say whether all that is used at last is one code."""
    return is_count and max(values[-_LAST:]) < _ONE


def _is_lost(values: Sequence[float], *, is_count: bool) -> bool:
    """Say whether next to nothing is used of what was."""
    best = max(values)
    is_much = not is_count or best >= _SEVERAL
    return is_much and best > 0 and max(values[-_LAST:]) <= _GONE * best


def _is_low(values: Sequence[float], index: int) -> bool:
    """Say whether a record, and all behind it, are as low as the last ones are."""
    limit = max(_ONE if min(values) >= 1 else 0.0, 2 * statistics.median(values[-_LAST:]))
    return max(values[index:]) <= limit
