"""A command and a web address are told; whatever goes wrong with it, the watch goes on."""

import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from postmortem.core.errors import UsageError
from postmortem.interfaces.watch import alerts
from postmortem.interfaces.watch.alerts import Address


class Hook(HTTPServer):
    """A web address that answers as it was told to."""

    def __init__(self) -> None:
        """Listen on a free port of this machine."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[int] = []
        self.bodies: list[bytes] = []
        self.logins: list[str | None] = []

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}/secret-token"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Hook = self.server  # type: ignore[assignment]
        server.logins.append(self.headers["Authorization"])
        server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        code = server.answers.pop(0) if server.answers else 200
        self.send_response(code)
        if code == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reach this machine directly."""
    monkeypatch.setenv("no_proxy", "*")


class Rude(threading.Thread):
    """A server that answers each connection with these bytes, and drips a last one for ever."""

    def __init__(self, answer: bytes, drip: bytes = b"") -> None:
        """Listen on a free port of this machine."""
        super().__init__(daemon=True)
        self._answer, self._drip = answer, drip
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = Address(f"http://127.0.0.1:{self._listening.getsockname()[1]}/")
        self.is_cut = threading.Event()
        self.start()

    def run(self) -> None:
        """Serve until the listening ends."""
        while True:
            try:
                one, _ = self._listening.accept()
            except OSError:
                return
            with one:
                try:
                    one.recv(65536)
                    one.sendall(self._answer)
                    while self._drip:
                        one.sendall(self._drip)
                        time.sleep(0.01)
                except OSError:  # whoever asked has gone
                    self.is_cut.set()

    def close(self) -> None:
        """Stop listening."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.join()


@pytest.fixture
def hook() -> Iterator[Hook]:
    """A running one."""
    server = Hook()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_warning_is_posted(hook: Hook) -> None:
    """As JSON."""
    assert alerts.post(Address(hook.url), '{"kind": "nan"}', lambda _: None) == ""
    assert [json.loads(body) for body in hook.bodies] == [{"kind": "nan"}]


@pytest.mark.parametrize(
    ("answers", "tries", "problem"),
    [
        pytest.param([503, 429], 3, "", id="it is well again at the third try"),
        pytest.param([500, 500, 500], 3, "answered 500", id="it stays ill"),
        pytest.param([404], 1, "answered 404", id="it will not change its mind"),
        pytest.param(
            [302],
            1,
            "answered 302: redirections are not followed",
            id="a redirection would lose the warning",
        ),
    ],
)
def test_trouble_at_the_other_end(hook: Hook, answers: list[int], tries: int, problem: str) -> None:
    """What is tried again, and what is said; the address, which may be a secret, is not."""
    hook.answers = answers
    pauses: list[float] = []
    said = alerts.post(Address(hook.url), "{}", pauses.append)
    assert problem in said
    assert bool(problem) == bool(said)
    assert "secret-token" not in said
    assert len(hook.bodies) == tries == len(pauses) + 1


def test_nobody_at_the_other_end() -> None:
    """It is said with the host."""
    server = Hook()
    server.server_close()
    assert "127.0.0.1 cannot be reached" in alerts.post(Address(server.url), "{}", lambda _: None)


@pytest.mark.parametrize(
    ("answer", "drip", "says"),
    [
        pytest.param(b"", b"H", "no answer within 0.5 s", id="a status that drips"),
        pytest.param(b"HTTP/1.1 ", b"2", "no answer within 0.5 s", id="a number that drips"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nX: ", b"x", "no answer within 0.5 s", id="a header that drips"
        ),
        pytest.param(
            b"",
            b"HTTP/1.1 100 Continue\r\n\r\n",
            "no answer within 0.5 s",
            id="it asks to wait, again and again",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
            b"x",
            "",
            id="a body that drips is not read",
        ),
    ],
)
def test_a_server_that_drips(answer: bytes, drip: bytes, says: str) -> None:
    """The request as a whole has a limit, and its connection is cut."""
    server = Rude(answer, drip)
    assert (
        (says in alerts.post(server.address, "{}", lambda _: None, 0.5))
        if says
        else alerts.post(server.address, "{}", lambda _: None, 60) == ""
    )
    assert server.is_cut.wait(60)
    server.close()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(
            b"\x1b]0;owned\x07\x1b[2J HELLO\r\n\r\n", id="no HTTP, but orders to the terminal"
        ),
        pytest.param(b"HTTP/1.1 abc \x1b[31mHELLO\r\n\r\n", id="no number"),
        pytest.param(b"HTTP/1.1 500 \x1b[31mHELLO\r\n\r\n", id="a reason that steers the terminal"),
        pytest.param(
            b"HTTP/1.1 302 HELLO\r\nLocation: http://HELLO/\x1b[2J\r\n\r\n", id="a place to go"
        ),
        pytest.param(b"HTTP/1.1 200 " + b"HELLO" * 20000 + b"\r\n\r\n", id="a very long line"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\n" + b"HELLO: x\r\n" * 200 + b"\r\n", id="very many headers"
        ),
        pytest.param(b"", id="nothing"),
    ],
)
def test_nothing_that_a_server_says_is_shown(answer: bytes) -> None:
    """What went wrong is said in words of our own."""
    server = Rude(answer)
    said = alerts.post(server.address, "{}", lambda _: None)
    server.close()
    assert said.startswith("127.0.0.1 ")
    assert "HELLO" not in said
    assert said.isprintable()
    assert len(said) < 200


@pytest.mark.parametrize(
    ("login", "header"),
    [
        pytest.param("user:p%40ss@", "Basic dXNlcjpwQHNz", id="name and password"),
        pytest.param("token@", "Basic dG9rZW46", id="a name alone"),
        pytest.param("", None, id="none"),
    ],
)
def test_credentials_in_the_address(hook: Hook, login: str, header: str | None) -> None:
    """They are sent as such, and never shown."""
    hook.answers = [404]
    said = alerts.post(Address(hook.url.replace("//", f"//{login}")), "{}", lambda _: None)
    assert hook.logins == [header]
    assert said == "127.0.0.1 answered 404"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/p%40ss",
        "ftp://p%40ss@example.org/",
        "example.org/p%40ss",
        "https://",
        "http://[p%40ss",
        "http://a b/",
        "http://p%40ss@host:99999/",
        "http://u:p%40ss@/",
        "http://h\x1b/p%40ss",
    ],
)
def test_only_a_web_address_is_one(url: str) -> None:
    """Anything else is refused before the watch begins.

    It is not repeated, since it may hold a secret.
    """
    with pytest.raises(UsageError) as refused:
        Address(url)
    assert "p%40ss" not in str(refused.value)


LINK_LOCAL = [
    "169.254.169.254",
    "169.254.0.1",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::]",
]


@pytest.mark.parametrize("host", LINK_LOCAL)
def test_a_link_local_address_is_refused(host: str) -> None:
    """Before anything is sent; it is allowed where it is meant."""
    with pytest.raises(UsageError, match="--webhook-link-local"):
        Address(f"http://{host}/latest")
    assert Address(f"http://{host}/latest", allows_link_local=True).url == f"http://{host}/latest"


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(["169.254.169.254"], id="a name, or a number in another notation"),
        pytest.param(["127.0.0.1", "169.254.169.254"], id="one of several"),
        pytest.param(["fe80::1%eth0"], id="IPv6"),
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_name_that_leads_to_a_link_local_address(
    monkeypatch: pytest.MonkeyPatch, scheme: str, found: list[str]
) -> None:
    """Nothing is connected to, nothing is tried again."""

    def resolved(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [
            (
                socket.AF_INET6 if ":" in one else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (one, 80),
            )
            for one in found
        ]

    def connected(*_: object) -> None:
        pytest.fail("a connection was made")

    monkeypatch.setattr(alerts.socket, "getaddrinfo", resolved)
    monkeypatch.setattr(alerts.socket, "socket", connected)
    said = alerts.post(
        Address(f"{scheme}://2852039166/"), "{}", lambda _: pytest.fail("tried again")
    )
    assert "link-local" in said


def test_a_name_that_is_allowed_to_lead_anywhere(
    hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The option switches the look at what is found off."""
    monkeypatch.setattr(alerts, "is_link_local", lambda _: True)
    assert alerts.post(Address(hook.url, allows_link_local=True), "{}", lambda _: None) == ""


def test_a_command_gets_the_warning(tmp_path: Path) -> None:
    """On its standard input and in variables; nothing in them is run by a shell."""
    out = tmp_path / "told"
    script = "import os, sys, pathlib; pathlib.Path(sys.argv[1]).write_text(sys.stdin.read() + '|' + os.environ['POSTMORTEM_TEXT'])"
    words = [sys.executable, "-c", script, str(out)]
    assert (
        alerts.run(words, '{"kind":"nan"}', {"POSTMORTEM_TEXT": "loss nan; $(touch gone) `id`"})
        == ""
    )
    assert out.read_text() == '{"kind":"nan"}|loss nan; $(touch gone) `id`'


def test_a_command_that_fails_is_said() -> None:
    """Its status, or that it is not there."""
    assert "status 3" in alerts.run([sys.executable, "-c", "raise SystemExit(3)"], "{}", {})
    assert "cannot be run" in alerts.run(["/nowhere/at-all"], "{}", {})


def test_a_command_line_is_split_as_a_shell_would() -> None:
    """Without being one; an open quote or nothing is refused."""
    assert alerts.split_command_line("scancel --signal=INT '47 11'") == [
        "scancel",
        "--signal=INT",
        "47 11",
    ]
    for text in ("echo 'open", "  "):
        with pytest.raises(UsageError):
            alerts.split_command_line(text)
