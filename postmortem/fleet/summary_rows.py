"""Build the summary row that the store keeps with each analysis.

In: an analysis, its key, its packed form. Out: the row. Not here: what makes failures alike
(`grouping.failure_summary`, `grouping.fingerprints`), the table (`store`).
"""

from collections.abc import Iterator

from postmortem.core.answer import Cause
from postmortem.core.diagnosis import Analysis
from postmortem.core.message import NOTHING, Message
from postmortem.fleet.found_jobs import JUDGED
from postmortem.fleet.grouping.failure_summary import summarize_failure
from postmortem.fleet.grouping.fingerprints import compute_fingerprint
from postmortem.fleet.store.stored_rows import AnalysisRow, AnalysisSummary


def build_analysis_row(analysis: Analysis, key: str, packed: bytes) -> AnalysisRow:
    """Give the row of an analysis that was made."""
    verdict, failure = analysis.verdict, summarize_failure(analysis)
    mark = compute_fingerprint(failure)
    best = _find_verdict_cause(analysis)
    fix = (
        next((candidate.title for candidate in best.fixes), NOTHING)
        if best is not None
        else NOTHING
    )
    title = best.title if best is not None else verdict.summary
    first = analysis.first_failure
    summary = AnalysisSummary(
        key,
        JUDGED,
        cause=verdict.cause,
        category=best.category if best is not None else "",
        probability=verdict.probability,
        status=verdict.status,
        outcome=analysis.outcome,
        title_en=title.text("en"),
        title_zh=title.text("zh"),
        fix_en=fix.text("en"),
        fix_zh=fix.text("zh"),
        retry=verdict.retry,
        whose=verdict.whose,
        failing_line=failure.line,
        template=failure.template,
        fingerprint=mark.id,
        frameworks=tuple(framework.name for framework in analysis.frameworks),
        where=str(first.where.describe()) if first is not None else "",
        hosts=tuple(sorted(set(_iter_hosts(analysis)))),
    )
    return AnalysisRow(summary, packed)


def build_rejected_row(key: str, state: str, why: tuple[str, str]) -> AnalysisRow:
    """Give the row of an analysis that could not be made."""
    return AnalysisRow(AnalysisSummary(key, state, *why))


def _find_verdict_cause(analysis: Analysis) -> Cause[Message] | None:
    """Give the cause that the verdict names."""
    return next((cause for cause in analysis.causes if cause.id == analysis.verdict.cause), None)


def _iter_hosts(analysis: Analysis) -> Iterator[str]:
    places = [source.where for source in analysis.sources]
    places += [analysis.first_failure.where] if analysis.first_failure is not None else []
    yield from (place.node for place in places if place.node)
