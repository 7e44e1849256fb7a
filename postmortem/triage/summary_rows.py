"""What the store keeps of an analysis beside the whole of it.

In: an analysis, its key, its packed form. Out: the row. Not here: what makes failures alike
(`alike.failure_summary`, `alike.fingerprints`), the table (`store`).
"""

from collections.abc import Iterator

from postmortem.model.answer import Cause
from postmortem.model.diagnosis import Analysis
from postmortem.model.said import NOTHING, Said
from postmortem.store.stored_rows import AnalysisRow, AnalysisSummary
from postmortem.triage.alike.failure_summary import summary_of
from postmortem.triage.alike.fingerprints import fingerprint_of
from postmortem.triage.found_jobs import JUDGED


def row_of(analysis: Analysis, key: str, packed: bytes) -> AnalysisRow:
    """Give the row of an analysis that was made."""
    verdict, failure = analysis.verdict, summary_of(analysis)
    mark = fingerprint_of(failure)
    best = _named(analysis)
    fix = next((one.title for one in best.fixes), NOTHING) if best is not None else NOTHING
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
        frameworks=tuple(one.name for one in analysis.frameworks),
        where=str(first.where.said()) if first is not None else "",
        hosts=tuple(sorted(set(_hosts(analysis)))),
    )
    return AnalysisRow(summary, packed)


def refused_row(key: str, state: str, why: tuple[str, str]) -> AnalysisRow:
    """Give the row of an analysis that could not be made."""
    return AnalysisRow(AnalysisSummary(key, state, *why))


def _named(analysis: Analysis) -> Cause[Said] | None:
    """Give the cause that the verdict names."""
    return next((one for one in analysis.causes if one.id == analysis.verdict.cause), None)


def _hosts(analysis: Analysis) -> Iterator[str]:
    places = [source.where for source in analysis.sources]
    places += [analysis.first_failure.where] if analysis.first_failure is not None else []
    yield from (place.node for place in places if place.node)
