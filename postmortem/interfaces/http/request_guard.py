"""Guard requests and responses: host, origin, size, time, headers, content-security policies.

In: an ASGI application. Out: one that refuses bad requests before it and logs each request; the
policies of the service's pages. Not here: authentication (`http.service_state`), the routes.

It counts a body as it arrives, whatever length was claimed. A refused body is drained for a moment
before the answer: a client that is still sending would else see a broken connection. Each policy
names scripts and styles by their hashes, so only our own run. A report that is shown within the
page for pasting has the policy of that page too, which therefore names those of the report as well.
"""

import asyncio
import functools
import re
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from postmortem.core.log_text import compile_lazily
from postmortem.core.names import LANGUAGES
from postmortem.interfaces.http.api_errors import (
    Refusal,
    build_body_size_refusal,
    build_body_timeout_refusal,
    build_cross_site_refusal,
    build_error_body,
    build_header_size_refusal,
    build_host_refusal,
    build_shutdown_refusal,
    convert_to_refusal,
    two_lengths,
)
from postmortem.interfaces.http.service_state import ClientGone, ServiceState, get_client_address
from postmortem.report.page.frame import compute_page_hashes
from postmortem.report.page.triage_page import ADDED


@functools.cache
def get_report_policy() -> str:
    """Give the policy of a report's page."""
    return _format_policy(compute_page_hashes())


@functools.cache
def get_triage_policy() -> str:
    """Give the policy of the page of a triage."""
    return _format_policy(compute_page_hashes(ADDED))


@functools.cache
def get_form_policy(style: str, script: str) -> str:
    """Give the policy of a page with a form, by the hashes of its own style and script."""
    styles, scripts = compute_page_hashes()
    return _format_policy(
        ((style, *styles), (script, *scripts)), "connect-src 'self'; form-action 'self'"
    )


def _format_policy(
    hashes: tuple[tuple[str, ...], tuple[str, ...]], more: str = "form-action 'none'"
) -> str:
    styles, scripts = (" ".join(f"'{digest}'" for digest in some) for some in hashes)
    return (
        f"default-src 'none'; style-src {styles}; script-src {scripts}; img-src data:; {more};"
        " base-uri 'none'; frame-ancestors 'none'"
    )


NOTHING_ALLOWED: Final = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_ALWAYS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with none a form would not say whose page it is on
    "cache-control": "no-store",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_DRAINED_SECONDS: Final = 2.0
_DRAINED_BYTES: Final = 32 << 20
_MIB: Final = 2**20
_LONGEST: Final = 300
_LITERAL: Final = "/:@!$&'()*+,;=[]"
"""Characters of a path that are logged as they are; others are percent-encoded, lest a path forge
a field, a line or a terminal's command."""
_HOST: Final = compile_lazily(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?\Z")


class RequestGuard:
    """Stands before the routes."""

    def __init__(self, app: ASGIApp, service: ServiceState) -> None:
        """Take what it stands before."""
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        body, answer = _Body(receive, self._service), _Answer(send)
        refused: Refusal | None = None
        try:
            self._check(scope)
            body.require_small(scope)
            await self._app(scope, body.receive, answer.send)
        except ClientGone:
            answer.status = 499
        except Exception as error:  # noqa: BLE001 -- a request that fails ends no service
            _note_failure(error)
            limits = self._service.settings.limits
            refused = convert_to_refusal(error, self._service.places.patience, limits.seconds)
        if refused is not None and not answer.status:
            await body.drain()
            await JSONResponse(
                build_error_body(refused, select_language(scope)), refused.status, refused.headers
            )(scope, receive, answer.send)
        _note_request(scope, answer)

    def _check(self, scope: Scope) -> None:
        """Refuse a request by its head.

        Raises:
            Refusal: the service ends, it is called otherwise, another site's page sends this, or
                its body has two ends.
        """
        if self._service.is_ending:
            raise build_shutdown_refusal()
        limits = self._service.settings.limits
        if (
            sum(len(name) + len(value) for name, value in scope["headers"])
            > limits.header_kib * 1024
        ):
            raise build_header_size_refusal()
        headers = Headers(scope=scope)
        if "transfer-encoding" in headers and (
            "content-length" in headers or scope["http_version"] == "1.0"
        ):  # a proxy in front may see another request in it
            raise two_lengths()
        named = headers.getlist("host")
        found = _HOST.match(named[0]) if len(named) == 1 else None
        hosts = self._service.settings.hosts
        if found is None or ("*" not in hosts and found[1].lower() not in hosts):
            raise build_host_refusal()
        if scope["method"] not in _SAFE:
            _require_same_site(headers, named[0])


def _require_same_site(headers: Headers, host: str) -> None:
    """Refuse what a page of another site makes a browser send; other programs say neither.

    Raises:
        Refusal: it does.
    """
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        raise build_cross_site_refusal("Origin")
    if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
        raise build_cross_site_refusal("Sec-Fetch-Site")


class _Body:
    """The body of a request, counted and timed as it arrives."""

    def __init__(self, receive: Receive, service: ServiceState) -> None:
        limits = service.settings.limits
        self._receive, self._most = receive, int(limits.body_mib * _MIB)
        self._seconds = limits.body_seconds
        self._until = time.monotonic() + limits.body_seconds
        self._count = 0
        self._is_whole = False

    def require_small(self, scope: Scope) -> None:
        """Refuse a body that claims to be too large; what is claimed to be small is counted.

        Raises:
            Refusal: it is.
        """
        headers = Headers(scope=scope)
        claimed = headers.get("content-length", "0")
        if claimed.isdecimal() and int(claimed[:20]) > self._most:
            self._is_whole = "expect" in headers  # nothing is sent before it is asked for
            raise build_body_size_refusal(self._most)

    async def receive(self) -> Message:
        """Give the next piece.

        Raises:
            Refusal: it is too much, or not there in time.
        """
        if self._is_whole:  # what follows is the end of the connection, which may take its time
            return await self._receive()
        message = await self._next(self._until - time.monotonic())
        if self._count > self._most:
            raise build_body_size_refusal(self._most)
        return message

    async def _next(self, seconds: float) -> Message:
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, seconds))
        except (TimeoutError, asyncio.TimeoutError) as error:
            raise build_body_timeout_refusal(self._seconds) from error
        self._count += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        return message

    async def drain(self) -> None:
        """Take what is still sent, up to a bound, and forget it."""
        until = time.monotonic() + _DRAINED_SECONDS
        most = self._count + _DRAINED_BYTES
        with suppress(Refusal):
            while not self._is_whole and self._count < most:
                await self._next(min(until, self._until) - time.monotonic())


class _Answer:
    """What is answered, with the headers that every answer has."""

    def __init__(self, send: Send) -> None:
        self._send, self._began = send, time.monotonic()
        self.status = self.size = 0

    async def send(self, message: Message) -> None:
        """Send a part of it."""
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            headers = MutableHeaders(scope=message)
            for name, value in _ALWAYS.items():
                headers[name] = value
            headers.setdefault("content-security-policy", NOTHING_ALLOWED)
        self.size += len(message.get("body", b""))
        await self._send(message)

    @property
    def seconds(self) -> float:
        """Give how long it took."""
        return time.monotonic() - self._began


def select_language(scope: Any) -> str:
    """Choose the language of an answer: as the address says, else as the browser prefers."""
    match = re.search(rb"(?:^|&)lang=([a-z]{2})(?:&|$)", scope.get("query_string", b""))
    if match and match[1].decode() in LANGUAGES:
        return match[1].decode()
    preferred = Headers(scope=scope).get("accept-language", "").strip().lower()
    return next(
        (language for language in LANGUAGES if preferred.startswith(language)), LANGUAGES[0]
    )


def _note_request(scope: Mapping[str, Any], answer: _Answer) -> None:
    """Write a log line for the request, without its query, which may be private.

    Health checks, which come every few seconds, are logged only if they fail.
    """
    if scope["path"] == "/health" and answer.status == 200:
        return
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    client = quote(get_client_address(scope), _LITERAL)
    path = quote(str(scope["path"]), _LITERAL, errors="replace")[:_LONGEST]
    note(
        f"{when} {client} {scope['method']} {path} {answer.status}"
        f" {answer.size}B {answer.seconds:.3f}s"
    )


def _note_failure(error: Exception) -> None:
    """Tell of an error of this program: its kind and its places, never what a log says."""
    if isinstance(error, Refusal):
        return
    places, trace = [], error.__traceback__
    while trace is not None:
        places.append(f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}")
        trace = trace.tb_next
    note(f"internal error: {type(error).__name__} at {' < '.join(reversed(places[-4:]))}")


def note(text: str) -> None:
    """Write a line on standard error."""
    print(text, file=sys.stderr, flush=True)
