"""What GitHub's JSON says, in webhooks and in answers.

In: parsed JSON, headers. Out: values of `tracker_values`. Not here: asking, signatures.
Only what is needed is looked at: other servers and later versions have other fields beside.
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
    said = read_delivery(_Payload, body, _GITHUB)
    return _build_event(delivery, f"{name}.{said.action}", said)


def _build_event(delivery: str, asked: str, said: _Payload) -> TrackerEvent:
    project = said.repository.full_name if said.repository else ""
    author = parse_user(said.sender)
    if asked == "workflow_run.completed" and said.workflow_run:
        kind = FAILED_RUN if said.workflow_run.conclusion in FAILURES else OTHER
        run = str(said.workflow_run.id)
        return TrackerEvent(delivery, kind, project, author, run=run)
    kind = _ASKING.get(asked, OTHER)
    if said.issue is None or kind == OTHER or (kind == COMMENTED and said.comment is None):
        return TrackerEvent(delivery, OTHER, project, author)
    place = IssuePlace(project, ISSUE, said.issue.number)
    written = parse_comment(said.comment) if kind == COMMENTED else None
    return TrackerEvent(delivery, kind, project, author, place, written)


_ASKING: Final = {
    "issues.opened": OPENED,
    "issues.edited": OPENED,
    "issue_comment.created": COMMENTED,
    "issue_comment.edited": COMMENTED,
}


def parse_user(said: Any) -> TrackerUser:
    """Read an account."""
    user = read_answer(_User, said, _GITHUB) if said is not None else None
    return TrackerUser(str(user.id), user.login, user.type == "Bot") if user else _GHOST


def parse_comment(said: Any) -> IssueComment:
    """Read a comment."""
    one = read_answer(_Comment, said, _GITHUB)
    return IssueComment(
        str(one.id), parse_user(one.user), one.body or "", one.created_at, one.html_url
    )


def parse_thread(place: IssuePlace, said: Any) -> IssueThread:
    """Read an issue."""
    one = read_answer(_Issue, said, _GITHUB)
    labels = tuple(label.name for label in one.labels)
    return IssueThread(place, parse_user(one.user), one.title, one.body or "", labels)


def parse_commit(said: Any) -> str:
    """Give the commit of a run."""
    return str(read_answer(_Run, said, _GITHUB).head_sha)


def open_pull(said: Any, others: Iterable[Any] = ()) -> int | None:
    """Choose the pull request that a run belongs to: an open one of its own repository.

    Args:
        said: the run; it names its pull requests, unless they come from a fork.
        others: the pull requests of its commit.
    """
    run = read_answer(_Run, said, _GITHUB)
    pulls = [read_answer(_Pull, other, _GITHUB) for other in others] or run.pull_requests
    own = run.repository.id if run.repository else None
    numbers = [p.number for p in pulls if p.state == "open" and own in {None, p.base.repo.id}]
    return max(numbers, default=None)
