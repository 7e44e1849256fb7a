"""The application: routes behind a guard, over one state.

In: settings, tokens, further routers, further work beside the requests. Out: an ASGI application.
Not here: listening (`service.http_server`).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Final

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from postmortem.model.said import say
from postmortem.report.wire import tool_version
from postmortem.service import (
    analyze_routes,
    form_routes,
    health_routes,
    triage_page_routes,
    triage_routes,
)
from postmortem.service.access_tokens import AccessTokens
from postmortem.service.api_description import with_reports
from postmortem.service.form_routes import refusal_page, wants_page
from postmortem.service.refusals import Refusal, described, error_body, plain_refusal
from postmortem.service.request_guard import RequestGuard, spoken_in
from postmortem.service.service_settings import ServiceSettings
from postmortem.service.service_state import ServiceState

Background = Callable[[ServiceState], Awaitable[None]]
"""Work beside the requests: begun when the service is ready, cancelled when it ends."""
_ROUTERS: Final = (
    analyze_routes.router,
    triage_routes.router,
    form_routes.router,
    triage_page_routes.router,
    health_routes.router,
)
_EVERYWHERE: Final = described(400, 421, 431, 500, 503)


def application(
    settings: ServiceSettings,
    tokens: AccessTokens,
    routers: Sequence[APIRouter] = (),
    background: Sequence[Background] = (),
) -> FastAPI:
    """Make the application.

    Args:
        settings: all of them.
        tokens: of who may ask.
        routers: further routes; those that need a token say so themselves (`service.who_asks`).
        background: further work, each in a task of its own.
    """
    service = ServiceState.of(settings, tokens)
    made = FastAPI(
        title="postmortem",
        version=tool_version(),
        summary="Names the cause of a failed training run from its log.",
        description="Errors are JSON of one shape; who asks for `text/html` gets them as a page.",
        lifespan=_at_work(service, background),
        docs_url=None,  # both would fetch scripts from elsewhere
        redoc_url=None,
        responses=_EVERYWHERE,
    )
    made.state.service = service
    made.add_middleware(RequestGuard, service=service)
    made.add_exception_handler(Refusal, _refused)
    made.add_exception_handler(HTTPException, _not_served)
    made.add_exception_handler(RequestValidationError, _not_valid)
    for router in (*_ROUTERS, *routers):
        made.include_router(router)
    with_reports(made)
    return made


def _at_work(
    service: ServiceState, background: Sequence[Background]
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Have the processes and the further work there while requests are served."""

    @asynccontextmanager
    async def at_work(_app: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(service.begin)
        tasks = [asyncio.ensure_future(work(service)) for work in background]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task
            await asyncio.to_thread(service.end)

    return at_work


async def _refused(request: Request, error: Exception) -> Response:
    """Answer a refusal of a route."""
    assert isinstance(error, Refusal)  # noqa: S101 -- what the handler is registered for
    if wants_page(request):
        return refusal_page(request, error)
    body = error_body(error, spoken_in(request.scope))
    return JSONResponse(body, error.status, error.headers)


async def _not_served(request: Request, error: Exception) -> Response:
    """Answer what the framework refuses: no such route, no such method."""
    assert isinstance(error, HTTPException)  # noqa: S101
    refusal = plain_refusal(error.status_code, error.detail)
    answer = await _refused(request, refusal)
    answer.headers.update(error.headers or {})
    return answer


async def _not_valid(request: Request, error: Exception) -> Response:
    """Answer arguments that are not valid; what was given is not repeated."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    fault = error.errors()[0]
    said = say("not valid: {why}", "参数无效：{why}", why=str(fault["msg"]))
    return await _refused(request, Refusal(422, said, ".".join(map(str, fault["loc"]))))
