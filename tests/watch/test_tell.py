"""A command and a web address are told; whatever goes wrong with it, the watch goes on."""

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from postmortem.errors import UsageError
from postmortem.watch import tell


class Hook(HTTPServer):
    """A web address that answers as it was told to."""

    def __init__(self) -> None:
        """Listen on a free port of this machine."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[int] = []
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}/secret-token"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Hook = self.server  # type: ignore[assignment]
        server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        code = server.answers.pop(0) if server.answers else 200
        self.send_response(code)
        if code == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


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
    assert tell.post(hook.url, '{"kind": "nan"}', lambda _: None) == ""
    assert [json.loads(body) for body in hook.bodies] == [{"kind": "nan"}]


@pytest.mark.parametrize(("answers", "tries", "problem"), [
    pytest.param([503, 429], 3, "", id="it is well again at the third try"),
    pytest.param([500, 500, 500], 3, "answered 500", id="it stays ill"),
    pytest.param([404], 1, "answered 404", id="it will not change its mind"),
    pytest.param([302], 1, "answered 302", id="a redirection would lose the warning"),
])
def test_trouble_at_the_other_end(hook: Hook, answers: list[int], tries: int, problem: str) -> None:
    """What is tried again, and what is said; the address, which may be a secret, is not."""
    hook.answers = answers
    pauses: list[float] = []
    said = tell.post(hook.url, "{}", pauses.append)
    assert problem in said
    assert bool(problem) == bool(said)
    assert "secret-token" not in said
    assert len(hook.bodies) == tries == len(pauses) + 1


def test_nobody_at_the_other_end() -> None:
    """It is said with the host."""
    server = Hook()
    server.server_close()
    assert "127.0.0.1 cannot be reached" in tell.post(server.url, "{}", lambda _: None)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/", "example.org/hook", "https://", "http://[", "http://a b/", "http://host:99999/"])
def test_only_a_web_address_is_one(url: str) -> None:
    """Anything else is refused before the watch begins."""
    with pytest.raises(UsageError):
        tell.checked_url(url)


def test_a_command_gets_the_warning(tmp_path: Path) -> None:
    """On its standard input and in variables; nothing in them is run by a shell."""
    out = tmp_path / "told"
    script = "import os, sys, pathlib; pathlib.Path(sys.argv[1]).write_text(sys.stdin.read() + '|' + os.environ['POSTMORTEM_TEXT'])"
    words = [sys.executable, "-c", script, str(out)]
    assert tell.run(words, '{"kind":"nan"}', {"POSTMORTEM_TEXT": "loss nan; $(touch gone) `id`"}) == ""
    assert out.read_text() == '{"kind":"nan"}|loss nan; $(touch gone) `id`'


def test_a_command_that_fails_is_said() -> None:
    """Its status, or that it is not there."""
    assert "status 3" in tell.run([sys.executable, "-c", "raise SystemExit(3)"], "{}", {})
    assert "cannot be run" in tell.run(["/nowhere/at-all"], "{}", {})


def test_a_command_line_is_split_as_a_shell_would() -> None:
    """Without being one; an open quote or nothing is refused."""
    assert tell.command_line("scancel --signal=INT '47 11'") == ["scancel", "--signal=INT", "47 11"]
    for text in ("echo 'open", "  "):
        with pytest.raises(UsageError):
            tell.command_line(text)
