"""Parse GitLab's JSON, of webhooks and of API responses.

In: parsed JSON, headers. Out: values of `tracker_values`. Not here: asking, signatures.
Only the needed fields are read: other versions have more. Source: docs.gitlab.com,
"Webhook events", "Notes API", "Issues API".
"""

import re
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Final

from pydantic import BaseModel, Field

from postmortem.core.lazy_regex import compile_lazily
from postmortem.interfaces.trackers.tracker_answers import read_answer, read_delivery
from postmortem.interfaces.trackers.tracker_errors import TrackerError
from postmortem.interfaces.trackers.tracker_values import (
    COMMENTED,
    FAILED_RUN,
    ISSUE,
    OPENED,
    OTHER,
    REQUEST,
    IssueComment,
    IssuePlace,
    IssueThread,
    TrackerEvent,
    TrackerUser,
)

_GITLAB: Final = "GitLab"
_NOBODY: Final = TrackerUser("", "ghost")
_PROJECT: Final = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}(?:/[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}){1,20}$"
_OF_A_TOKEN: Final = compile_lazily(r"(?:project|group)_\d{1,20}_bot(?:_[0-9a-z]{1,64})?", re.ASCII)
"""The account of a project's or group's own token."""
_DELIVERIES: Final = ("idempotency-key", "webhook-id", "x-gitlab-event-uuid")
"""The first is the same when a delivery is tried again."""


class _GitlabUser(BaseModel):
    id: int
    username: str = ""
    bot: bool = False


class _GitlabProject(BaseModel):
    path_with_namespace: str = Field(pattern=_PROJECT)


class _EventObject(BaseModel):
    """Of the object that an event is of."""

    id: int
    iid: int = 0
    action: str = ""
    status: str = ""
    note: str = ""
    noteable_type: str = ""
    system: bool = False
    created_at: str = ""
    url: str = ""


class _NotedIssue(BaseModel):
    iid: int
    confidential: bool = False


class _TextChange(BaseModel):
    current: Any = None


class _WordChanges(BaseModel):
    title: _TextChange | None = None
    description: _TextChange | None = None


class _GitlabDelivery(BaseModel):
    object_kind: str = ""
    event_type: str = ""
    user: _GitlabUser | None = None
    project: _GitlabProject | None = None
    object_attributes: _EventObject | None = None
    changes: _WordChanges = _WordChanges()
    issue: _NotedIssue | None = None
    merge_request: _NotedIssue | None = None
    build_status: str = ""
    build_allow_failure: bool = False
    pipeline_id: int = 0


class _GitlabNote(BaseModel):
    id: int
    body: str = ""
    author: _GitlabUser | None = None
    created_at: str = ""
    system: bool = False


class _GitlabIssue(BaseModel):
    iid: int
    title: str = ""
    description: str | None = None
    author: _GitlabUser | None = None
    labels: list[str] = []


def parse_event(headers: Mapping[str, str], body: bytes) -> TrackerEvent:
    """Read a delivery.

    Raises:
        TrackerError: it is none.
    """
    delivery = next((headers[name] for name in _DELIVERIES if headers.get(name)), "")
    if not delivery or len(delivery) > 200:
        raise TrackerError("the delivery has no id", "Idempotency-Key")
    payload = read_delivery(_GitlabDelivery, body, _GITLAB)
    project = payload.project.path_with_namespace if payload.project else ""
    author = parse_user(payload.user)
    other = TrackerEvent(delivery, OTHER, project, author)
    if not project:
        return other
    if payload.object_kind in {"build", "pipeline"}:
        return _run(other, payload)
    if payload.object_kind == "note":
        return _parse_note_event(other, payload)
    return (
        _parse_issue_event(other, payload)
        if payload.object_kind in {"issue", "work_item"}
        else other
    )


def _run(other: TrackerEvent, payload: _GitlabDelivery) -> TrackerEvent:
    """Read an event of a job or of a pipeline; both name the pipeline."""
    if payload.object_kind == "build":
        has_failed = payload.build_status == "failed" and not payload.build_allow_failure
        number = payload.pipeline_id
    else:
        has_failed = payload.object_attributes is not None and (
            payload.object_attributes.status == "failed"
        )
        number = payload.object_attributes.id if payload.object_attributes else 0
    if not has_failed or number <= 0:
        return other
    return TrackerEvent(other.delivery, FAILED_RUN, other.project, other.author, run=str(number))


def _parse_issue_event(other: TrackerEvent, payload: _GitlabDelivery) -> TrackerEvent:
    """Read an event of an issue: it was opened, or its words changed."""
    found = payload.object_attributes
    if found is None or found.iid <= 0:
        return other
    has_new_words = payload.changes.title is not None or payload.changes.description is not None
    if found.action != "open" and not (found.action == "update" and has_new_words):
        return other
    place = IssuePlace(other.project, ISSUE, found.iid)
    return TrackerEvent(other.delivery, OPENED, other.project, other.author, place)


def _parse_note_event(other: TrackerEvent, payload: _GitlabDelivery) -> TrackerEvent:
    """Read an event of a note.

    One that only some may read, under an issue that all may read, is left alone: an answer would be
    read by all.
    """
    found = payload.object_attributes
    kinds = {"Issue": (ISSUE, payload.issue), "MergeRequest": (REQUEST, payload.merge_request)}
    kind, noted = kinds.get(found.noteable_type if found else "", ("", None))
    if (
        found is None
        or noted is None
        or found.system
        or found.action not in {"", "create", "update"}
    ):
        return other
    if payload.event_type == "confidential_note" and not noted.confidential:
        return other
    place = IssuePlace(other.project, kind, noted.iid)
    author = other.author or _NOBODY
    written = IssueComment(
        str(found.id), author, found.note, _normalize_time(found.created_at), found.url
    )
    return TrackerEvent(other.delivery, COMMENTED, other.project, author, place, written)


def parse_user(value: Any) -> TrackerUser:
    """Read an account."""
    user = read_answer(_GitlabUser, value, _GITLAB) if value is not None else None
    if user is None:
        return _NOBODY
    is_bot = user.bot or _OF_A_TOKEN.fullmatch(user.username) is not None
    return TrackerUser(str(user.id), user.username, is_bot)


def note_of(place: IssuePlace, value: Any, server: str) -> IssueComment | None:
    """Read a comment; none if GitLab wrote it itself."""
    one = read_answer(_GitlabNote, value, _GITLAB)
    if one.system:
        return None
    kind = "merge_requests" if place.kind == REQUEST else "issues"
    url = f"{server}/{place.project}/-/{kind}/{place.number}#note_{one.id}"
    return IssueComment(
        str(one.id), parse_user(one.author), one.body, _normalize_time(one.created_at), url
    )


def parse_thread(place: IssuePlace, value: Any) -> IssueThread:
    """Read an issue or a merge request."""
    one = read_answer(_GitlabIssue, value, _GITLAB)
    labels = tuple(one.labels)
    return IssueThread(place, parse_user(one.author), one.title, one.description or "", labels)


def _normalize_time(time: str) -> str:
    """Bring a time into the form that sorts; one that is none stays as it is."""
    try:
        moment = datetime.fromisoformat(time.replace(" UTC", "+00:00").replace("Z", "+00:00"))
    except ValueError:
        return time
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return moment.astimezone(timezone.utc).isoformat(timespec="milliseconds")
