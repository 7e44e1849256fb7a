"""What is marked on a panel: the failure, the first non-finite value, checkpoints, attempts.

In: a `Diagnosis` and the series that gives a panel its axis. Out: kinds, counts and lines. Not here:
their places on the axis (`page.record_axis`), their shapes (`page.chart`).
"""

from postmortem.model.diagnosis import Diagnosis, SeriesView
from postmortem.model.lines import NOWHERE, Where
from postmortem.names import LOSS
from postmortem.report.page.panel import KINDS, Bad, is_of
from postmortem.report.plotted import first_bad


def first_bad_of_process(diagnosis: Diagnosis, main: SeriesView) -> Bad | None:
    """Find the first non-finite value that the process of a series has printed, whatever it is called."""
    beside = (
        one
        for one in diagnosis.series
        if one.source == main.source and is_of(one.where, main.where)
    )
    found = [
        Bad(one.name, one.samples[index][1], one.samples[index][0], one.samples[index][2])
        for one in beside
        if (index := first_bad(one)) is not None
    ]
    return min(
        found, key=lambda one: (one.line, one.name != main.name, one.name != LOSS), default=None
    )


def marks_for(
    diagnosis: Diagnosis, main: SeriesView, bad: Bad | None
) -> list[tuple[str, int, tuple[tuple[int, float | None], ...]]]:
    """Give what is to be marked in a source for a process: kind, how often, places.

    In the order of KINDS.
    """
    rows: dict[str, tuple[int, tuple[tuple[int, float | None], ...]]] = {}
    first = diagnosis.first_failure
    if first is not None and first.source == main.source:
        rows["failure"] = (1, ((first.line, None),))
    if bad is not None:
        rows["bad"] = (1, ((bad.line, bad.step),))
    for one in sorted(diagnosis.marks, key=lambda one: _nearness(one.where, main.where)):
        if (
            one.source == main.source and is_of(one.where, main.where) and one.kind not in rows
        ):  # of several processes one: each tells of the same step
            rows[one.kind] = (one.count, one.places)
    begins = [
        one.first_line
        for one in diagnosis.attempts
        if one.source == main.source and one.first_line > main.samples[0][2]
    ]
    if begins:
        rows["restarted"] = (len(begins), tuple((line, None) for line in sorted(begins)))
    return [(kind, *rows[kind]) for kind in KINDS if kind in rows]


def _nearness(where: Where, main: Where) -> tuple[bool, bool, int]:
    """Order processes by how surely they are that of a series.

    For one that names none, a named one before the lines of all that name none.
    """
    return (
        main not in (where, NOWHERE),
        where == NOWHERE != main,
        (where.rank or 0) if where != NOWHERE else 1 << 30,
    )
