"""Jobs and triages by number, a page at a time, as those ask who look at a store.

In: numbers, filters. Out: rows. Not here: noting them (`store.job_records`).
"""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select, func, or_, select

from postmortem.fleet.store.databases import Database
from postmortem.fleet.store.job_records import JOB_COLUMNS, JOINED, build_job_row
from postmortem.fleet.store.store_tables import ANALYSES, JOBS, JUDGINGS, TRIAGES
from postmortem.fleet.store.stored_rows import JobRow, TriageRow

_TOLD: Final = ("cause", "title_en", "title_zh", "probability", "outcome", "retry")


@dataclass(frozen=True, slots=True)
class WantedJobs:
    """Which jobs of a triage are asked for; what is empty asks nothing."""

    triage: int
    state: str = ""
    cause: str = ""
    text: str = ""
    """Part of the title or the identity, whatever the case of its letters."""
    after: str = ""
    """The identity behind which to go on."""
    most: int = 100


@dataclass(frozen=True, slots=True)
class ListedJob:
    """A job of a triage, with what is told of it in a list."""

    number: int
    job: JobRow
    cause: str | None
    title_en: str
    title_zh: str
    probability: float
    outcome: str
    retry: str


class JobListing:
    """Looks things up in a store; it changes nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_triages(self, before: int | None, most: int) -> list[tuple[TriageRow, int]]:
        """Give the newest triages begun before one, each with the number of its jobs."""
        count = select(func.count()).where(JUDGINGS.c.triage == TRIAGES.c.number)
        wanted = select(TRIAGES, count.scalar_subquery()).order_by(TRIAGES.c.number.desc())
        if before is not None:
            wanted = wanted.where(TRIAGES.c.number < before)
        return [
            (TriageRow(number, options, began, finished), int(jobs))
            for number, options, began, finished, jobs in self._all(wanted.limit(most))
        ]

    def get_numbers(self, triage: int) -> dict[str, int]:
        """Give the number of each job of a triage, by identity."""
        wanted = (
            select(JOBS.c.identity, JOBS.c.number)
            .join_from(JUDGINGS, JOBS, JUDGINGS.c.job == JOBS.c.number)
            .where(JUDGINGS.c.triage == triage)
        )
        return {identity: int(number) for identity, number in self._all(wanted)}

    def get_job(self, number: int, triage: int | None = None) -> JobRow | None:
        """Give a job as it stands in a triage, or in its last one; None if it is not there."""
        asked = JOBS.c.last_triage if triage is None else triage
        wanted = select(*JOB_COLUMNS).select_from(JOINED)
        rows = self._all(wanted.where(JOBS.c.number == number, JUDGINGS.c.triage == asked))
        return build_job_row(rows[0]) if rows else None

    def list_jobs(self, asked: WantedJobs) -> list[ListedJob]:
        """Give jobs of a triage by identity, in the order of code points."""
        wanted = (
            select(
                JOBS.c.number,
                *(ANALYSES.c[name] for name in _TOLD),
                *JOB_COLUMNS,
            )
            .select_from(JOINED)
            .where(JUDGINGS.c.triage == asked.triage, JOBS.c.identity > asked.after)
            .order_by(JOBS.c.identity)
            .limit(asked.most)
        )
        if asked.state:
            wanted = wanted.where(func.coalesce(ANALYSES.c.state, JUDGINGS.c.state) == asked.state)
        if asked.cause:
            wanted = wanted.where(ANALYSES.c.cause == asked.cause)
        if asked.text:
            wanted = wanted.where(
                or_(
                    *(
                        column.icontains(asked.text, autoescape=True)
                        for column in (JOBS.c.title, JOBS.c.identity)
                    )
                )
            )
        return [_build_listed_job(row) for row in self._all(wanted)]

    def _all(self, wanted: "Select[Any]") -> list[Any]:
        with self._database.reading() as connection:
            return list(connection.execute(wanted).all())


def _build_listed_job(row: Any) -> ListedJob:
    number, cause, *told = row[: 1 + len(_TOLD)]
    en, zh, probability, outcome, retry = (one or "" for one in told)
    job = build_job_row(row[1 + len(_TOLD) :])
    return ListedJob(int(number), job, cause, en, zh, float(probability or 0), outcome, retry)
