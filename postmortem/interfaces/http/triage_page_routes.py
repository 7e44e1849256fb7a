"""The triages of a store as pages for people, under `/triages` and `/jobs`.

In: numbers. Out: pages, made when they are asked for. Not here: the work (`http.store_worker`), the
list of triages (`http.form_routes`).
"""

from collections.abc import Callable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from postmortem.interfaces.http.analyze_routes import report_answer
from postmortem.interfaces.http.api_errors import describe_error_responses
from postmortem.interfaces.http.authentication import Reader, Service
from postmortem.interfaces.http.page_policies import get_triage_policy
from postmortem.interfaces.http.request_guard import select_language
from postmortem.interfaces.http.request_worker import ReportOptions
from postmortem.interfaces.http.store_work import run_store_work
from postmortem.interfaces.http.store_worker import group, render_job_report, render_triage_overview
from postmortem.interfaces.http.triage_answers import GroupName, LanguageQuery, Number

router = APIRouter(tags=["pages"])
_PAGE: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "A page.", "content": {"text/html": {"schema": {"type": "string"}}}},
    **describe_error_responses(401, 404, 422, 429, 504),
}


@router.get(
    "/triages/{number}", summary="The overview as a page", response_class=Response, responses=_PAGE
)
async def triage_page(
    request: Request,
    service: Service,
    reader: Reader,
    number: Number,
    _query: Annotated[LanguageQuery, Query()],
) -> Response:
    """Show what the jobs of a triage died of."""
    answer = await _render_page_response(request, service, reader, render_triage_overview, number)
    answer.headers["content-security-policy"] = get_triage_policy()
    return answer


@router.get(
    "/triages/{number}/groups/{name}",
    summary="The report that stands for a group",
    response_class=Response,
    responses=_PAGE,
)
async def group_page(
    request: Request,
    service: Service,
    reader: Reader,
    number: Number,
    name: GroupName,
    _query: Annotated[LanguageQuery, Query()],
) -> Response:
    """Show the report of the first job of a group."""
    return await _render_page_response(request, service, reader, group, number, name)


@router.get(
    "/triages/{number}/jobs/{job}",
    summary="The report of a job as a page",
    response_class=Response,
    responses=_PAGE,
)
async def job_page(
    request: Request,
    service: Service,
    reader: Reader,
    number: Number,
    job: Number,
    _query: Annotated[LanguageQuery, Query()],
) -> Response:
    """Show the report of a job, as it was judged in a triage."""
    return await _render_page_response(request, service, reader, render_job_report, job, number)


@router.get(
    "/jobs/{job}",
    summary="The report of a job, as last judged",
    response_class=Response,
    responses=_PAGE,
)
async def last_job_page(
    request: Request,
    service: Service,
    reader: Reader,
    job: Number,
    _query: Annotated[LanguageQuery, Query()],
) -> Response:
    """Show the report of a job, as it was judged in its last triage."""
    return await _render_page_response(request, service, reader, render_job_report, job, None)


async def _render_page_response(
    request: Request, service: Service, reader: Reader, work: Callable[..., str], *args: Any
) -> Response:
    options = ReportOptions("html", select_language(request.scope))
    return report_answer(
        await run_store_work(request, service, reader, work, *args, options), "html"
    )
