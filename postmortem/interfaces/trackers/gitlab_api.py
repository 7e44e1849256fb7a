"""GitLab's API: settings, requests, and parsing the JSON of responses and webhooks.

In: settings, a method, a path below `/api/v4`; parsed JSON, headers. Out: values of
`tracker_protocol`, or `TrackerError`s. Not here: which requests there are, signatures
(`trackers.gitlab_tracker`).

python-gitlab knows the API: paths, pages, encodings. It is configured not to retry. Each response
is checked first: its headers say how long to wait, and redirects are refused, which could carry the
token to another host. Of JSON only the needed fields are read: other versions have more. Source:
docs.gitlab.com, "Webhook events", "Notes API", "Issues API".
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import quote

import gitlab
import requests
from gitlab._backends.requests_backend import RequestsBackend
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from postmortem.core.log_text import compile_lazily
from postmortem.interfaces.trackers.tracker_checks import (
    SecretName,
    check_server_address,
    parse_retry_after,
    read_answer,
    read_delivery,
    read_secret,
)
from postmortem.interfaces.trackers.tracker_protocol import (
    COMMENTED,
    FAILED_RUN,
    ISSUE,
    OPENED,
    OTHER,
    REQUEST,
    IssueComment,
    IssuePlace,
    IssueThread,
    NotThere,
    TrackerError,
    TrackerEvent,
    TrackerUser,
    TryLater,
)

PUBLIC_SERVER: Final = "https://gitlab.com"


def _check_server(address: str) -> str:
    return check_server_address(address.rstrip("/").removesuffix("/api/v4"), "https://HOST")


class GitlabSettings(BaseModel):
    """One identity on one server."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    token: SecretName
    """Of a project, a group or a person, with the scope `api`."""
    secret: SecretName | None = None
    """The secret token of the webhook: it comes with each delivery."""
    signing: SecretName | None = None
    """The signing token of the webhook, `whsec_…`: each delivery is signed with it."""
    api_url: Annotated[str, AfterValidator(_check_server)] = PUBLIC_SERVER
    """Of a server of one's own: https://HOST, with or without /api/v4."""
    file_hosts: tuple[str, ...] = ()
    """Hosts that redirects to files may lead to: where the server keeps them elsewhere."""


_Value = TypeVar("_Value")
_WAIT: Final = 30.0
_PAGE: Final = 100
_MOST: Final = 10_000
"""Of one list."""
_MENDS: Final = {
    401: "check the token: docs/gitlab.md",
    403: "the token needs the scope api, and its account a role in the project: docs/gitlab.md",
}


class GitlabCalls:
    """Sends requests for one identity."""

    def __init__(self, settings: GitlabSettings) -> None:
        """Take the settings; nothing is sent."""
        self._token = read_secret(settings.token, "the token")
        self.base = f"{settings.api_url}/api/v4"
        session = requests.Session()
        session.hooks["response"].append(_check_response)
        self._client = gitlab.Gitlab(
            settings.api_url,
            private_token=self._token.get_secret_value(),
            timeout=_WAIT,
            user_agent="postmortem",
            keep_base_url=True,
            backend=RequestsBackend,
            session=session,
        )

    def get_credentials(self) -> dict[str, str]:
        """Give the header that names this identity, for files of the server itself."""
        return {"PRIVATE-TOKEN": self._token.get_secret_value()}

    def get(self, path: str, **query: Any) -> Any:
        """Ask for one value.

        Raises:
            TrackerError: there is none.
        """
        return _call_api(path, lambda: self._client.http_get(path, query, obey_rate_limit=False))

    def iter_pages(self, path: str, **query: Any) -> Iterator[Any]:
        """Yield the items of a list, page by page.

        Raises:
            TrackerError: it could not be read.
        """
        query["per_page"] = _PAGE
        found = _call_api(path, lambda: self._listed(path, query))
        for _ in range(_MOST):
            item = _call_api(path, lambda: next(found, None))
            if item is None:
                return
            yield item

    def send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send what changes something, once.

        Raises:
            TrackerError: it was refused, or not answered.
        """
        ways = {
            "POST": lambda: self._client.http_post(path, post_data=body, obey_rate_limit=False),
            "PUT": lambda: self._client.http_put(path, post_data=body, obey_rate_limit=False),
            "DELETE": lambda: self._client.http_delete(path, obey_rate_limit=False),
        }
        return _call_api(f"{method} {path}", ways[method])

    def close(self) -> None:
        """Release connections."""
        self._client.session.close()

    def _listed(self, path: str, query: dict[str, Any]) -> Iterator[Any]:
        found = self._client.http_list(path, query, iterator=True, obey_rate_limit=False)
        return iter(found)


def project_path(project: str) -> str:
    """Give the part of a path that names a project."""
    return f"/projects/{quote(project, safe='')}"


def _call_api(what: str, way: Callable[[], _Value]) -> _Value:
    """Ask, and say what went wrong; nothing of a request stands in an error."""
    try:
        return way()
    except requests.Timeout:
        raise TryLater("GitLab did not answer in time", what) from None
    except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
        message = f"GitLab cannot be reached ({type(error).__name__})"
        raise TryLater(message, what) from None
    except (requests.RequestException, gitlab.GitlabError, ValueError) as error:
        raise TrackerError(f"the request failed ({type(error).__name__})", what) from None


def _check_response(response: requests.Response, *_: Any, **__: Any) -> None:
    """Tell what an answer means that is none.

    Raises:
        TrackerError: it is an error, or leads elsewhere.
    """
    status, what = (
        response.status_code,
        f"{response.request.method} {_extract_request_path(response)}",
    )
    if status < 300:
        return
    response.close()
    if status < 400:
        raise TrackerError("GitLab leads elsewhere: name the server as it names itself", what)
    message = f"GitLab answered {status}"
    if status in {404, 410}:
        raise NotThere(message, what)
    if status in {408, 409, 429} or status >= 500:
        raise TryLater(message, what, seconds=parse_retry_after(response.headers))
    raise TrackerError(message, what, _MENDS.get(status, ""))


def _extract_request_path(response: requests.Response) -> str:
    """Give the path of a request without what is asked of it."""
    return str(response.request.path_url).partition("?")[0].partition("/api/v4")[2]


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
