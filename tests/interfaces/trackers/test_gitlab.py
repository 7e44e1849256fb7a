"""GitLab: what arrives is checked and read, what is asked is answered over HTTP."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from postmortem.core.errors import UsageError
from postmortem.interfaces.trackers.bot_comment import mark_of, update_or_create_comment
from postmortem.interfaces.trackers.tracker_kinds import create_tracker
from postmortem.interfaces.trackers.tracker_protocol import (
    COMMENTED,
    FAILED_RUN,
    ISSUE,
    OPENED,
    OTHER,
    REQUEST,
    IssuePlace,
    NotThere,
    Tracker,
    TrackerError,
    TrackerUser,
    TryLater,
)
from tests.interfaces.trackers import gitlab_deliveries as sent
from tests.interfaces.trackers.gitlab_server import ADA, BOT, PROJECT, SECRET, TOKEN, Gitlab
from tests.loopback_http import LoopbackServer, Reply, serving

HERE = IssuePlace(PROJECT, ISSUE, 4)
THERE = IssuePlace(PROJECT, REQUEST, 5)
PROXIES = ("http_proxy", "https_proxy", "all_proxy")


@pytest.fixture
def gitlab() -> Gitlab:
    """The state of a server."""
    return Gitlab()


@pytest.fixture
def server(gitlab: Gitlab) -> Iterator[LoopbackServer]:
    """The server."""
    with serving(gitlab.answer) as found:
        yield found


@pytest.fixture
def tracker(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tracker]:
    """GitLab under the bot's identity."""
    for name in (*PROXIES, *map(str.upper, PROXIES)):
        monkeypatch.delenv(name, raising=False)
    found = opened(monkeypatch, server.url)
    yield found
    found.close()


def opened(
    monkeypatch: pytest.MonkeyPatch, url: str, names: tuple[str, ...] = ("secret", "signing")
) -> Tracker:
    """Open it with these secrets of the webhook."""
    values = {"token": TOKEN, "secret": sent.TOKEN, "signing": sent.SIGNING}
    for name, value in values.items():
        monkeypatch.setenv(f"LAB_{name.upper()}", value)
    named = {name: f"env:LAB_{name.upper()}" for name in ("token", *names)}
    return create_tracker("gitlab", {"api_url": url, "projects": [PROJECT], **named})


# What arrives.


def test_a_delivery_holds_token_and_signature(tracker: Tracker) -> None:
    """Either missing, wrong or old makes it foreign; so does a changed body."""
    bare, body = sent.delivery("Issue Hook", sent.issue())
    headers = sent.signed(bare, body)
    assert tracker.is_authentic(headers, body)
    assert not tracker.is_authentic(headers, body + b" ")
    assert not tracker.is_authentic(bare, body)
    assert not tracker.is_authentic({}, body)
    assert not tracker.is_authentic({**headers, "x-gitlab-token": "other"}, body)
    assert not tracker.is_authentic({**headers, "x-gitlab-token": "é\udcff"}, body)
    for minutes in (-6, 6):
        moment = datetime.now(timezone.utc) + timedelta(minutes=minutes)
        assert not tracker.is_authentic(sent.signed(bare, body, moment), body)


@pytest.mark.parametrize(
    "wrong",
    [
        {"webhook-signature": "v1"},
        {"webhook-signature": "v1,"},
        {"webhook-signature": "v1,%%%"},
        {"webhook-signature": "v2,abcd"},
        {"webhook-signature": "a,b,c"},
        {"webhook-signature": "v1,é"},
        {"webhook-timestamp": "nan"},
        {"webhook-timestamp": "1e999"},
        {"webhook-timestamp": "now"},
        {"webhook-id": ""},
    ],
)
def test_a_malformed_signature_is_none(tracker: Tracker, wrong: dict[str, str]) -> None:
    """It is no error either."""
    bare, body = sent.delivery("Issue Hook", sent.issue())
    assert not tracker.is_authentic({**sent.signed(bare, body), **wrong}, body)
    assert not tracker.is_authentic(sent.signed(bare, body), b"\xff\xfe")


def test_one_of_two_secrets_is_enough_where_one_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """None set is never enough."""
    headers, body = sent.delivery("Issue Hook", sent.issue())
    url = "https://gitlab.example.org"
    assert opened(monkeypatch, url, ("secret",)).is_authentic(headers, body)
    signing = opened(monkeypatch, url, ("signing",))
    assert not signing.is_authentic(headers, body)
    assert signing.is_authentic({**sent.signed(headers, body), "x-gitlab-token": ""}, body)
    assert not opened(monkeypatch, url, ()).is_authentic(sent.signed(headers, body), body)
    assert not opened(monkeypatch, url, ()).is_authentic({"x-gitlab-token": ""}, b"")


def read(tracker: Tracker, event: str, value: dict[str, Any]) -> Any:
    """Read a delivery."""
    return tracker.event(*sent.delivery(event, value))


def test_issues_and_notes_are_read(tracker: Tracker) -> None:
    """Where, by whom, and what."""
    event = read(tracker, "Issue Hook", sent.issue())
    assert (event.kind, event.place, event.author) == (OPENED, HERE, TrackerUser("3", "ada"))
    assert event.delivery == "f5e5f430-f57b-4e6e-9fac-d9128cd7232f"
    event = read(tracker, "Note Hook", sent.note())
    assert (event.kind, event.place) == (COMMENTED, IssuePlace(PROJECT, ISSUE, 17))
    assert (event.comment.identity, event.comment.text) == ("1241", "@postmortem analyze")
    assert event.comment.created == "2015-05-17T17:06:40.000+00:00"
    event = read(tracker, "Note Hook", sent.note("MergeRequest"))
    assert (event.kind, event.place) == (COMMENTED, IssuePlace(PROJECT, REQUEST, 17))


def test_runs_that_failed_are_read(tracker: Tracker) -> None:
    """A job and its pipeline are one run."""
    for event, value in (("Job Hook", sent.job()), ("Pipeline Hook", sent.pipeline())):
        found = read(tracker, event, value)
        assert (found.kind, found.run, found.place) == (FAILED_RUN, "2366", None)


NOTE = sent.note()["object_attributes"]
INNER = {"event_type": "confidential_note"}


@pytest.mark.parametrize(
    "value",
    [
        sent.issue(action="close"),
        sent.issue(action="update"),
        sent.issue(iid=-1),
        sent.note("Commit"),
        sent.note("Snippet"),
        sent.note(object_attributes=NOTE | {"system": True}),
        sent.note(**INNER),
        sent.job(build_status="success"),
        sent.job(build_allow_failure=True),
        sent.pipeline(status="running"),
        {"object_kind": "push", "project": sent.project()},
        {"object_kind": "issue"},
        {},
    ],
)
def test_the_rest_is_left_alone(tracker: Tracker, value: dict[str, Any]) -> None:
    """Among it notes that only members may read, under an issue that all may read."""
    assert read(tracker, "X Hook", value).kind == OTHER


def test_changed_words_are_opened_again(tracker: Tracker) -> None:
    """The description of an issue was edited."""
    value = sent.issue(action="update")
    value["changes"] = {"description": {"previous": "a", "current": "b"}}
    assert read(tracker, "Issue Hook", value).kind == OPENED


def test_a_confidential_issue_is_answered_within(tracker: Tracker) -> None:
    """Its notes are for the same people."""
    issue = {"id": 92, "iid": 17, "confidential": True}
    assert (
        read(tracker, "Confidential Note Hook", sent.note(issue=issue, **INNER)).kind == COMMENTED
    )


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"\xff", b'{"object_kind": 4}', b'{"project": {"path_with_namespace": "../x"}}'],
)
def test_what_is_no_delivery_is_refused(tracker: Tracker, body: bytes) -> None:
    """Without what stood there."""
    headers, _ = sent.delivery("Issue Hook", {})
    with pytest.raises(TrackerError, match="no delivery"):
        tracker.event(headers, body)
    with pytest.raises(TrackerError, match="no id"):
        tracker.event({}, b"{}")


# What is linked to.

OWN = f"/uploads/{SECRET}/run.log"


@pytest.mark.parametrize(
    "link",
    [
        f"[run.log]({OWN})",
        f"see {OWN}.",
        f"[x](/ml/team/training{OWN})",
        "[x]({server}" + f"/-/project/5{OWN})",
        "{server}" + f"/ml/team/training{OWN}",
        f"[theirs]({{server}}/other/project{OWN})",
    ],
)
def test_an_upload_is_fetched_from_its_own_project(
    tracker: Tracker, server: LoopbackServer, link: str
) -> None:
    """Whatever project the link names, the issue's own is asked."""
    (file,) = tracker.linked_files(HERE, link.replace("{server}", server.url))
    assert file.name == "run.log"
    assert tracker.fetched(file, 1000) == b"RuntimeError: CUDA error"
    assert server.asked[-1].path.startswith("/api/v4/projects/ml%2Fteam%2Ftraining/uploads/")
    with pytest.raises(TrackerError):
        tracker.fetched(file, 5)


@pytest.mark.parametrize(
    "text",
    [
        f"https://evil.example/ml/team/training{OWN}",
        f"[x](https://evil.example{OWN})",
        f"![shot](/uploads/{SECRET}/shot.png)",
        f"/uploads/{SECRET}/..",
        f"/uploads/{SECRET}/%2e%2e%2fsecrets",
        f"/uploads/{SECRET[:-1]}/run.log",
        f"//evil.example{OWN}",
        "/uploads/" * 2000,
    ],
)
def test_other_links_are_not_followed(tracker: Tracker, text: str) -> None:
    """Of another server, pictures, and paths that lead elsewhere."""
    assert list(tracker.linked_files(HERE, text)) == []


# What is asked and written.


def test_who_and_what(tracker: Tracker, server: LoopbackServer) -> None:
    """Its own identity is asked for once; a thread is read as it stands."""
    assert tracker.myself() == TrackerUser("77", BOT["username"], is_bot=True)
    assert tracker.myself().name == BOT["username"]
    assert len(server.asked) == 1
    assert server.asked[0].headers["user-agent"] == "postmortem"
    thread = tracker.thread(HERE)
    assert (thread.title, thread.labels, thread.author.name) == ("It fails", ("bug",), "ada")
    assert tracker.thread(THERE).text == ""
    with pytest.raises(NotThere):
        tracker.thread(IssuePlace("ml/other", ISSUE, 4))


def test_members_have_a_role(tracker: Tracker) -> None:
    """From Reporter on; guests and strangers have none."""
    assert tracker.is_member(PROJECT, TrackerUser("3", "ada"))
    assert not tracker.is_member(PROJECT, TrackerUser("8", "guest"))
    assert not tracker.is_member(PROJECT, TrackerUser("9", "stranger"))
    with pytest.raises(TrackerError):
        tracker.is_member(PROJECT, TrackerUser("3/../../4", "x"))


@pytest.mark.parametrize("place", [HERE, THERE], ids=str)
def test_one_comment_is_written_and_edited(
    tracker: Tracker, gitlab: Gitlab, place: IssuePlace
) -> None:
    """A forged one is nobody's, and what GitLab writes is no comment."""
    at = "issues/4" if place == HERE else "merge_requests/5"
    gitlab.note(at, ADA, f"{mark_of('report')}\nforged")
    gitlab.note(at, BOT, "changed the description", system=True)
    hows = [
        update_or_create_comment(tracker, place, text, key="report").how for text in ("a", "a", "b")
    ]
    assert hows == ["posted", "kept", "edited"]
    assert [one["body"] for one in gitlab.notes[at] if one["author"] == BOT][1:] == [
        f"{mark_of('report')}\nb"
    ]
    done = update_or_create_comment(tracker, place, "c", key="report")
    assert done.url.endswith(f"/{PROJECT}/-/{at}#note_{done.identity}")
    assert tracker.comment(place, done.identity).text.endswith("\nc")
    tracker.remove(place, done.identity)
    with pytest.raises(NotThere):
        tracker.comment(place, done.identity)
    with pytest.raises(NotThere):
        tracker.edit(place, done.identity, "d")


def test_all_pages_are_read(tracker: Tracker, gitlab: Gitlab, server: LoopbackServer) -> None:
    """The server names the next page by an address of its own; the one of the settings is asked."""
    for number in range(250):
        gitlab.note("issues/4", ADA, f"note {number}")
    found = list(tracker.comments(HERE))
    assert [one.text for one in found] == [f"note {number}" for number in range(250)]
    assert [one.query.get("page", "1") for one in server.asked] == ["1", "2", "3"]
    assert found == sorted(found, key=lambda one: one.age)


def test_labels_change_in_one_request(
    tracker: Tracker, gitlab: Gitlab, server: LoopbackServer
) -> None:
    """Those of others stay; nothing to change is nothing to ask."""
    tracker.relabel(HERE, ["numerics", "seen"], ["waiting"])
    assert gitlab.threads["issues/4"]["labels"] == ["bug", "numerics", "seen"]
    tracker.relabel(HERE, [], ["seen"])
    tracker.relabel(HERE, [], [])
    assert gitlab.threads["issues/4"]["labels"] == ["bug", "numerics"]
    assert len(server.asked) == 2


def test_a_run_leads_to_its_merge_request(tracker: Tracker, gitlab: Gitlab) -> None:
    """By its ref, or by its commit; closed ones do not count."""
    assert tracker.place_of_run(PROJECT, "9") == THERE
    gitlab.pipelines[9] |= {"ref": "refs/merge-requests/5/merge", "sha": "ff" * 20}
    assert tracker.place_of_run(PROJECT, "9") == THERE
    gitlab.threads["merge_requests/5"]["state"] = "merged"
    assert tracker.place_of_run(PROJECT, "9") is None
    gitlab.pipelines[9]["ref"], gitlab.of_commit[1]["state"] = "main", "closed"
    assert tracker.place_of_run(PROJECT, "9") is None
    with pytest.raises(NotThere):
        tracker.place_of_run(PROJECT, "10")


def test_the_logs_of_failed_jobs(tracker: Tracker, gitlab: Gitlab) -> None:
    """But for those that may fail and those that were erased; of a long one the end."""
    gitlab.jobs.append({"id": 33, "name": "erased", "status": "failed", "allow_failure": False})
    (log,) = tracker.run_logs(PROJECT, "9", 1000)
    assert (log.name, log.content) == ("train", gitlab.traces[31])
    gitlab.traces[31] = b"x" * 3000 + b"RuntimeError"
    (log,) = tracker.run_logs(PROJECT, "9", 1000)
    assert len(log.content) == 1000
    assert log.content.endswith(b"RuntimeError")


# What goes wrong.


@pytest.mark.parametrize(
    ("status", "kind", "seconds"),
    [(401, TrackerError, None), (403, TrackerError, None), (422, TrackerError, None),
     (404, NotThere, None), (429, TryLater, 17.0), (502, TryLater, 17.0), (409, TryLater, 17.0)],
)  # fmt: skip
def test_errors_say_what_to_do(
    tracker: Tracker,
    gitlab: Gitlab,
    server: LoopbackServer,
    status: int,
    kind: type[TrackerError],
    seconds: float | None,
) -> None:
    """One request, no second one, and nothing of the token."""
    gitlab.next_reply = Reply.of({"message": TOKEN}, status, Retry_After="17")
    with pytest.raises(TrackerError) as raised:
        tracker.post(HERE, "text")
    assert type(raised.value) is kind
    assert getattr(raised.value, "seconds", None) == seconds
    assert len(server.asked) == 1
    assert TOKEN not in str(raised.value)


def test_a_redirect_does_not_carry_the_token(tracker: Tracker, gitlab: Gitlab) -> None:
    """It is refused, for requests and for files."""
    with serving(lambda _: Reply.of({})) as elsewhere:
        for way in (
            lambda: tracker.thread(HERE),
            lambda: tracker.post(HERE, "x"),
            lambda: list(tracker.run_logs(PROJECT, "9", 10)),
            lambda: tracker.fetched(tracker.linked_files(HERE, OWN)[0], 10),
        ):
            gitlab.next_reply = Reply(302, headers={"Location": elsewhere.url})
            with pytest.raises(TrackerError):
                way()
        assert elsewhere.asked == []


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"id": "x"}', b"null"])
def test_an_answer_that_is_none(tracker: Tracker, gitlab: Gitlab, body: bytes) -> None:
    """It is told as such."""
    gitlab.next_reply = Reply(200, body, {"Content-Type": "application/json"})
    with pytest.raises(TrackerError):
        tracker.thread(HERE)


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be there later."""
    found = opened(monkeypatch, "http://127.0.0.1:9")
    with pytest.raises(TryLater) as raised:
        found.myself()
    assert TOKEN not in str(raised.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"api_url": "http://gitlab.example.org"}, "only https"),
        ({"api_url": "https://user:pw@gitlab.example.org"}, "write https://HOST"),
        ({"token": "glpat-xyz"}, "env:NAME"),
        ({"signing": "env:LAB_TOKEN"}, "no signing token"),
        ({"more": "x"}, "more"),
    ],
)
def test_wrong_settings_are_told(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], said: str
) -> None:
    """Without the secrets."""
    monkeypatch.setenv("LAB_TOKEN", "glpat-xyz")
    with pytest.raises(UsageError, match=said) as raised:
        create_tracker("gitlab", {"token": "env:LAB_TOKEN", **settings})
    assert "glpat-xyz" not in str(raised.value)
    assert "pw" not in str(raised.value)


def test_nothing_shows_a_secret(tracker: Tracker) -> None:
    """Nor does a comment show its text."""
    assert TOKEN not in repr(vars(tracker))
    assert json.dumps(sent.TOKEN) not in repr(tracker)
