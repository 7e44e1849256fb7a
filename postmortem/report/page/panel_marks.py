"""The marks of a panel: the failure, the first non-finite value, checkpoints, attempts.

In: a `Diagnosis` and the series that gives a panel its axis. Out: kinds, counts and lines. Not
here: their places on the axis (`page.record_axis`), their shapes (`page.chart`).
"""

from postmortem.core.diagnosis import Diagnosis
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.names import LOSS
from postmortem.core.shown import SeriesView
from postmortem.report.page.panel import KINDS, NonfiniteMark, is_of
from postmortem.report.plotted import find_first_nonfinite_index

Row = tuple[str, int, tuple[tuple[int, float | None], ...]]
"""Kind, how often, places as (line, step)."""


def find_first_nonfinite(series: SeriesView) -> NonfiniteMark | None:
    """Find the first non-finite value of a series."""
    index = find_first_nonfinite_index(series)
    if index is None:
        return None
    step, value, line = series.samples[index]
    return NonfiniteMark(series.name, value, step, line)


def find_process_nonfinite(diagnosis: Diagnosis, main: SeriesView) -> NonfiniteMark | None:
    """Find the first non-finite value of whatever name that the process of a series has printed."""
    found = [
        bad
        for series in diagnosis.series
        if series.source == main.source and is_of(series.where, main.where)
        if (bad := find_first_nonfinite(series)) is not None
    ]
    return min(
        found, key=lambda bad: (bad.line, bad.name != main.name, bad.name != LOSS), default=None
    )


def list_marks(diagnosis: Diagnosis, main: SeriesView, bad: NonfiniteMark | None) -> list[Row]:
    """Give what is to be marked in a source for a process, in the order of KINDS."""
    rows: dict[str, Row] = {}
    first = diagnosis.first_failure
    if first is not None and first.source == main.source:
        rows["failure"] = ("failure", 1, ((first.line, None),))
    if bad is not None:
        rows["bad"] = ("bad", 1, ((bad.line, bad.step),))
    for marks in sorted(diagnosis.marks, key=lambda marks: _rank_process(marks.where, main.where)):
        if marks.source == main.source and is_of(marks.where, main.where):
            # Of several processes one: each tells of the same step.
            rows.setdefault(marks.kind, (marks.kind, marks.count, marks.places))
    begins = _list_later_attempts(diagnosis, main)
    if begins:
        rows["restarted"] = ("restarted", len(begins), tuple((line, None) for line in begins))
    return [rows[kind] for kind in KINDS if kind in rows]


def _list_later_attempts(diagnosis: Diagnosis, main: SeriesView) -> list[int]:
    """Give the lines at which attempts begin behind the first sample of a series."""
    return sorted(
        attempt.first_line
        for attempt in diagnosis.attempts
        if attempt.source == main.source and attempt.first_line > main.samples[0][2]
    )


def _rank_process(where: ProcessId, main: ProcessId) -> tuple[bool, bool, int]:
    """Order processes by how surely they are that of a series.

    For one that names none, a named one before the lines of all that name none.
    """
    return (
        main not in (where, NOWHERE),
        where == NOWHERE != main,
        (where.rank or 0) if where != NOWHERE else 1 << 30,
    )
