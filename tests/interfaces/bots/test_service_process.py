"""Deliveries to the real service, which may be killed at any moment."""

import select
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.interfaces.bots.deliveries import MISSING, OOM, fenced, opened, signed
from tests.interfaces.bots.service_process import ServiceProcess, served, until
from tests.interfaces.bots.standin_github import TOKEN, StandIn, serving
from tests.interfaces.bots.test_answers import is_oom

SMALL = {"labels": {"memory": "memory"}}


@pytest.fixture(scope="module")
def quiet() -> Iterator[StandIn]:
    """A GitHub for the tests that share a service."""
    with serving() as standin:
        yield standin


@pytest.fixture(scope="module")
def service(quiet: StandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service that is not killed."""
    with served(quiet, tmp_path_factory.mktemp("service")) as running:
        yield running


def test_what_is_not_signed_is_not_taken(service: ServiceProcess, quiet: StandIn) -> None:
    """No signature, a wrong one, that of another body, an older kind: 401, and nothing is kept."""
    payload = opened(quiet, quiet.open_issue(fenced(OOM)))
    good, body = signed("issues", payload)
    wrong = signed("issues", payload, secret="another")[0]["X-Hub-Signature-256"]  # noqa: S106
    own = good["X-Hub-Signature-256"]
    for signature in ("", wrong, own.upper(), own[:-1], "sha256=", own.replace("256", "1"), "é"):
        header = {"X_Hub_Signature_256": signature}
        assert service.send("issues", payload, **header) == 401, signature
    assert service.post("/hooks/github", body + b" ", good) == 401
    older = {**good, "X-Hub-Signature": own}
    del older["X-Hub-Signature-256"]
    assert service.post("/hooks/github", body, older) == 401
    assert service.rows() == []
    assert quiet.asked == []


def test_what_is_no_delivery_is_refused(service: ServiceProcess, quiet: StandIn) -> None:
    """Of another tracker, too large, not JSON, without an id: told so, and nothing is kept."""
    number = quiet.open_issue("")
    headers, body = signed("issues", opened(quiet, number))
    assert service.post("/hooks/nowhere", body, headers) == 404
    assert service.post("/hooks/github", b"x" * (26 << 20), headers) == 413
    assert service.send("issues", ["no", "object"]) == 400
    assert service.send("issues", {"action": "opened", "issue": {"number": "x"}}) == 400
    assert service.send("issues", opened(quiet, number), X_GitHub_Delivery="") == 400
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    assert service.send("issues", opened(quiet, number), **form) == 400
    assert service.rows() == []


def test_large_bodies_arrive_a_few_at_a_time(service: ServiceProcess, quiet: StandIn) -> None:
    """Whoever sends them: nobody is known before a body is whole. Small ones are still taken."""
    head = b"POST /hooks/github HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n"
    opened_ones = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(9)]
    try:
        for one in opened_ones:
            one.sendall(head + b"x" * 300_000)
        refused, _, _ = select.select(opened_ones, [], [], 60)
        assert [one.recv(12) for one in refused] == [b"HTTP/1.1 429"]
        assert service.send("ping", {"zen": "…"}) == 200
    finally:
        for one in opened_ones:
            one.close()
    until(lambda: service.post("/hooks/github", b"x" * 300_000, {}) == 401)
    assert service.rows() == []


def test_a_delivery_counts_once(service: ServiceProcess, quiet: StandIn) -> None:
    """However often, and at once."""
    number = quiet.open_issue(fenced(OOM))
    payload = opened(quiet, number)
    with ThreadPoolExecutor(8) as threads:
        statuses = list(
            threads.map(lambda _: service.send("issues", payload, "replayed"), range(16))
        )
    assert sorted(statuses) == [200] * 15 + [202]
    service.settled()
    assert service.send("issues", payload, "replayed") == 200
    assert [is_oom(text) for text in quiet.own(number)] == [True]


def test_simultaneous_deliveries_give_one_comment(service: ServiceProcess, quiet: StandIn) -> None:
    """Ten of one issue, at once."""
    number = quiet.open_issue(fenced(OOM))
    payload = opened(quiet, number, "edited")
    with ThreadPoolExecutor(10) as threads:
        statuses = list(threads.map(lambda _: service.send("issues", payload), range(10)))
    assert statuses == [202] * 10
    service.settled()
    assert [is_oom(text) for text in quiet.own(number)] == [True]
    assert quiet.count("POST", f"/issues/{number}/comments") == 1


def test_nothing_secret_is_said(service: ServiceProcess) -> None:
    """On standard error, or in the store."""
    said = "".join(service.said) + Path(service.store).read_bytes().decode("latin-1")
    assert TOKEN not in said
    assert "a secret of the webhook" not in said
    assert "CUDA out of memory" not in said


@pytest.mark.parametrize("kind", ["", pytest.param("server", marks=pytest.mark.postgres)])
def test_two_services_share_a_store(
    standin: StandIn, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    """Deliveries of twelve issues reach both of them, each twice: one comment each."""
    store = request.getfixturevalue("postgresql").new_schema() if kind else ""
    numbers = [standin.open_issue(fenced(OOM)) for _ in range(12)]
    with served(standin, tmp_path, store) as one, served(standin, tmp_path, store) as other:

        def deliver(number: int) -> list[int]:
            payload = opened(standin, number)
            return [to.send("issues", payload, f"d-{number}") for to in (one, other)]

        with ThreadPoolExecutor(6) as threads:
            statuses = list(threads.map(deliver, numbers))
        assert statuses == [[202, 200]] * 12
        assert one.settled() == ["done"] * 12
    assert [[is_oom(text) for text in standin.own(number)] for number in numbers] == [[True]] * 12


@pytest.mark.parametrize(
    ("method", "path", "how"),
    [
        pytest.param("GET", r"/issues/\d+$", {}, id="before reading"),
        pytest.param("GET", "/comments$", {"skip": 1}, id="before posting"),
        pytest.param("POST", "/comments$", {}, id="in the post, which is lost"),
        pytest.param("POST", "/comments$", {"is_done": True}, id="in the post, which is done"),
        pytest.param("GET", "/comments$", {"skip": 2}, id="behind the post"),
        pytest.param("POST", "/labels$", {"is_done": True}, id="in the label"),
    ],
)
def test_a_killed_service_leaves_one_comment(
    standin: StandIn, tmp_path: Path, method: str, path: str, how: dict[str, object]
) -> None:
    """Wherever it is killed: the next one goes on, and what stands there in the end is right."""
    number = standin.open_issue(fenced(OOM))
    fault = standin.fail(method, path, is_held=True, **how)
    with served(standin, tmp_path, **SMALL) as first:
        assert first.send("issues", opened(standin, number)) == 202
        assert fault.reached.wait(60)
        first.kill()
    fault.let_go.set()
    with served(standin, tmp_path, **SMALL) as second:
        assert second.settled() == ["done"]
        # The label is the bot's own, although it was killed in putting it on.
        standin.issues[number]["body"] = fenced(MISSING)
        second.send("issues", opened(standin, number, "edited"))
        assert second.settled() == ["done", "done"]
    (text,) = standin.own(number)
    assert "`environment.missing-package`" in text
    assert standin.labels(number) == []


@pytest.mark.parametrize("is_done", [False, True])
def test_a_service_killed_in_an_edit_leaves_it_to_the_next(
    standin: StandIn, tmp_path: Path, *, is_done: bool
) -> None:
    """Another service on the same store takes over while it runs."""
    number = standin.open_issue(fenced(MISSING))
    with served(standin, tmp_path) as first:
        first.send("issues", opened(standin, number))
        first.settled()
        fault = standin.fail("PATCH", "", is_held=True, is_done=is_done)
        standin.issues[number]["body"] = fenced(OOM)
        first.send("issues", opened(standin, number, "edited"))
        assert fault.reached.wait(60)
        with served(standin, tmp_path) as second:
            first.kill()
            fault.let_go.set()
            assert second.settled() == ["done", "done"]
    assert [is_oom(text) for text in standin.own(number)] == [True]


def test_a_service_ends_in_good_order(standin: StandIn, tmp_path: Path) -> None:
    """While a request of the bot hangs; the next service answers."""
    number = standin.open_issue(fenced(OOM))
    fault = standin.fail("GET", r"/issues/\d+$", is_held=True)
    with served(standin, tmp_path) as first:
        first.send("issues", opened(standin, number))
        assert fault.reached.wait(60)
        first.process.terminate()
        assert first.process.wait(60) == 0
    threading.Timer(0, fault.let_go.set).start()
    with served(standin, tmp_path) as second:
        assert second.settled() == ["done"]
    assert [is_oom(text) for text in standin.own(number)] == [True]
