"""Find where a process states that its run is complete, if nothing contradicts it.

In: findings, tracebacks and anomalies of the last attempt. Out: by source, the line of those words.
Not here: what they make of the errors before them (`case.survived_errors`, `case.nonfatal`), the
outcome (`case.outcomes`).

Words of an exit handler are no end: behind them stand an exit status, a launcher's failure or
another exception, or the last record is far from the last epoch that was planned.
"""

from collections.abc import Iterable, Mapping, Sequence

from postmortem.core.findings import Traceback
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.ending import is_cut_short
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.extract import Sighting
from postmortem.extraction.trailing_context import is_handled
from postmortem.rules.base import Signature
from postmortem.rules.traits import Trait, has_trait


def find_completion_notices(
    seen: Sequence[Sighting],
    tracebacks: Iterable[Traceback],
    rules: Mapping[str, Signature],
    observed: Observed,
    closing: Anomaly | None,
) -> dict[int, int]:
    """Name the line at which each source says that the run is through, where that can be trusted.

    Args:
        seen: the findings.
        tracebacks: the exceptions.
        rules: signatures by id.
        observed: the ends of the sources, their last records.
        closing: words with which the run closes, if there are any.
    """
    ends = {} if closing is None else {closing.source: closing.line}
    for sighting in seen:
        finding = sighting.finding
        if has_trait(finding.signature, Trait.SOUND):
            ends[finding.source] = max(ends.get(finding.source, 0), finding.line)
    last = {traceback.source: traceback.line for traceback in tracebacks if not traceback.aside}
    for sighting in seen:
        if _is_contradicting(sighting, rules):
            last[sighting.finding.source] = max(
                last.get(sighting.finding.source, 0), sighting.finding.line
            )
    return {
        source: line
        for source, line in ends.items()
        if line > last.get(source, 0)
        and line >= observed.last_records.get(source, 0)
        and not is_cut_short(observed, source)
    }


def _is_contradicting(sighting: Sighting, rules: Mapping[str, Signature]) -> bool:
    """Say whether a line reports a failure that was not handled."""
    finding = sighting.finding
    is_fatal = finding.role == "cause" and rules[finding.signature].fatal
    is_failure = is_fatal or finding.role == "consequence"
    return is_failure and not is_handled(finding.text, finding.level)
