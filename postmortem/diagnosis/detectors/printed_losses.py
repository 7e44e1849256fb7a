"""Detect a line that calls a loss not finite where no reader made a record of it.

In: both ends of each source. Out: the anomaly `told-not-finite`. Not here: records
(`detectors.nonfinite`), what stands behind the last record (`detectors.closing`), why values are
not finite (`detectors.nonfinite_hints`).

Any such line ends health. Gradients do not count: under a loss scale they are not finite now and
then, and the step is skipped.
"""

import re
from collections.abc import Iterator
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import cut, quote
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.printed_statements import get_context_lines
from postmortem.diagnosis.detectors.printed_topics import is_denial, iter_nonfinite_names
from postmortem.rules.metrics import MetricTable

_MOST_TEXT: Final = 200
_LETTER: Final = compile_lazily(r"^L(?:[a-z]{1,3}|_\w{1,12})$")
_PACE: Final = compile_lazily(r"\d ?(?:it/s|s/it)[,\]]")
"""The pace of a bar: whatever is named behind it is a figure of the training."""
_NOT_OF_TRAINING: Final = compile_lazily(
    r"scal|best|lowest|min(?!i)|initial|previous|early|patience|improv|thresh", re.IGNORECASE
)
"""A loss scale; a bound, which is infinite before anything is measured."""


def detect_reported_nonfinite_loss(observed: Observed) -> Iterator[Anomaly]:
    """Find the first line that calls a loss not finite, if no curve or rule shows one."""
    if any("loss" in curve.name and curve.first_nonfinite for curve in observed.series):
        return
    known = {
        (finding.source, number)
        for finding, _ in observed.findings
        for number in range(finding.line, finding.end_line + 1)
    }
    for source, number, text in get_context_lines(observed):
        if (source, number) not in known and _is_loss_called_nonfinite(text, observed.metrics):
            yield Anomaly("told-not-finite", quote(cut(text, _MOST_TEXT)), source, NOWHERE, number)
            return


def _is_loss_called_nonfinite(text: str, metrics: MetricTable) -> bool:
    named = [*iter_nonfinite_names(text)]
    if not named or _NOT_OF_TRAINING.search(text) or is_denial(text):
        return False
    return _PACE.search(text) is not None or any(
        metrics.is_any(name, "loss", "perplexity") or _LETTER.search(name) for name in named
    )
