"""Pages of the service other than reports: pasting a log, the list of triages, sessions.

In: requests of browsers. Out: pages. Not here: reports, the pages of one triage
(`http.triage_routes`), the content of a page (`page.service_page`).
"""

import time
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import HTMLResponse, RedirectResponse

from postmortem.core.lazy_regex import compile_lazily
from postmortem.interfaces.http.api_errors import (
    Refusal,
    build_rate_limit_refusal,
    describe_error_responses,
)
from postmortem.interfaces.http.authentication import COOKIE, Reader, Service, get_client_address
from postmortem.interfaces.http.page_policies import get_form_policy
from postmortem.interfaces.http.request_guard import select_language
from postmortem.interfaces.http.triage_answers import LanguageQuery, TriagesQuery, read_triages_page
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
