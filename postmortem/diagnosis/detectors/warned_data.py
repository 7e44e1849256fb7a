"""Detect a NumPy warning from data code right before a loss that is not finite.

In: the warnings, the losses of the same source. Out: the anomaly `data-warned`. Not here: warnings
from anywhere else, and those far from the first bad value, which only make a cause a little more
likely (`patterns/causes`).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import cut, quote
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Series

_WARNING: Final = "numerics.context.numpy-invalid"
_RECORDS: Final = 2
"""Sound records behind a warning that still leave it near: a mean comes later than its batch."""
_OF_DATA: Final = compile_lazily(
    r"(?:data|loader|transform|augment|pre_?proc|collat|feature|sampl|reader|normali[sz]|scaler)"
    r"[\w-]{0,30}(?:[/\\][\w.-]{1,60})?\.py:\d+: RuntimeWarning"
)
"""The file, or the folder that it lies in."""
_MOST_TEXT: Final = 300


def detect_data_warning(observed: Observed) -> Iterable[Anomaly]:
    """Find the first such warning."""
    for finding, _ in observed.findings:
        if finding.signature != _WARNING or not _OF_DATA.search(finding.text):
            continue
        if any(
            _is_right_before(finding.line, curve)
            for curve in observed.series
            if curve.source == finding.source
        ):
            message = quote(cut(finding.text, _MOST_TEXT))
            return [Anomaly("data-warned", message, finding.source, finding.where, finding.line)]
    return []


def _is_right_before(line: int, series: Series) -> bool:
    """Say whether a loss first stops being finite on one of the next records behind a line."""
    bad = series.first_nonfinite
    if bad is None or "loss" not in series.name or bad.line < line:
        return False
    return bisect_left(series.lines, bad.line) - bisect_right(series.lines, line) <= _RECORDS
