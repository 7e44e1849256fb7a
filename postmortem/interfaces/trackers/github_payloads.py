"""Parse GitHub's JSON, of webhooks and of API responses.

In: parsed JSON, headers. Out: values of `tracker_values`. Not here: asking, signatures.
Only the needed fields are read: other servers and later versions have more.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel, Field

from postmortem.interfaces.trackers.tracker_answers import read_answer, read_delivery
from postmortem.interfaces.trackers.tracker_errors import TrackerError
from postmortem.interfaces.trackers.tracker_values import (
    COMMENTED,
    FAILED_RUN,
    ISSUE,
    OPENED,
    OTHER,
    PING,
    IssueComment,
    IssuePlace,
    IssueThread,
    TrackerEvent,
    TrackerUser,
)

FAILURES: Final = frozenset({"failure", "timed_out"})
"""Conclusions of runs and jobs."""
_GITHUB: Final = "GitHub"
_GHOST: Final = TrackerUser("", "ghost")
"""An account that was deleted."""
_PROJECT: Final = r"^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$"


class _User(BaseModel):
    id: int
    login: str
    type: str = "User"


class _Label(BaseModel):
    name: str


class _Repository(BaseModel):
    id: int
    full_name: str = Field("", pattern=_PROJECT)
    """A repository within a repository's pull request has none."""


class _Issue(BaseModel):
    number: int
    title: str = ""
    body: str | None = None
    user: _User | None = None
    labels: list[_Label] = []


class _Comment(BaseModel):
    id: int
    body: str | None = None
    user: _User | None = None
    created_at: str = ""
    html_url: str = ""


class _Base(BaseModel):
    repo: _Repository


class _Pull(BaseModel):
    number: int
    state: str = "open"
    base: _Base


class _Run(BaseModel):
    id: int
    conclusion: str | None = None
    head_sha: str = Field(pattern=r"^[0-9a-f]{40,64}$")
    pull_requests: list[_Pull] = []
    repository: _Repository | None = None


class _Payload(BaseModel):
    action: str = ""
    repository: _Repository | None = None
    sender: _User | None = None
    issue: _Issue | None = None
    comment: _Comment | None = None
    workflow_run: _Run | None = None


def parse_event(headers: Mapping[str, str], body: bytes) -> TrackerEvent:
    """Read a delivery.

    Raises:
        TrackerError: it is none.
    """
    name, delivery = headers.get("x-github-event", ""), headers.get("x-github-delivery", "")
    if not delivery or len(delivery) > 200:
        raise TrackerError("the delivery has no id", "X-GitHub-Delivery")
    if name == "ping":
        return TrackerEvent(delivery, PING)
    if "json" not in headers.get("content-type", "json"):
        raise TrackerError("set the webhook's content type to application/json", "Content-Type")
    payload = read_delivery(_Payload, body, _GITHUB)
    return _build_event(delivery, f"{name}.{payload.action}", payload)


def _build_event(delivery: str, event_name: str, payload: _Payload) -> TrackerEvent:
    project = payload.repository.full_name if payload.repository else ""
    author = parse_user(payload.sender)
    if event_name == "workflow_run.completed" and payload.workflow_run:
        kind = FAILED_RUN if payload.workflow_run.conclusion in FAILURES else OTHER
        run = str(payload.workflow_run.id)
        return TrackerEvent(delivery, kind, project, author, run=run)
    kind = _ASKING.get(event_name, OTHER)
    if payload.issue is None or kind == OTHER or (kind == COMMENTED and payload.comment is None):
        return TrackerEvent(delivery, OTHER, project, author)
    place = IssuePlace(project, ISSUE, payload.issue.number)
    written = parse_comment(payload.comment) if kind == COMMENTED else None
    return TrackerEvent(delivery, kind, project, author, place, written)


_ASKING: Final = {
    "issues.opened": OPENED,
    "issues.edited": OPENED,
    "issue_comment.created": COMMENTED,
    "issue_comment.edited": COMMENTED,
}


def parse_user(value: Any) -> TrackerUser:
    """Read an account."""
    user = read_answer(_User, value, _GITHUB) if value is not None else None
    return TrackerUser(str(user.id), user.login, user.type == "Bot") if user else _GHOST


def parse_comment(value: Any) -> IssueComment:
    """Read a comment."""
    one = read_answer(_Comment, value, _GITHUB)
    return IssueComment(
        str(one.id), parse_user(one.user), one.body or "", one.created_at, one.html_url
    )


def parse_thread(place: IssuePlace, value: Any) -> IssueThread:
    """Read an issue."""
    one = read_answer(_Issue, value, _GITHUB)
    labels = tuple(label.name for label in one.labels)
    return IssueThread(place, parse_user(one.user), one.title, one.body or "", labels)


def parse_commit(value: Any) -> str:
    """Give the commit of a run."""
    return str(read_answer(_Run, value, _GITHUB).head_sha)


def open_pull(value: Any, others: Iterable[Any] = ()) -> int | None:
    """Choose the pull request that a run belongs to: an open one of its own repository.

    Args:
        value: the run; it names its pull requests, unless they come from a fork.
        others: the pull requests of its commit.
    """
    run = read_answer(_Run, value, _GITHUB)
    pulls = [read_answer(_Pull, other, _GITHUB) for other in others] or run.pull_requests
    own = run.repository.id if run.repository else None
    numbers = [p.number for p in pulls if p.state == "open" and own in {None, p.base.repo.id}]
    return max(numbers, default=None)
