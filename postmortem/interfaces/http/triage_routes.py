"""The triages of a store as JSON, under `/api/triages`.

In: numbers, filters. Out: JSON. Not here: the work (`http.store_worker`), pages for people
(`http.triage_page_routes`).
"""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from postmortem.interfaces.http.analyze_routes import REPORT, report_answer
from postmortem.interfaces.http.api_errors import describe_error_responses
from postmortem.interfaces.http.authentication import Reader, Service
from postmortem.interfaces.http.request_guard import select_language
from postmortem.interfaces.http.request_worker import ReportOptions
from postmortem.interfaces.http.store_work import run_store_work
from postmortem.interfaces.http.store_worker import group, render_job_report, render_triage_overview
from postmortem.interfaces.http.triage_answers import (
    GroupName,
    JobsPage,
    JobsQuery,
    Number,
    ReportQuery,
    TriagesPage,
    TriagesQuery,
    read_jobs_page,
    read_triages_page,
)

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
