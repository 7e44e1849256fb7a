"""The application: routes behind a guard, over one state; its health check and its description.

In: settings, tokens, further routers, further work beside the requests. Out: an ASGI application,
whose OpenAPI description holds the schemas of the report and of a triage. Not here: listening
(`http.http_server`), the schemas (`report/*.schema.json`).

The health check says nothing about the users of the service.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Final, Literal

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from postmortem.core.errors import PostmortemError
from postmortem.core.message import say
from postmortem.interfaces.http import analyze_routes, page_routes, triage_routes
from postmortem.interfaces.http.api_errors import (
    Refusal,
    build_error_body,
    build_http_refusal,
    describe_error_responses,
)
from postmortem.interfaces.http.client_access import AccessTokens
from postmortem.interfaces.http.page_routes import build_refusal_page, is_page_request
from postmortem.interfaces.http.request_guard import RequestGuard, select_language
from postmortem.interfaces.http.service_settings import ServiceSettings
from postmortem.interfaces.http.service_state import Service, ServiceState
from postmortem.report.wire import get_tool_version, read_schema

health_router = APIRouter(tags=["service"])


class Health(BaseModel):
    """How the service is."""

    status: Literal["ok", "failing"]
    version: str
    pool: Literal["ok", "lost"] = Field(description="The processes that judge.")
    store: Literal["ok", "unreachable", "none"] = Field(description="What `--store` names.")
    under_way: int = Field(description="Requests that are worked on or wait.")
    places: int = Field(description="Requests that may be worked on or wait.")


@health_router.get(
    "/health",
    summary="Whether the service is well",
    responses={503: {"model": Health, "description": "The pool or the store is lost."}},
)
async def health(service: Service, response: Response) -> Health:
    """Look at the processes and at the store."""
    store = await asyncio.to_thread(_store, service)
    pool: Literal["ok", "lost"] = "ok" if service.pool.is_alive else "lost"
    is_well = pool == "ok" and store != "unreachable"
    response.status_code = 200 if is_well else 503
    return Health(
        status="ok" if is_well else "failing",
        version=get_tool_version(),
        pool=pool,
        store=store,
        under_way=service.places.taken,
        places=service.places.most,
    )


def _store(service: Service) -> Literal["ok", "unreachable", "none"]:
    if service.store is None:
        return "none"
    try:
        service.store.triages.get_row(0)
    except PostmortemError:
        return "unreachable"
    return "ok"


_WITHIN: Final = "#/$defs/"
_SCHEMA_PREFIX: Final = "#/components/schemas/"
_SCHEMAS: Final = {"Report": "report", "Triage": "triage"}


def add_report_schemas(app: FastAPI) -> None:
    """Put the schemas where the routes refer to them."""
    describe = app.openapi

    def described_with_reports() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = describe()
            schemas = found.setdefault("components", {}).setdefault("schemas", {})
            for name, file in _SCHEMAS.items():
                schemas |= _extract_components(json.loads(read_schema(file)), name)
        return app.openapi_schema or describe()

    app.openapi = described_with_reports  # type: ignore[method-assign]  # as FastAPI's manual does


def _extract_components(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Give a schema and its definitions as components: `Report`, `Report_cause`."""
    parts = {f"{name}_{key}": part for key, part in schema.pop("$defs", {}).items()}
    for key in ("$schema", "$id"):
        schema.pop(key, None)
    return {key: _rename_references(part, name) for key, part in {name: schema, **parts}.items()}


def _rename_references(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {
            key: f"{_SCHEMA_PREFIX}{name}_{item.removeprefix(_WITHIN)}"
            if key == "$ref" and isinstance(item, str)
            else _rename_references(item, name)
            for key, item in value.items()
        }
    return [_rename_references(item, name) for item in value] if isinstance(value, list) else value


Background = Callable[[ServiceState], Awaitable[None]]
"""Work beside the requests: begun when the service is ready, cancelled when it ends."""
_ROUTERS: Final = (
    analyze_routes.router,
    triage_routes.router,
    page_routes.router,
    page_routes.triage_router,
    health_router,
)
_EVERYWHERE: Final = describe_error_responses(400, 421, 431, 500, 503)


def create_app(
    settings: ServiceSettings,
    tokens: AccessTokens,
    routers: Sequence[APIRouter] = (),
    background: Sequence[Background] = (),
) -> FastAPI:
    """Make the application.

    Args:
        settings: all of them.
        tokens: of who may ask.
        routers: further routes; those that need a token say so themselves (`http.service_state`).
        background: further work, each in a task of its own.
    """
    service = ServiceState.of(settings, tokens)
    made = FastAPI(
        title="postmortem",
        version=get_tool_version(),
        summary="Names the cause of a failed training run from its log.",
        description="Errors are JSON of one shape; who asks for `text/html` gets them as a page.",
        lifespan=_build_lifespan(service, background),
        docs_url=None,  # both would fetch scripts from elsewhere
        redoc_url=None,
        responses=_EVERYWHERE,
    )
    made.state.service = service
    made.add_middleware(RequestGuard, service=service)
    made.add_exception_handler(Refusal, _handle_refusal)
    made.add_exception_handler(HTTPException, _handle_http_exception)
    made.add_exception_handler(RequestValidationError, _handle_validation_error)
    for router in (*_ROUTERS, *routers):
        made.include_router(router)
    add_report_schemas(made)
    return made


def _build_lifespan(
    service: ServiceState, background: Sequence[Background]
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Have the processes and the further work there while requests are served."""

    @asynccontextmanager
    async def run_while_serving(_app: FastAPI) -> AsyncIterator[None]:
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

    return run_while_serving


async def _handle_refusal(request: Request, error: Exception) -> Response:
    """Answer a refusal of a route."""
    assert isinstance(error, Refusal)  # noqa: S101 -- what the handler is registered for
    if is_page_request(request):
        return build_refusal_page(request, error)
    body = build_error_body(error, select_language(request.scope))
    return JSONResponse(body, error.status, error.headers)


async def _handle_http_exception(request: Request, error: Exception) -> Response:
    """Answer what the framework refuses: no such route, no such method."""
    assert isinstance(error, HTTPException)  # noqa: S101
    refusal = build_http_refusal(error.status_code, error.detail)
    answer = await _handle_refusal(request, refusal)
    answer.headers.update(error.headers or {})
    return answer


async def _handle_validation_error(request: Request, error: Exception) -> Response:
    """Answer arguments that are not valid; what was given is not repeated."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    fault = error.errors()[0]
    message = say("not valid: {why}", why=str(fault["msg"]))
    return await _handle_refusal(request, Refusal(422, message, ".".join(map(str, fault["loc"]))))
