"""The jobs of a store, what became of each in each triage, and their listing a page at a time.

In: rows, digests, keys; numbers, filters. Out: rows. Not here: finding jobs, reading them, what an
analysis says.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from sqlalchemy import (
    Connection,
    ScalarSelect,
    Select,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
    update,
)

from postmortem.fleet.store.databases import CHUNK, Database, iter_chunks
from postmortem.fleet.store.store_tables import ANALYSES, JOBS, JUDGINGS, TRIAGES
from postmortem.fleet.store.stored_rows import WAITING, FileRow, JobRow, TriageRow

_FRESH: Final = {"key": "", "state": WAITING, "reason_en": "", "reason_zh": ""}


class JobRecords:
    """The jobs, each under its identity, over all triages."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, triage: int, jobs: Iterable[JobRow]) -> None:
        """Take note of jobs that a triage has found; nothing is known of them in it yet.

        Of each row, what the caller knows: identity, title, files, scheduler id and attempt. If any
        file is another than when the job was last noted, its digest is forgotten. Of two rows with
        one identity the later stands. Rows are taken as they come, and not held.
        """
        rows = iter(jobs)
        while batch := list(islice(rows, CHUNK)):
            values = sorted(map(_build_job_values, batch), key=lambda value: str(value["identity"]))
            with self._database.writing() as connection:
                self._note(connection, triage, values)

    def note_digests(self, jobs: Iterable[JobRow]) -> None:
        """Keep the digests of rows, each for those files that were read.

        A job whose files another triage has noted otherwise meanwhile stays without one.
        """
        statement = (
            update(JOBS)
            .where(JOBS.c.identity == bindparam("of"), JOBS.c.files == bindparam("read"))
            .values(digest=bindparam("found"))
        )
        self._write(
            statement,
            [
                {"of": job.identity, "read": sorted(job.files), "found": job.digest}
                for job in sorted(jobs, key=lambda job: job.identity)
            ],
        )

    def note_keys(self, triage: int, keys: Mapping[str, str]) -> None:
        """Take note, by identity, of the analysis that each job has in a triage."""
        statement = _update_judging(triage).values(key=bindparam("found"))
        self._write(statement, [{"of": job, "found": key} for job, key in sorted(keys.items())])

    def note_refused(
        self, triage: int, identity: str, state: str, reason_en: str, reason_zh: str
    ) -> None:
        """Take note that a job cannot be judged in a triage, and why."""
        statement = _update_judging(triage).values(
            state=bindparam("is"), reason_en=bindparam("en"), reason_zh=bindparam("zh")
        )
        self._write(statement, [{"of": identity, "is": state, "en": reason_en, "zh": reason_zh}])

    def iter_triage_jobs(self, triage: int) -> Iterator[JobRow]:
        """Yield the jobs of a triage by identity, in the order of code points, page by page."""
        wanted = (
            select(*JOB_COLUMNS)
            .select_from(JOINED)
            .where(JUDGINGS.c.triage == triage, JOBS.c.identity > bindparam("last"))
            .order_by(JOBS.c.identity)
            .limit(CHUNK)
        )
        last = ""
        while True:
            with self._database.reading() as connection:
                page = connection.execute(wanted, {"last": last}).all()
            yield from map(build_job_row, page)
            if len(page) < CHUNK:
                return
            last = page[-1].identity

    def _note(self, connection: Connection, triage: int, values: list[dict[str, Any]]) -> None:
        job = self._database.insert(JOBS)
        new = job.excluded
        connection.execute(
            job.values(first_triage=triage, last_triage=triage).on_conflict_do_update(
                index_elements=[JOBS.c.identity],
                set_={
                    "title": new.title,
                    "scheduler_id": new.scheduler_id,
                    "attempt": new.attempt,
                    "files": new.files,
                    "digest": case((JOBS.c.files == new.files, JOBS.c.digest), else_=""),
                    "last_triage": case(
                        (JOBS.c.last_triage > new.last_triage, JOBS.c.last_triage),
                        else_=new.last_triage,
                    ),
                },
            ),
            values,
        )
        connection.execute(
            self._database.insert(JUDGINGS)
            .from_select(
                ["triage", "job"],
                select(literal(triage), JOBS.c.number).where(JOBS.c.identity == bindparam("of")),
            )
            .on_conflict_do_update(index_elements=["triage", "job"], set_=_FRESH),
            [{"of": value["identity"]} for value in values],
        )

    def _write(self, statement: Any, rows: list[dict[str, Any]]) -> None:
        for some in iter_chunks(rows):
            with self._database.writing() as connection:
                connection.execute(statement, some)


JOINED: Final = JUDGINGS.join(JOBS, JUDGINGS.c.job == JOBS.c.number).outerjoin(
    ANALYSES, (ANALYSES.c.key == JUDGINGS.c.key) & (JUDGINGS.c.state == WAITING)
)
JOB_COLUMNS: Final = (
    JOBS.c.identity,
    JOBS.c.title,
    JOBS.c.files,
    JOBS.c.scheduler_id,
    JOBS.c.attempt,
    JOBS.c.digest,
    JUDGINGS.c.key,
    func.coalesce(ANALYSES.c.state, JUDGINGS.c.state),
    func.coalesce(ANALYSES.c.reason_en, JUDGINGS.c.reason_en),
    func.coalesce(ANALYSES.c.reason_zh, JUDGINGS.c.reason_zh),
    JOBS.c.first_triage,
    JOBS.c.last_triage,
)
"""What a `JobRow` is made of."""


def build_job_row(row: Sequence[Any]) -> JobRow:
    """Make a job of a row of `JOB_COLUMNS`."""
    identity, title, files, *rest = row
    return JobRow(identity, title, tuple(FileRow(*file) for file in files), *rest)


def _update_judging(triage: int) -> Any:
    return update(JUDGINGS).where(
        JUDGINGS.c.triage == triage, JUDGINGS.c.job == _select_job_number()
    )


def _select_job_number() -> "ScalarSelect[int]":
    return select(JOBS.c.number).where(JOBS.c.identity == bindparam("of")).scalar_subquery()


def _build_job_values(job: JobRow) -> dict[str, Any]:
    return {
        "identity": job.identity,
        "title": job.title,
        "scheduler_id": job.scheduler_id,
        "attempt": job.attempt,
        "files": sorted(job.files),
    }


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
