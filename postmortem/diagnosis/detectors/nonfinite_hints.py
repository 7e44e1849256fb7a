"""Find where a log says why values are not finite: a weight, an input, a label, a mask.

In: the lines that may tell of it, where values are not finite. Out: the anomalies `told-*`, at the
line that tells. Not here: messages of known wording (`patterns/signatures`), two settings of which
one works (`detectors.contrasts`), the curves themselves (`detectors.nonfinite`).
"""

import math
from collections.abc import Iterator
from typing import Final

from postmortem.core.lines import NOWHERE
from postmortem.core.message import cut, quote
from postmortem.core.printed_words import list_words
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.printed_statements import get_context_lines
from postmortem.diagnosis.detectors.printed_topics import (
    WEIGHTS,
    find_topic,
    has_nonfinite_metric,
    has_nonfinite_values,
)
from postmortem.extraction.facts.series import Series

BEFORE: Final = "told-before"
_MOST_TEXT: Final = 300
_NEAR: Final = 12
"""Lines before the first bad value, among which what spoils it is part of the same failure."""
_RECORDS: Final = (
    "numerics.nan.loss-record",
    "numerics.figure.",
    "numerics.evaluation.",
    "numerics.gradnorm.",
    "numerics.context.",
    "numerics.batch.told",
    "numerics.labels.told",
)
"""Rules of figures, and of words like these; any other has its own say on its lines."""
_SIGNS: Final = (
    "numerics.nan.",
    "numerics.consequence.",
    "numerics.figure.",
    "numerics.evaluation.",
)
_LOADING: Final = (
    "load", "resum", "restor", "checkpoint", "merge", "ckpt", "pretrained", "init", "from_",
    *list_words("loads"),
)  # fmt: skip


def detect_nonfinite_hints(observed: Observed) -> Iterator[Anomaly]:
    """Detect what a log names as bad where values are not finite or the loss is 0."""
    first = _find_first_bad_lines(observed)
    if not first:
        return
    known = _collect_known_lines(observed)
    found: set[str] = set()
    yield from _detect_hint_before(observed, first)
    for source, number, text in get_context_lines(observed):
        topic = find_topic(text, number - first.get(source, number))
        if topic is None or topic in found or (source, number) in known:
            continue
        if topic != WEIGHTS or _may_be_origin(observed, source, number, text):
            found.add(topic)
            yield Anomaly(topic, quote(cut(text, _MOST_TEXT)), source, NOWHERE, number)


def _detect_hint_before(observed: Observed, first: dict[int, int]) -> Iterator[Anomaly]:
    """Find the first line before a bad value that names a reason.

    What is told of the data before anything is trained on them is how they are, not what happened.
    """
    begun = _find_first_record_lines(observed)
    hinted = {
        (finding.source, finding.line)
        for finding, _ in observed.findings
        if finding.signature.endswith(".told")
    }
    for source, number, text in get_context_lines(observed):
        ahead = first.get(source, 0) - number
        if ahead <= 0:
            continue
        is_reason = (source, number) in hinted or find_topic(text, -ahead) is not None
        is_event = is_reason and ahead <= _NEAR and number > begun.get(source, number)
        if is_event or has_nonfinite_values(text):
            yield Anomaly(BEFORE, quote(cut(text, _MOST_TEXT)), source, NOWHERE, number)
            return


def _find_first_record_lines(observed: Observed) -> dict[int, int]:
    """Give the line of the first record by source."""
    found: dict[int, int] = {}
    for series in observed.series:
        if series.first is not None:
            line = series.first.line
            found[series.source] = min(line, found.get(series.source, line))
    return found


def _collect_known_lines(observed: Observed) -> set[tuple[int, int]]:
    """Name the lines on which a rule of known wording has its say."""
    return {
        (finding.source, number)
        for finding, _ in observed.findings
        if not (finding.signature.startswith(_RECORDS) or finding.signature.endswith(".words"))
        for number in range(finding.line, finding.end_line + 1)
    }


def _find_first_bad_lines(observed: Observed) -> dict[int, int]:
    """Give the first line of a bad value by source; empty where no value is bad."""
    lines = [*_iter_bad_series_lines(observed), *_iter_bad_finding_lines(observed)] or [
        (source, number)
        for source, number, text in get_context_lines(observed)
        if has_nonfinite_metric(text)
    ]
    found: dict[int, int] = {}
    for source, line in lines:
        found[source] = min(line, found.get(source, line))
    return found


def _iter_bad_series_lines(observed: Observed) -> Iterator[tuple[int, int]]:
    for series in observed.series:
        bad = series.first_nonfinite or (series.first if _is_zero(series) else None)
        if bad is not None:
            yield series.source, bad.line


def _is_zero(series: Series) -> bool:
    """Say whether a loss is 0 at both ends."""
    if "loss" not in series.name:
        return False
    ends = [point.value for point in (series.first, series.last) if point is not None]
    return ends == [0.0, 0.0]


def _iter_bad_finding_lines(observed: Observed) -> Iterator[tuple[int, int]]:
    for finding, _ in observed.findings:
        if finding.signature.startswith(_SIGNS):
            yield finding.source, finding.line


def _may_be_origin(observed: Observed, source: int, line: int, text: str) -> bool:
    """Say whether weights were bad before the training spoilt them."""
    trained = (
        series.first.line
        for series in observed.series
        if series.source == source and "loss" in series.name and series.first is not None
        if math.isfinite(series.first.value)
    )
    is_loading = any(word in text.lower() for word in _LOADING)
    return line < min(trained, default=line + 1) or is_loading
