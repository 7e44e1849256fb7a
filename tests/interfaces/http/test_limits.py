"""What a service refuses, and that it goes on whatever a request meets.

A process is stopped in the middle of an analysis where a test needs work that is under way: then
nothing depends on how fast this machine is.
"""

import gzip
import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.interfaces.http.conftest import CAUSE, LOG, PATIENCE, Serve, Served

TEXT = LOG.read_bytes()
MIB = 1 << 20
LONG = gzip.compress(
    b"".join(b"{'loss': %d.5, 'step': %d}\n" % (n % 7, n % 99) for n in range(400_000))
)
"""A log that takes a while."""


def asked(service: Served, content: Any = TEXT, **given: Any) -> httpx.Response:
    """What the service answers."""
    return httpx.post(f"{service.url}/api/analyze", content=content, timeout=PATIENCE, **given)


def raw(service: Served, *pieces: bytes) -> bytes:
    """All that comes back on a connection of its own."""
    with closing(socket.create_connection(service.address, PATIENCE)) as connection:
        for piece in pieces:
            connection.sendall(piece)
        answer = b""
        while data := connection.recv(65536):
            answer += data
        return answer


def head(service: Served, *lines: str, target: str = "POST /api/analyze") -> bytes:
    """The head of a request that closes its connection."""
    host, port = service.address
    first = (f"{target} HTTP/1.1", f"Host: {host}:{port}", "Connection: close")
    return "\r\n".join((*first, *lines, "", "")).encode()


@pytest.fixture(scope="module")
def narrow(serve: Serve) -> Served:
    """One process, two that wait, little room and little time."""
    limits = {"workers": 1, "waiting": 2, "body_mib": 1, "body_seconds": 1, "header_seconds": 1}
    return serve(limits=limits, rate={"per_minute": 60_000, "burst": 1000})


@dataclass
class Held:
    """Requests whose processes stand still in the middle of them."""

    answers: "list[Future[httpx.Response]]"
    pids: list[int]

    def go_on(self) -> None:
        """Let the processes go on that are still there."""
        for pid in self.pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@contextmanager
def held(service: Served, clients: ThreadPoolExecutor, count: int = 1) -> Iterator[Held]:
    """Have so many requests worked on, and stop each in the middle."""
    answers = begun(clients, service, count, LONG)
    found = Held(answers, service.stop_at_work(count))
    try:
        yield found
    finally:
        found.go_on()


@pytest.fixture
def clients() -> Iterator[ThreadPoolExecutor]:
    """Clients that ask at the same time."""
    with ThreadPoolExecutor(16) as pool:
        yield pool


def begun(
    clients: ThreadPoolExecutor, service: Served, count: int, content: bytes = TEXT
) -> "list[Future[httpx.Response]]":
    """Requests that are under way, each with a log of its own name."""
    before = service.health()["under_way"]
    names = [f"run-{n}" for n in range(before, before + count)]
    found = [clients.submit(asked, service, content, params={"name": one}) for one in names]
    service.wait_for(lambda health: health["under_way"] == before + count)
    return found


def test_a_body_that_claims_to_be_huge_is_refused_at_once(narrow: Served) -> None:
    """Ten gigabytes, of which nothing is sent."""
    answer = raw(narrow, head(narrow, f"Content-Length: {10 << 30}"))
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"limits.body_mib" in answer


def test_a_body_is_counted_whatever_it_claims(narrow: Served) -> None:
    """One in pieces claims nothing."""

    def pieces() -> Iterator[bytes]:
        for _ in range(3):
            yield bytes(MIB // 2)

    answer = asked(narrow, pieces())
    assert answer.status_code == 413
    assert asked(narrow, bytes(MIB)).status_code != 413
    assert asked(narrow, bytes(MIB + 1)).status_code == 413


SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: %s\r\n\r\n"


@pytest.mark.parametrize(
    ("version", "lines"),
    [
        ("1.1", ["Content-Length: 5", "Transfer-Encoding: chunked"]),
        ("1.1", ["Transfer-Encoding: chunked", "Content-Length: 500"]),
        ("1.1", ["Transfer-Encoding: Chunked", "Content-Length: 0"]),
        ("1.0", ["Transfer-Encoding: chunked"]),
    ],
)
def test_a_body_with_two_ends_closes_the_connection(
    narrow: Served, version: str, lines: list[str]
) -> None:
    """What follows may be a request to one server and a body to another: it is not answered."""
    host = "{}:{}".format(*narrow.address)
    first = (f"POST /api/analyze HTTP/{version}", f"Host: {host}", "Connection: keep-alive")
    text = "\r\n".join((*first, *lines, "", "0", "", "")).encode()
    answer = raw(narrow, text + SMUGGLED % host.encode())
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in answer.lower()
    assert "/smuggled" not in narrow.told()


@pytest.mark.parametrize(
    ("path", "logged"),
    [
        ("/a%0d%0aforged", "/a%0D%0Aforged"),
        ("/a%20200%205B", "/a%20200%205B"),
        ("/%1b%5b31mred", "/%1B[31mred"),
        ("/%e2%80%a8%c2%85%9b", "/%E2%80%A8%C2%85%EF%BF%BD"),
        ("/%2500%22", "/%2500%22"),
    ],
)
def test_a_path_is_one_quoted_word_of_the_log(narrow: Served, path: str, logged: str) -> None:
    """It forges neither a line nor a field, and gives a terminal no command."""
    assert raw(narrow, head(narrow, target=f"GET {path}")).startswith(b"HTTP/1.1 404 ")
    narrow.health()
    (line,) = [line for line in narrow.told().split("\n") if f" {logged} " in line]
    assert line.isascii()
    assert line.isprintable()
    assert len(line.split(" ")) == 7


def test_a_form_is_counted_as_well(narrow: Served) -> None:
    """The whole of it."""
    files = [("log", (str(n), bytes(MIB // 2))) for n in range(3)]
    answer = httpx.post(f"{narrow.url}/api/analyze", files=files, timeout=PATIENCE)
    assert answer.status_code == 413


def test_a_body_that_does_not_arrive_is_given_up(narrow: Served) -> None:
    """What it had is not judged."""
    answer = raw(narrow, head(narrow, "Content-Length: 1000"), b"the beginning")
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert narrow.health()["under_way"] == 0


def test_a_head_that_does_not_arrive_is_given_up(narrow: Served) -> None:
    """The connection is closed, the first time and behind a request."""
    assert raw(narrow, b"POST /api/analyze HTTP/1.1\r\nHost: ") == b""
    whole = head(narrow, target="GET /health").replace(b"Connection: close\r\n", b"")
    assert raw(narrow, whole, b"GET /hea").startswith(b"HTTP/1.1 200 ")


def test_a_head_that_is_too_large_is_refused(narrow: Served) -> None:
    """Whether it comes in one piece or not."""
    whole = head(narrow, f"X: {'a' * 20_000}", target="GET /health")
    assert raw(narrow, whole).startswith(b"HTTP/1.1 431 ")
    assert raw(narrow, whole[:18_000]).startswith(b"HTTP/1.1 400 ")


def test_who_finds_no_place_is_told_when_to_come_again(
    narrow: Served, clients: ThreadPoolExecutor
) -> None:
    """Those who found one are answered, each with its own report."""
    with held(narrow, clients) as first:
        waiting = begun(clients, narrow, 2)
        refused = asked(narrow)
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["Retry-After"]) <= 3600
        assert narrow.health()["status"] == "ok"
    answers = [one.result() for one in (*first.answers, *waiting)]
    assert [one.status_code for one in answers] == [200] * 3
    names = [one.json()["sources"][0]["path"] for one in answers]
    assert names == ["run-0", "run-1", "run-2"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_process_that_crashes_costs_its_own_request(
    narrow: Served, clients: ThreadPoolExecutor, number: int
) -> None:
    """In the middle of an analysis; what waits behind it is done."""
    with held(narrow, clients) as lost:
        (waiting,) = begun(clients, narrow, 1)
        for pid in lost.pids:
            os.kill(pid, number)
    answer = lost.answers[0].result()
    assert (answer.status_code, answer.json()["error"]["where"]) == (500, "limits.memory_mib")
    assert waiting.result().json()["verdict"]["cause"] == CAUSE


def test_a_client_that_goes_away_frees_its_process(narrow: Served) -> None:
    """There is one process: what follows is done only because the other is gone."""
    with closing(socket.create_connection(narrow.address)) as connection:
        connection.sendall(head(narrow, f"Content-Length: {len(LONG)}") + LONG)
        stopped = narrow.stop_at_work(1)
    narrow.wait_for(lambda health: health["under_way"] == 0)
    assert asked(narrow).json()["verdict"]["cause"] == CAUSE
    assert set(narrow.workers()).isdisjoint(stopped)
    assert " 499 " in narrow.told()


def test_an_analysis_that_takes_too_long_is_ended(
    serve: Serve, clients: ThreadPoolExecutor
) -> None:
    """And the next one is done."""
    served = serve(limits={"workers": 1, "seconds": 8})
    with held(served, clients) as late:
        answer = late.answers[0].result()
    assert (answer.status_code, answer.json()["error"]["where"]) == (504, "limits.seconds")
    assert asked(served).json()["verdict"]["cause"] == CAUSE


def test_an_analysis_that_wants_too_much_memory_is_refused(serve: Serve) -> None:
    """A process that has loaded the rules cannot hold another log of that size."""
    served = serve(limits={"workers": 1, "memory_mib": 110})
    answer = asked(served, b"\0" * (60 * MIB))
    assert answer.status_code in {413, 500}, answer.text
    assert answer.json()["error"]["where"] == "limits.memory_mib"
    assert served.health()["status"] == "ok"


def from_address(service: Served, address: str) -> httpx.Response:
    """Ask from an address of this machine."""
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(transport=transport, timeout=PATIENCE) as client:
        return client.post(f"{service.url}/api/analyze", content=TEXT)


def test_a_client_that_asks_too_often_is_refused_alone(serve: Serve) -> None:
    """Another is not; who claims to be another is not believed."""
    served = serve(rate={"per_minute": 0.1, "burst": 2}, limits={"workers": 1})
    assert [asked(served).status_code for _ in range(3)] == [200, 200, 429]
    refused = asked(served, headers={"X-Forwarded-For": "203.0.113.9"})
    assert refused.status_code == 429
    assert 300 < int(refused.headers["Retry-After"]) <= 600
    assert from_address(served, "127.0.0.2").status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1@evil.example", "10.0.0.1", ""]
)
def test_another_name_is_not_answered(service: Served, host: str) -> None:
    """A name that its owner has lead to this machine is none of ours."""
    answer = raw(
        service,
        f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode(),
    )
    assert answer.startswith(b"HTTP/1.1 421 ")


def test_its_own_names_are_answered(serve: Serve, service: Served) -> None:
    """Those of this machine, and those of the settings."""
    _, port = service.address
    for name in (f"localhost:{port}", f"LOCALHOST:{port}", "127.0.0.1", f"[::1]:{port}"):
        answer = httpx.get(f"{service.url}/health", headers={"Host": name})
        assert answer.status_code == 200, name


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Origin": "https://evil.example"}, id="another site"),
        pytest.param({"Origin": "null"}, id="a sandbox"),
        pytest.param({"Origin": "http://127.0.0.1:1"}, id="another port"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, id="as the browser says"),
        pytest.param({"Sec-Fetch-Site": "same-site"}, id="a neighbour"),
    ],
)
def test_a_page_of_another_site_cannot_post(service: Served, headers: dict[str, str]) -> None:
    """Its visitor's browser would send it from within the network."""
    answer = asked(service, headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_its_own_page_can_post(service: Served) -> None:
    """As its browser says."""
    headers = {"Origin": service.url, "Sec-Fetch-Site": "same-origin"}
    assert asked(service, headers=headers).status_code == 200


def test_every_answer_has_the_headers_that_protect(service: Served) -> None:
    """Errors too."""
    for path in ("/", "/health", "/nix", "/openapi.json"):
        headers = httpx.get(service.url + path, headers={"Accept": "text/html"}).headers
        assert headers["x-content-type-options"] == "nosniff", path
        assert headers["cache-control"] == "no-store", path
        assert headers["referrer-policy"] == "same-origin", path
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert "frame-ancestors 'none'" in headers["content-security-policy"], path
        assert "server" not in headers, path


def test_the_log_of_requests_says_nothing_of_them(service: Served) -> None:
    """Neither what was asked for, nor what was sent, nor who may ask."""
    needle = "needle-in-the-log-0123456789"
    headers = {"Authorization": f"Bearer {needle}"}
    params = {"name": needle}
    assert asked(service, f"{needle}\n".encode(), headers=headers, params=params).is_success
    hostile = httpx.get(f"{service.url}/a%0a%1b[31mb?{needle}")
    assert hostile.status_code == 404
    until = time.monotonic() + PATIENCE  # a line is written once the answer has gone
    while " GET /a%0A%1B[31mb 404 " not in (told := service.told()):
        assert time.monotonic() < until, told
    assert needle not in told
    assert "\x1b" not in told
    assert " POST /api/analyze 200 " in told


def test_what_is_under_way_is_finished_at_the_end(
    serve: Serve, clients: ThreadPoolExecutor
) -> None:
    """Nothing new is taken; the status is that of a service that was asked to end."""
    served = serve(limits={"workers": 1})
    with held(served, clients) as first:
        (waiting,) = begun(clients, served, 1)
        served.process.send_signal(signal.SIGTERM)
        while "ending" not in served.told():
            pass
    assert first.answers[0].result().status_code == 200
    assert waiting.result().json()["verdict"]["cause"] == CAUSE
    assert served.process.wait(PATIENCE) == 0


def test_what_is_not_done_in_time_is_refused_at_the_end(
    serve: Serve, clients: ThreadPoolExecutor
) -> None:
    """A process that hangs keeps no service alive."""
    served = serve(limits={"workers": 1, "shutdown_seconds": 1})
    with held(served, clients) as first:
        (waiting,) = begun(clients, served, 1)
        served.process.send_signal(signal.SIGTERM)
        answers = [one.result() for one in (*first.answers, waiting)]
        assert [one.status_code for one in answers] == [503, 503]
        assert served.process.wait(PATIENCE) == 0
