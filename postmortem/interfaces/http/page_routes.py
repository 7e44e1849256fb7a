"""The pages of the service: pasting a log, signing in, triages, their groups and jobs.

In: requests of browsers. Out: pages, made when they are asked for. Not here: JSON
(`http.triage_routes`), the work (`http.request_worker`), what is on a page (`page.service_page`).
"""

import time
from collections.abc import Callable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import HTMLResponse, RedirectResponse

from postmortem.core.log_text import compile_lazily
from postmortem.interfaces.http.analyze_routes import report_answer
from postmortem.interfaces.http.api_errors import (
    Refusal,
    build_rate_limit_refusal,
    describe_error_responses,
)
from postmortem.interfaces.http.request_guard import (
    get_form_policy,
    get_triage_policy,
    select_language,
)
from postmortem.interfaces.http.request_worker import (
    ReportOptions,
    group,
    render_job_report,
    render_triage_overview,
)
from postmortem.interfaces.http.service_state import COOKIE, Reader, Service, get_client_address
from postmortem.interfaces.http.triage_routes import (
    GroupName,
    LanguageQuery,
    Number,
    TriagesQuery,
    read_triages_page,
    run_store_work,
)
from postmortem.report.page.service_page import (
    compute_service_hashes,
    render_list,
    render_paste,
    render_refusal,
    render_sign_in,
)

router = APIRouter(tags=["pages"])
_WITHIN: Final = compile_lazily(r"/(?:triages|jobs)(?:/[A-Za-z0-9_-]{1,200}){0,4}\Z")
_PAGE: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "A page.", "content": {"text/html": {"schema": {"type": "string"}}}}
}
_FORM: Final[dict[str, Any]] = {
    "requestBody": {
        "content": {
            "application/x-www-form-urlencoded": {
                "schema": {
                    "type": "object",
                    "properties": {"token": {"type": "string"}, "to": {"type": "string"}},
                }
            }
        }
    }
}


class ListQuery(TriagesQuery, LanguageQuery):
    """Which triages are listed, in which language."""


@router.get(
    "/",
    summary="The page to paste a log into",
    response_class=Response,
    responses={**_PAGE, **describe_error_responses(422)},
)
async def paste_page(
    request: Request, service: Service, _query: Annotated[LanguageQuery, Query()]
) -> Response:
    """Show the page that a log is pasted into or dropped on."""
    text = render_paste(
        language=select_language(request.scope),
        most=service.settings.limits.body_mib,
        needs_token=service.tokens.are_needed,
        has_store=service.store is not None,
    )
    return build_page_response(text)


@router.get(
    "/triages",
    summary="The list of triages as a page",
    response_class=Response,
    responses={**_PAGE, **describe_error_responses(401, 404, 422, 429)},
)
async def list_page(
    request: Request, service: Service, _reader: Reader, query: Annotated[ListQuery, Query()]
) -> Response:
    """Show the triages of the store, the newest first."""
    page = await read_triages_page(service, query)
    rows = [
        {
            "number": triage.number,
            "places": triage.places,
            "jobs": triage.jobs,
            "began": _format_time(triage.began),
            "finished": _format_time(triage.finished),
        }
        for triage in page.triages
    ]
    text = render_list(
        rows,
        language=select_language(request.scope),
        older=page.next,
        is_signed_in=COOKIE in request.cookies,
    )
    return build_page_response(text)


@router.post(
    "/session",
    summary="Sign a browser in",
    response_class=Response,
    openapi_extra=_FORM,
    responses={
        303: {"description": "Signed in; a cookie holds for the pages of triages."},
        401: {**_PAGE[200], "description": "The token is not known; the page asks again."},
        **describe_error_responses(403, 408, 413, 429),
    },
)
async def sign_in(request: Request, service: Service) -> Response:
    """Take a token from the page that asks for it, and give the browser a session."""
    form = await request.form(max_files=0, max_fields=4)
    token, to = (str(form.get(name, "")) for name in ("token", "to"))
    to = to if _WITHIN.match(to) else "/triages"
    holder = service.tokens.find_holder(token.strip())
    if holder is None:
        if seconds := service.buckets.take(f"guessing {get_client_address(request.scope)}"):
            raise build_rate_limit_refusal(seconds)
        text = render_sign_in(language=select_language(request.scope), to=to, is_wrong=True)
        return build_page_response(text, 401)
    answer = RedirectResponse(to, 303)
    answer.set_cookie(
        COOKIE,
        service.sessions.begin(holder),
        max_age=service.sessions.seconds,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post(
    "/session/end",
    summary="Sign a browser out",
    response_class=Response,
    responses={303: {"description": "Signed out."}, **describe_error_responses(403)},
)
async def sign_out(request: Request, service: Service) -> Response:
    """Close the session of a browser."""
    service.sessions.end(request.cookies.get(COOKIE, ""))
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(COOKIE)
    return answer


def build_page_response(text: str, status: int = 200) -> Response:
    """Send a page of the service."""
    policy = get_form_policy(*compute_service_hashes())
    return HTMLResponse(text, status, {"content-security-policy": policy})


def build_refusal_page(request: Request, error: Refusal) -> Response:
    """Send a refusal to somebody who opens a page: what is wrong, or where to give a token."""
    language = select_language(request.scope)
    what, mend = error.texts
    if error.status == 401:
        path = request.url.path
        to = path if _WITHIN.match(path) else "/triages"
        text = render_sign_in(language=language, to=to, is_wrong=False)
    else:
        text = render_refusal(error.status, what, mend, language=language)
    answer = build_page_response(text, error.status)
    answer.headers.update(error.headers)
    return answer


def is_page_request(request: Request) -> bool:
    """Say whether a browser asks for something to show."""
    return request.method in {"GET", "HEAD"} and "text/html" in request.headers.get("accept", "")


def _format_time(seconds: float | None) -> str:
    return "" if seconds is None else time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


_TRIAGE_PAGE: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "A page.", "content": {"text/html": {"schema": {"type": "string"}}}},
    **describe_error_responses(401, 404, 422, 429, 504),
}


@router.get(
    "/triages/{number}",
    summary="The overview as a page",
    response_class=Response,
    responses=_TRIAGE_PAGE,
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
    responses=_TRIAGE_PAGE,
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
    responses=_TRIAGE_PAGE,
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
    responses=_TRIAGE_PAGE,
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
