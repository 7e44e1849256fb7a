"""The application and its server: routes behind a guard, over one state; listening until a signal.

In: settings, tokens, further routers, further work beside the requests. Out: an ASGI application,
whose OpenAPI description holds the schemas of the report and of a triage; the status with which
the command ends. Not here: the schemas (`report/*.schema.json`), the routes.

The health check says nothing about the users of the service. On SIGTERM or SIGINT no more requests
are taken; running ones are finished within a time, and the rest is refused.
"""

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from types import FrameType
from typing import Any, Final, Literal

import uvicorn
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from postmortem.core.errors import PostmortemError, UsageError
from postmortem.core.host.machine import is_loopback
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
from postmortem.interfaces.http.request_guard import RequestGuard, note, select_language
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


_GRACE_SECONDS: Final = 30
"""Seconds at most until what was not done is ended, and answered."""


def require_safe(settings: ServiceSettings, tokens: AccessTokens) -> None:
    """Refuse to serve others than this machine without a token.

    Raises:
        UsageError: anybody could ask.
    """
    if tokens.are_needed or settings.is_local:
        return
    where = settings.host if not is_loopback(settings.host) else "allowed_hosts, trusted_proxies"
    raise UsageError(
        "others than this machine could ask, and no token is set",
        where,
        "name a file with --token-file, or set POSTMORTEM_SERVICE_TOKENS: docs/service.md",
    )


def serve(app: FastAPI, settings: ServiceSettings) -> int:
    """Serve until asked to end; gives the exit status.

    Raises:
        UsageError: the address cannot be listened on.
        PostmortemError: the store cannot be used.
    """
    limits = settings.limits
    listening = _open_listening_socket(settings.host, settings.port)
    app.state.service.open_store()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    config = uvicorn.Config(
        app,
        http=_build_http_protocol(limits.header_seconds),
        ws="none",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        h11_max_incomplete_event_size=limits.header_kib * 1024,
        limit_concurrency=limits.connections,
        timeout_graceful_shutdown=round(limits.shutdown_seconds) + _GRACE_SECONDS,
    )
    server = _GracefulServer(config, app.state.service)
    try:
        server.run([listening])
    except SystemExit:  # as uvicorn ends if it could not begin
        return 2
    return 0


def _open_listening_socket(host: str, port: int) -> socket.socket:
    """Listen on an address.

    Raises:
        UsageError: it is none of this machine, or another listens there.
    """
    try:
        (family, *_, address), *_ = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise UsageError(
            f"cannot listen: {error.strerror or error}",
            f"{host}:{port}",
            "choose another with --host or --port; 0 is a free port",
        ) from error


class _GracefulServer(uvicorn.Server):
    """A server that notifies its application before it shuts down."""

    def __init__(self, config: uvicorn.Config, service: ServiceState) -> None:
        super().__init__(config)
        self._service = service

    async def startup(self, *args: Any, **kwargs: Any) -> None:
        """Begin, and say where."""
        await super().startup(*args, **kwargs)
        for server in self.servers:
            for listening in server.sockets:
                host, port = listening.getsockname()[:2]
                shown = f"[{host}]" if ":" in host else host
                note(f"postmortem: serving on http://{shown}:{port}")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Refuse what comes from now on, and after a time what is under way."""
        if not self._service.is_ending:
            note("postmortem: ending; finishing what is under way")
        self._service.is_ending = True
        super().handle_exit(sig, frame)

    async def shutdown(self, *args: Any, **kwargs: Any) -> None:
        """End; what is not done in time is refused."""
        self._service.is_ending = True
        seconds = self._service.settings.limits.shutdown_seconds
        loop = asyncio.get_running_loop()
        # In a thread: a process that stands still takes its time to end, others are answered then.
        late = loop.call_later(seconds, loop.run_in_executor, None, self._service.pool.close)
        try:
            await super().shutdown(*args, **kwargs)
        finally:
            late.cancel()
        self._captured_signals.clear()  # asked to end and ended: that is no failure


class _HeaderTimeoutProtocol(H11Protocol):
    """A connection that is closed if the headers of a request do not arrive in time."""

    head_seconds = 10.0
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request."""
        super().connection_made(transport)
        self._late = self.loop.call_later(self.head_seconds, self._close_if_headless)

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a head that has begun."""
        was_idle = self._is_headless()
        super().data_received(data)
        if not self._is_headless():
            self._forget()
        elif was_idle and self._late is None and not self.transport.is_closing():
            self._late = self.loop.call_later(self.head_seconds, self._close_if_headless)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._forget()
        super().connection_lost(exc)

    def _is_headless(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _close_if_headless(self) -> None:
        self._late = None
        if self._is_headless():
            self.transport.close()


def _build_http_protocol(seconds: float) -> type[H11Protocol]:
    """Give the protocol, with a time in which the head of a request must have arrived."""

    class _Limited(_HeaderTimeoutProtocol):
        head_seconds = seconds

    return _Limited
