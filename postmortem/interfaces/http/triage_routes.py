"""The triages of a store as JSON, under `/api/triages`: models of query and response, routes.

In: numbers, filters. Out: JSON; values that FastAPI checks, describes and writes. Not here: the
work (`http.request_worker`), pages for people (`http.page_routes`), SQL (`store.job_records`).
"""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from postmortem.core.message import Message, say
from postmortem.fleet.store.job_records import ListedJob, WantedJobs
from postmortem.fleet.store.opened_store import Store
from postmortem.fleet.store.stored_rows import JUDGED
from postmortem.interfaces.http.analyze_routes import REPORT, ShownForm, report_answer
from postmortem.interfaces.http.api_errors import (
    Refusal,
    build_not_found_refusal,
    describe_error_responses,
)
from postmortem.interfaces.http.request_guard import select_language
from postmortem.interfaces.http.request_worker import (
    ReportOptions,
    group,
    render_job_report,
    render_triage_overview,
)
from postmortem.interfaces.http.service_state import Reader, Service, ServiceState

_LARGEST: Final = 2**31 - 1
Number = Annotated[int, Path(ge=1, le=_LARGEST)]
GroupName = Annotated[str, Path(max_length=200)]


class LanguageQuery(BaseModel):
    """In which language a page opens."""

    model_config = ConfigDict(extra="forbid")

    lang: Literal["en", "zh"] | None = None


class ReportQuery(LanguageQuery):
    """How the report of a job is to be."""

    format: ShownForm = "json"


class TriagesQuery(BaseModel):
    """Which triages are listed."""

    model_config = ConfigDict(extra="forbid")

    before: Annotated[int, Field(ge=1, le=_LARGEST)] | None = Field(
        None, description="List those begun before this one."
    )
    limit: int = Field(50, ge=1, le=500)


class JobsQuery(BaseModel):
    """Which jobs of a triage are listed."""

    model_config = ConfigDict(extra="forbid")

    state: Literal[
        "", "waiting", "judged", "unreadable", "crashed", "timed-out", "out-of-memory"
    ] = ""
    cause: str = Field("", max_length=200, description="Id of a cause.")
    text: str = Field("", max_length=200, description="Part of the title or identity.")
    after: str = Field("", max_length=4096, description="`next` of the page before.")
    limit: int = Field(100, ge=1, le=1000)


class TriageListed(BaseModel):
    """A triage in a list."""

    number: int
    places: list[str]
    began: float = Field(description="Seconds since 1970, UTC.")
    finished: float | None
    jobs: int


class TriagesPage(BaseModel):
    """A page of the list of triages, the newest first."""

    triages: list[TriageListed]
    next: int | None = Field(description="`before` of the next page; null on the last.")


class JobListed(BaseModel):
    """A job in a list."""

    number: int
    identity: str
    title: str
    state: str
    reason: dict[str, str] | None = Field(description="Why it was not judged, by language.")
    cause: str | None
    cause_title: dict[str, str] | None
    probability: float | None
    outcome: str
    retry: str


class JobsPage(BaseModel):
    """A page of the list of jobs, by identity."""

    jobs: list[JobListed]
    next: str | None = Field(description="`after` of the next page; null on the last.")


async def read_triages_page(service: ServiceState, query: TriagesQuery) -> TriagesPage:
    """Read a page of the list of triages."""
    store = store_of(service)
    rows = await asyncio.to_thread(store.listing.list_triages, query.before, query.limit)
    listed = [
        TriageListed(
            number=row.number,
            places=row.options.get("places", "").splitlines(),
            began=row.began,
            finished=row.finished,
            jobs=jobs,
        )
        for row, jobs in rows
    ]
    return TriagesPage(
        triages=listed, next=listed[-1].number if len(listed) == query.limit else None
    )


async def read_jobs_page(service: ServiceState, triage: int, query: JobsQuery) -> JobsPage:
    """Read a page of the list of jobs.

    Raises:
        Refusal: there is no such triage.
    """
    store = store_of(service)
    if await asyncio.to_thread(store.triages.get_row, triage) is None:
        raise build_not_found_refusal(say("there is no triage of that number"), triage)
    wanted = WantedJobs(triage, query.state, query.cause, query.text, query.after, query.limit)
    rows = await asyncio.to_thread(store.listing.list_jobs, wanted)
    last = rows[-1].job.identity if len(rows) == query.limit else None
    return JobsPage(jobs=[_build_job_entry(row) for row in rows], next=last)


def store_of(service: ServiceState) -> Store:
    """Give the store.

    Raises:
        Refusal: the service shows none.
    """
    if service.store is None:
        raise Refusal(
            404,
            say("this service shows no triages"),
            "store",
            say("start it with --store"),
        )
    return service.store


def _build_job_entry(row: ListedJob) -> JobListed:
    job, is_judged = row.job, row.job.state == JUDGED
    return JobListed(
        number=row.number,
        identity=job.identity,
        title=job.title,
        state=job.state,
        reason=_build_translations(job.reason_en, job.reason_zh),
        cause=row.cause if is_judged else None,
        cause_title=_build_translations(row.title_en, row.title_zh) if is_judged else None,
        probability=row.probability if is_judged else None,
        outcome=row.outcome,
        retry=row.retry,
    )


def _build_translations(en: str, zh: str) -> dict[str, str] | None:
    message = Message(en, zh)
    return {"en": message.en, "zh": message.zh} if message else None


async def run_store_work(
    request: Request, service: ServiceState, client: str, work: Callable[..., str], *args: Any
) -> str:
    """Do it in a process of its own.

    Raises:
        Refusal: there is no store, no place, or the work refuses.
    """
    store_of(service)
    async with service.place(client):
        return await service.run(request, work, *args)


router = APIRouter(tags=["triages"])
_REFUSED: Final = describe_error_responses(401, 404, 422, 429, 504)
_OBJECT: Final[dict[str, Any]] = {
    "description": "A JSON object.",
    "content": {"application/json": {"schema": {"type": "object"}}},
}


@router.get("/api/triages", summary="List triages", responses=_REFUSED)
async def list_triages(
    service: Service, _reader: Reader, query: Annotated[TriagesQuery, Query()]
) -> TriagesPage:
    """List the triages of the store, the newest first."""
    return await read_triages_page(service, query)


@router.get(
    "/api/triages/{number}",
    summary="The overview of a triage",
    response_class=Response,
    responses={
        200: {
            "description": "`postmortem.triage/1`",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Triage"}}},
        },
        **_REFUSED,
    },
)
async def triage_values(
    request: Request, service: Service, reader: Reader, number: Number
) -> Response:
    """Give what the jobs of a triage say together."""
    text = await run_store_work(
        request, service, reader, render_triage_overview, number, ReportOptions("json")
    )
    return report_answer(text, "json")


@router.get("/api/triages/{number}/jobs", summary="List the jobs of a triage", responses=_REFUSED)
async def list_jobs(
    service: Service, _reader: Reader, number: Number, query: Annotated[JobsQuery, Query()]
) -> JobsPage:
    """List jobs by identity; what is given as a filter is looked up in the store."""
    return await read_jobs_page(service, number, query)


@router.get(
    "/api/triages/{number}/groups/{name}",
    summary="A group of failures that are alike",
    response_class=Response,
    responses={200: _OBJECT, **_REFUSED},
)
async def group_values(
    request: Request, service: Service, reader: Reader, number: Number, name: GroupName
) -> Response:
    """Give a group of failures that are alike, and its jobs."""
    text = await run_store_work(
        request, service, reader, group, number, name, ReportOptions("json")
    )
    return report_answer(text, "json")


@router.get(
    "/api/triages/{number}/jobs/{job}",
    summary="The report of a job",
    response_class=Response,
    responses={200: REPORT, **_REFUSED},
)
async def job_values(
    request: Request,
    service: Service,
    reader: Reader,
    number: Number,
    job: Number,
    query: Annotated[ReportQuery, Query()],
) -> Response:
    """Render the report of a job from its stored analysis."""
    options = ReportOptions(query.format, query.lang or select_language(request.scope))
    text = await run_store_work(request, service, reader, render_job_report, job, number, options)
    return report_answer(text, query.format)
