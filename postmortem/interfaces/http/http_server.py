"""The server that runs the application: listening and graceful shutdown.

In: settings, an application. Out: nothing, until it is ended. Not here: routes, options.

On SIGTERM or SIGINT it takes no more requests, finishes running ones within a time, and refuses the
rest.
"""

import asyncio
import logging
import socket
from types import FrameType
from typing import Any, Final

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from postmortem.core.errors import UsageError
from postmortem.core.host.machine import is_loopback
from postmortem.interfaces.http.client_access import AccessTokens
from postmortem.interfaces.http.request_guard import note
from postmortem.interfaces.http.service_settings import ServiceSettings
from postmortem.interfaces.http.service_state import ServiceState

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
