"""A server on this machine that a test answers for, over real HTTP.

In: a function from a request to a reply. Out: its address, and the requests that came. Not here:
whose server it stands in for.
"""

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class RecordedRequest:
    """A request that came; names of headers are in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes = field(repr=False)

    def value(self) -> Any:
        """Give the body, read as JSON."""
        return json.loads(self.body)


@dataclass
class Reply:
    """What is answered."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, value: object, status: int = 200, **headers: str) -> "Reply":
        """Answer with JSON."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        kind = {"Content-Type": "application/json"}
        return cls(status, json.dumps(value).encode(), kind | named)


class LoopbackServer(ThreadingHTTPServer):
    """Hands each request to a function."""

    daemon_threads = True

    def __init__(self, answer: Callable[[RecordedRequest], Reply]) -> None:
        """Listen on a free port of this machine."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.asked: list[RecordedRequest] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a connection that the other side has cut."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Any
    protocol_version = "HTTP/1.1"

    def _served(self) -> None:
        parts = urlsplit(self.path)
        request = RecordedRequest(
            self.command,
            parts.path,
            dict(parse_qsl(parts.query, keep_blank_values=True)),
            {name.lower(): value for name, value in self.headers.items()},
            self.rfile.read(int(self.headers["Content-Length"] or 0)),
        )
        self.server.asked.append(request)
        reply = self.server.answer(request)
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _served  # noqa: N815 -- so it is called

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(answer: Callable[[RecordedRequest], Reply]) -> Iterator[LoopbackServer]:
    """Serve until the test is over."""
    with LoopbackServer(answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def free_port() -> int:
    """Give a port on which nobody listens; several tests run at once."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
