"""Send a warning to a command or a web address of the user's.

In: the warning as plain values. Out: what went wrong, or an empty string: a watch goes on in any
case. Not here: hiding secrets and writing JSON (`report.watch_events`).

The command gets no shell: what a log says is never part of a command line. The warning comes on its
standard input, and in variables. A web address is never a link-local one, and only the status of a
response is used, its body is never shown. The standard library's opener is used since it uses the
proxies configured on a cluster's machines; it has no limit for a request as a whole, so a thread
holds it, whose connection is cut when the time is over.
"""

import base64
import http.client
import os
import shlex
import socket
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from postmortem.core.errors import UsageError
from postmortem.core.host.machine import is_link_local

_EXAMPLE: Final = "for example --webhook https://hooks.example.org/training"


class Refused(Exception):  # noqa: N818 -- what became of the request
    """The address leads to a host that warnings are never posted to."""


class Address:
    """A web address; what may be secret in it is never shown."""

    def __init__(self, url: str, *, allows_link_local: bool = False) -> None:
        """Take an address apart.

        Raises:
            UsageError: another scheme, no host, or a link-local one; the address is not repeated,
                since it may be a secret.
        """
        try:
            parts = urllib.parse.urlsplit(url)
            is_web = (
                parts.scheme in {"http", "https"}
                and bool(parts.hostname)
                and parts.port != 0
                and url.isascii()
                and url.isprintable()
                and " " not in url
            )
        except ValueError:
            is_web = False
        if not is_web:
            raise UsageError("this is no web address", "--webhook", _EXAMPLE)
        self.host = parts.hostname or ""
        self.allows_link_local = allows_link_local
        self.headers = {"Content-Type": "application/json", "User-Agent": "postmortem-watch"}
        login, _, place = parts.netloc.rpartition("@")
        if login:
            user, _, password = login.partition(":")
            words = f"{urllib.parse.unquote(user)}:{urllib.parse.unquote(password)}"
            self.headers["Authorization"] = f"Basic {base64.b64encode(words.encode()).decode()}"
        self.url = urllib.parse.urlunsplit((parts.scheme, place, parts.path, parts.query, ""))
        if not allows_link_local and is_link_local(self.host):
            raise UsageError(
                "the webhook's address is link-local: such addresses belong to the machine's own"
                " surroundings, such as a cloud's metadata",
                self.host,
                "use --webhook-link-local if it is meant",
            )


class _Request:
    """One request, whose connection can be cut from outside."""

    def __init__(self, address: Address, seconds: float) -> None:
        self._address, self._seconds = address, seconds
        self._socket: socket.socket | None = None
        self._is_over = False
        self._lock = threading.Lock()

    def connected(self, place: tuple[str, int], *_: Any) -> socket.socket:
        """Connect to the first of a host's addresses that takes it; all are looked at before."""
        found = socket.getaddrinfo(*place, type=socket.SOCK_STREAM)
        if not self._address.allows_link_local and any(
            is_link_local(str(where[0])) for *_, where in found
        ):
            raise Refused(
                f"{self._address.host} leads to a link-local address; use --webhook-link-local if"
                " it is meant"
            )
        fault: OSError = OSError("it has no address")
        for family, kind, protocol, _name, where in found:
            one = socket.socket(family, kind, protocol)
            try:
                self._hold(one)
                one.settimeout(self._seconds)
                one.connect(where)
            except OSError as error:
                one.close()
                fault = error
            else:
                return one
        raise fault

    def _hold(self, connection: socket.socket) -> None:
        with self._lock:
            if self._is_over:
                raise TimeoutError("the time is over")
            self._release()
            self._socket = (
                connection.dup()
            )  # the connection's own object passes into the encrypted one

    def _release(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def end(self) -> None:
        """Cut it, wherever it is."""
        with self._lock:
            self._is_over = True
            if self._socket is not None:
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)
            self._release()


def _build_handlers(connected: Callable[..., socket.socket]) -> list[urllib.request.BaseHandler]:
    """Give what opens both kinds of address through a function of ours."""

    class _Plain(http.client.HTTPConnection):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._create_connection = connected

    class _Secure(http.client.HTTPSConnection):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._create_connection = connected

    class _PlainHandler(urllib.request.HTTPHandler):
        def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(_Plain, request)

    class _SecureHandler(urllib.request.HTTPSHandler):
        def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(_Secure, request)

    return [_PlainHandler(), _SecureHandler(), _NoRedirect()]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: a redirected POST would become a GET without the warning."""

    def redirect_request(self, *_: object) -> None:
        """Follow nothing."""


def send_request(address: Address, text: str, seconds: float) -> int:
    """Post a text as JSON; gives the status that was answered.

    Raises:
        TimeoutError: the request as a whole took longer.
        Refused: the host's name leads to a link-local address.
        OSError, http.client.HTTPException, ValueError: it could not be posted.
    """
    request = _Request(address, seconds)
    outcome: list[int | BaseException] = []
    worker = threading.Thread(
        target=lambda: outcome.append(_fetch_status(request, address, text, seconds)), daemon=True
    )
    worker.start()
    worker.join(seconds)
    found = outcome[0] if outcome else TimeoutError()  # before it is cut: that is an outcome too
    request.end()
    if isinstance(found, BaseException):
        raise found
    return found


def _fetch_status(
    request: _Request, address: Address, text: str, seconds: float
) -> int | BaseException:
    """Give the status, or what went wrong, so that the thread that waits can raise it."""
    opener = urllib.request.build_opener(*_build_handlers(request.connected))
    http_request = urllib.request.Request(address.url, data=text.encode(), headers=address.headers)  # noqa: S310 -- `Address` allows http and https alone
    try:
        with opener.open(http_request, timeout=seconds) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
    except Exception as error:  # noqa: BLE001 -- raised again where somebody waits
        return error


_COMMAND_SECONDS: Final = 60.0
_WEB_SECONDS: Final = 10.0
"""For a request as a whole, from finding the host to its status."""
_PAUSES: Final = (1.0, 4.0)
"""Seconds before a web address is tried again."""


def split_command_line(text: str) -> list[str]:
    """Split a command as a shell would, without being one.

    Raises:
        UsageError: an open quote, or nothing at all.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"the command cannot be read: {error}", text, "close the quotes"
        ) from error
    if not words:
        raise UsageError("the command is empty", "", "for example --exec 'scancel 4711'")
    return words


def run(words: list[str], text: str, variables: Mapping[str, str]) -> str:
    """Run the user's command; its output goes to standard error."""
    try:
        done = subprocess.run(
            words,
            input=text.encode(),
            env={**os.environ, **variables},
            stdout=sys.stderr.fileno(),
            timeout=_COMMAND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{words[0]} was stopped after {_COMMAND_SECONDS:.0f} s"
    except OSError as error:
        return f"{words[0]} cannot be run: {error.strerror or error}"
    return f"{words[0]} ended with status {done.returncode}" if done.returncode else ""


def post(
    address: Address, text: str, sleep: Callable[[float], object], seconds: float = _WEB_SECONDS
) -> str:
    """Send the warning to a web address, three times at most; gives what went wrong at last.

    Nothing of the address is named but its host, and nothing that a server says.
    """
    problem = ""
    for pause in (*_PAUSES, None):
        try:
            status = send_request(address, text, seconds)
        except Refused as error:
            return str(error)
        except (OSError, http.client.HTTPException, ValueError) as error:
            problem = f"{address.host} cannot be reached: {_describe_error(error, seconds)}"
        else:
            if status < 300:
                return ""
            problem = f"{address.host} answered {status}"
            if status < 400:
                return (
                    f"{problem}: redirections are not followed; name the address that it leads to"
                )
            if status < 500 and status != 429:  # it will not change its mind
                return problem
        if pause is not None:
            sleep(pause)
    return problem


def _describe_error(error: Exception, seconds: float) -> str:
    """Say what went wrong in words of this machine: an error of the protocol quotes the server."""
    inner = getattr(error, "reason", error)
    if isinstance(inner, TimeoutError):
        return f"no answer within {seconds:g} s"
    if isinstance(inner, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {inner.verify_message}"
    if isinstance(inner, http.client.RemoteDisconnected):
        return "it closes the connection without an answer"
    if isinstance(inner, (http.client.HTTPException, ValueError)):
        return "what it answers is no HTTP"
    return getattr(inner, "strerror", None) or "the connection failed"
