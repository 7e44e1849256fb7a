"""What GitHub's answers mean, and what its settings and deliveries may be."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from postmortem.core.errors import MissingExtra, UsageError
from postmortem.interfaces.trackers.tracker_kinds import create_tracker
from postmortem.interfaces.trackers.tracker_protocol import (
    FAILED_RUN,
    ISSUE,
    OTHER,
    PING,
    IssuePlace,
    NotThere,
    Tracker,
    TrackerError,
    TryLater,
)
from tests.interfaces.bots.deliveries import REPOSITORY, SECRET, opened, run_failed, signed
from tests.interfaces.bots.standin_github import PROJECT, TOKEN, StandIn, serving


@pytest.fixture
def standin() -> Iterator[StandIn]:
    """A GitHub of one's own."""
    with serving() as standin:
        yield standin


@pytest.fixture
def tracker(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> Tracker:
    """The real client of it."""
    monkeypatch.setenv("BOT_SECRET", SECRET)
    monkeypatch.setenv("BOT_TOKEN", TOKEN)
    settings = {"secret": "env:BOT_SECRET", "token": "env:BOT_TOKEN", "api_url": standin.url}
    return create_tracker("github", {**settings, "projects": [PROJECT]})


@pytest.mark.parametrize(
    ("status", "headers", "message", "kind", "seconds"),
    [
        (404, {}, "Not Found", NotThere, None),
        (410, {}, "This issue was deleted", NotThere, None),
        (401, {}, "Bad credentials", TrackerError, None),
        (403, {}, "Resource not accessible by integration", TrackerError, None),
        (403, {}, "You have exceeded a secondary rate limit", TryLater, 60.0),
        (403, {"Retry-After": "17"}, "wait", TryLater, 17.0),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}, "limit", TryLater, 1.0),
        (429, {"Retry-After": "9"}, "wait", TryLater, 9.0),
        (429, {}, "wait", TryLater, None),
        (422, {}, "Validation Failed", TrackerError, None),
        (500, {}, "oops", TryLater, None),
        (503, {"Retry-After": "30"}, "oops", TryLater, 30.0),
        (0, {}, "", TryLater, None),
        (301, {"Location": "https://api.github.com/repositories/1"}, "Moved", TrackerError, None),
    ],
)
def test_an_answer_means_what_to_do(
    tracker: Tracker,
    standin: StandIn,
    status: int,
    headers: dict[str, str],
    message: str,
    kind: type[TrackerError],
    seconds: float | None,
) -> None:
    """Once: nothing is asked a second time."""
    number = standin.open_issue("")
    standin.fail("GET", r"/issues/\d+$", times=9, status=status, headers=headers, message=message)
    with pytest.raises(TrackerError) as raised:
        tracker.thread(IssuePlace(PROJECT, ISSUE, number))
    assert issubclass(type(raised.value), kind)
    assert isinstance(raised.value, TryLater) is (kind is TryLater)
    assert getattr(raised.value, "seconds", None) == seconds
    assert standin.count("GET", r"/issues/\d+$") == 1
    assert TOKEN not in repr(raised.value) + str(raised.value)


@pytest.mark.parametrize("said", [b"<html>a proxy's page</html>", b"[]", b'{"number": "x"}', b""])
def test_an_answer_that_is_none_is_told(tracker: Tracker, standin: StandIn, said: bytes) -> None:
    """As a page of something between."""
    standin.files[f"/repos/{PROJECT}/issues/1"] = (200, {}, said)
    with pytest.raises(TrackerError, match=r"no JSON|cannot be read"):
        tracker.thread(IssuePlace(PROJECT, ISSUE, 1))


def test_a_post_is_never_sent_twice(tracker: Tracker, standin: StandIn) -> None:
    """Whatever the answer is."""
    number = standin.open_issue("")
    for status in (500, 502, 429, 403, 0):
        standin.fail("POST", "/comments$", status=status, headers={"Retry-After": "0"})
        with pytest.raises(TryLater):
            tracker.post(IssuePlace(PROJECT, ISSUE, number), "text")
    assert standin.count("POST", "/comments$") == 5
    assert standin.own(number) == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "either token, or app_id"),
        ({"token": "env:BOT_TOKEN", "app_id": 1}, "either token, or app_id"),
        ({"app_id": 1}, "belong together"),
        ({"token": TOKEN}, "token: .*env:NAME"),
        ({"token": "env:NO_SUCH_VARIABLE"}, "the token is empty"),
        ({"token": "file:/no/such/file"}, "the token cannot be read"),
        ({"token": "env:BOT_TOKEN", "api_url": "http://git.example/api/v3"}, "only https"),
        ({"token": "env:BOT_TOKEN", "api_url": "https://a:b@git.example"}, "write https"),
        ({"token": "env:BOT_TOKEN", "tokn": "x"}, "tokn"),
        ({"token": "env:BOT_TOKEN", "seconds": 0}, "seconds"),
    ],
)
def test_wrong_settings_are_told(tracker: Tracker, settings: dict[str, Any], said: str) -> None:
    """Without what stands there."""
    with pytest.raises(UsageError, match=said) as raised:
        create_tracker("github", settings)
    assert TOKEN not in str(raised.value)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    import sys

    for name in [
        name for name in sys.modules if name.startswith("postmortem.interfaces.trackers.github")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "githubkit", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[bots\]'"):
        create_tracker("github", {"token": "env:X"})


def test_deliveries_are_read(tracker: Tracker, standin: StandIn) -> None:
    """What is asked for, and what is not; fields that nobody knows are passed over."""

    def kind(event: str, payload: Any) -> str:
        headers, body = signed(event, payload)
        return tracker.event({name.lower(): value for name, value in headers.items()}, body).kind

    number = standin.open_issue("text", labels=[{"name": "bug", "color": "f00"}], unknown=[1])
    run = {"id": 5, "head_sha": "a" * 40, "pull_requests": []}
    assert kind("ping", {"zen": "x"}) == PING
    assert kind("workflow_run", run_failed(run, "timed_out")) == FAILED_RUN
    assert kind("workflow_run", run_failed(run, "cancelled")) == OTHER
    assert kind("workflow_run", {**run_failed(run), "action": "requested"}) == OTHER
    assert kind("issues", opened(standin, number, "labeled")) == OTHER
    assert kind("push", {"ref": "refs/heads/main", "repository": REPOSITORY}) == OTHER
    issue = {**standin.issues[number], "user": None, "body": None}
    assert kind("issues", opened(standin, number, issue=issue, sender=None)) == "opened"
    for wrong in ([], {"repository": {"id": 1, "full_name": "../../x"}}, {"issue": {"number": []}}):
        with pytest.raises(TrackerError) as raised:
            kind("issues", wrong)
        assert "../.." not in str(raised.value)
    with pytest.raises(TrackerError):
        tracker.event({"x-github-event": "issues", "x-github-delivery": "d"}, b"\xff" * 10)
    with pytest.raises(TrackerError):
        tracker.event(
            {"x-github-event": "issues", "x-github-delivery": "d"}, json.dumps("a" * 10).encode()
        )
