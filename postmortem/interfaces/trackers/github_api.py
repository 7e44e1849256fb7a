"""GitHub's API: settings, requests, and parsing the JSON of responses and webhooks.

In: settings, a method, a path; parsed JSON, headers. Out: values of `tracker_protocol`, or
`TrackerError`s. Not here: which requests there are, signatures (`trackers.github_tracker`).

githubkit signs the requests: as an app (a JWT, and a token for each installation, renewed in time)
or with a personal token; it distinguishes both kinds of rate limits from refusals. It is configured
not to retry, not to cache and not to follow redirects. Of JSON only the needed fields are read:
other servers and later versions have more.
"""

import ssl
from collections.abc import Iterable, Iterator, Mapping
from threading import Lock
from typing import Annotated, Any, Final

import httpx
from githubkit import AppAuthStrategy, GitHub, TokenAuthStrategy
from githubkit.cache import MemCacheStrategy
from githubkit.exception import (
    AuthCredentialError,
    GitHubException,
    RateLimitExceeded,
    RequestError,
    RequestFailed,
    RequestTimeout,
)
from jwt.exceptions import PyJWTError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from postmortem.core.errors import UsageError
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
    PING,
    IssueComment,
    IssuePlace,
    IssueThread,
    NotThere,
    TrackerError,
    TrackerEvent,
    TrackerUser,
    TryLater,
)

PUBLIC_API: Final = "https://api.github.com"


def _check_server(address: str) -> str:
    return check_server_address(address, "https://HOST/api/v3")


class GithubSettings(BaseModel):
    """One identity on one server."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    secret: SecretName | None = None
    """Of the webhook."""
    token: SecretName | None = None
    """A personal token, or that of a workflow."""
    app_id: int | None = None
    private_key: SecretName | None = None
    installation: int | None = None
    """Of the app; asked for where it is not given."""
    account: str = Field("github-actions[bot]", max_length=100)
    """Who writes with a token that belongs to nobody, as that of a workflow does."""
    api_url: Annotated[str, AfterValidator(_check_server)] = PUBLIC_API
    """Of GitHub Enterprise Server: https://HOST/api/v3."""
    seconds: float = Field(30.0, gt=0, le=300)
    """That one request may take."""
    file_hosts: tuple[str, ...] = ()
    """Further hosts that links and redirects to files may lead to."""

    @model_validator(mode="after")
    def _one_identity(self) -> "GithubSettings":
        if (self.token is None) == (self.app_id is None):
            raise ValueError("give either token, or app_id and private_key")
        if (self.app_id is None) != (self.private_key is None):
            raise ValueError("app_id and private_key belong together")
        return self

    @property
    def web_url(self) -> str:
        """Give the address that people use."""
        if self.api_url == PUBLIC_API:
            return "https://github.com"
        scheme, _, rest = self.api_url.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}"


_PAGE: Final = 100
_PAGES: Final = 100
"""Of one list: ten thousand comments."""
_FORBIDDEN: Final = 403
_LIMITS: Final = ("secondary rate limit", "abuse detection", "rate limit exceeded")
_VERSION: Final = "2022-11-28"


class NotThisIdentity(TrackerError):  # noqa: N818 -- the token of a workflow is nobody's
    """A request that this app or token may not make."""


class GithubCalls:
    """Sends requests for one identity."""

    def __init__(self, settings: GithubSettings) -> None:
        self._settings = settings
        self._trusted = ssl.create_default_context()
        self._tokens = MemCacheStrategy()
        """Of its own: the one that all share would give an app's token to another server."""
        self._lock = Lock()
        self._installed: dict[str, GitHub[Any]] = {}
        self.is_app = settings.app_id is not None
        self.own = self._opened(self._app() if self.is_app else self._token())
        """Asks as the app itself, or with the personal token."""

    def get(self, path: str, project: str = "", **params: str | int) -> Any:
        """Ask for one value.

        Raises:
            TrackerError: there is none.
        """
        return parse_response(self.send("GET", path, project, params=params))

    def iter_pages(self, path: str, project: str, inside: str = "", **params: str) -> Iterator[Any]:
        """Yield the items of a list, page by page.

        Raises:
            TrackerError: it could not be read.
        """
        for page in range(1, _PAGES + 1):
            found = self.get(path, project, per_page=_PAGE, page=page, **params)
            items = found.get(inside, []) if inside else found
            yield from items
            if len(items) < _PAGE:
                return

    def send(
        self,
        method: str,
        path: str,
        project: str = "",
        *,
        params: dict[str, str | int] | None = None,
        json: Any = None,
    ) -> httpx.Response:
        """Send one request, once.

        Raises:
            TrackerError: it was refused, or not answered.
        """
        is_own = not self.is_app or path.startswith("/app")
        client = self.own if is_own else self._installation(project)
        return _send_request(client, method, path, params=params, json=json)

    def _installation(self, project: str) -> "GitHub[Any]":
        """Give what asks on behalf of the installation that a project belongs to.

        Without a project any of them will do.
        """
        owner = project.partition("/")[0].lower()
        with self._lock:
            client = self._installed.get(owner)
        if client is None:
            number = self._settings.installation or self._installed_as(project)
            client = self._opened(self._app().as_installation(number))
            with self._lock:
                client = self._installed.setdefault(owner, client)
        return client

    def _installed_as(self, project: str) -> int:
        """Ask for the number of an installation.

        Raises:
            TrackerError: the app is installed nowhere, or not there.
        """
        if project:
            return int(
                parse_response(_send_request(self.own, "GET", f"/repos/{project}/installation"))[
                    "id"
                ]
            )
        found = parse_response(
            _send_request(self.own, "GET", "/app/installations", params={"per_page": 1})
        )
        if not found:
            raise TrackerError("the app is installed nowhere", "/app/installations")
        return int(found[0]["id"])

    def _app(self) -> AppAuthStrategy:
        if self._settings.private_key is None:
            raise UsageError("an app needs its private key", "private_key")
        key = read_secret(self._settings.private_key, "the app's private key").get_secret_value()
        return AppAuthStrategy(self._settings.app_id, key)

    def _token(self) -> TokenAuthStrategy:
        if self._settings.token is None:
            raise UsageError("neither a token nor an app is named", "token")
        return TokenAuthStrategy(read_secret(self._settings.token, "the token").get_secret_value())

    def _opened(self, auth: Any) -> "GitHub[Any]":
        return GitHub(
            auth,
            base_url=self._settings.api_url,
            user_agent="postmortem",
            timeout=self._settings.seconds,
            ssl_verify=self._trusted,
            follow_redirects=False,
            cache_strategy=self._tokens,
            http_cache=False,
            auto_retry=False,
        )


def parse_response(response: httpx.Response) -> Any:
    """Read the value in an answer.

    Raises:
        TrackerError: there is none.
    """
    if response.is_redirect:
        mend = "name it in the settings as it is called now"
        raise TrackerError("the project was renamed or moved", response.url.path, mend)
    try:
        return response.json()
    except ValueError:
        raise TryLater("an answer that is no JSON", response.url.path) from None


def _send_request(client: "GitHub[Any]", method: str, path: str, **options: Any) -> httpx.Response:
    """Send a request and read what became of it; nothing of a request stands in an error."""
    what = f"{method} {path}"
    headers = {"X-GitHub-Api-Version": _VERSION}
    try:
        return client.request(method, path, headers=headers, **options).raw_response
    except RateLimitExceeded as error:
        seconds = max(1.0, error.retry_after.total_seconds())
        raise TryLater("GitHub limits how often it is asked", what, seconds=seconds) from None
    except RequestFailed as error:
        raise _build_tracker_error(error, what) from None
    except RequestTimeout:
        raise TryLater("GitHub did not answer in time", what) from None
    except AuthCredentialError:
        raise TrackerError("the credentials cannot be used", what) from None
    except RequestError as error:
        # What fails in getting an app's token comes wrapped.
        inner = error.__cause__
        if isinstance(inner, RequestFailed):
            raise _build_tracker_error(inner, "POST /app/installations/access_tokens") from None
        if isinstance(inner, httpx.TransportError):
            raise TryLater(f"GitHub cannot be reached ({type(inner).__name__})", what) from None
        if isinstance(inner, (AuthCredentialError, PyJWTError, ValueError, TypeError)):
            raise TrackerError("the app's id and private key cannot be used", what) from None
        raise TryLater("GitHub cannot be asked", what) from None
    except (GitHubException, PyJWTError, ValueError) as error:
        raise TrackerError(f"the request failed ({type(error).__name__})", what) from None


def _build_tracker_error(error: RequestFailed, what: str) -> TrackerError:
    """Tell what an answer means that is none."""
    response = error.response.raw_response
    status, detail = response.status_code, _extract_error_message(response)
    message = f"GitHub answered {status}" + (f": {detail}" if detail else "")
    if status in {404, 410}:
        return NotThere(message, what)
    if status >= httpx.codes.INTERNAL_SERVER_ERROR or status in {408, 429}:
        return TryLater(message, what, seconds=parse_retry_after(response.headers))
    if status == _FORBIDDEN and any(limit in detail.lower() for limit in _LIMITS):
        return TryLater(message, what, seconds=60.0)
    kind = NotThisIdentity if status == _FORBIDDEN else TrackerError
    return kind(message, what, _MENDS.get(status, ""))


_MENDS: Final = {
    401: "check the token, or the app's id and key: docs/bots.md",
    403: "check the permissions of the app or token: docs/bots.md",
}


def _extract_error_message(response: httpx.Response) -> str:
    """Give what GitHub says of an error, on one line and short."""
    try:
        body = response.json()
    except ValueError:
        return ""
    text = body.get("message", "") if isinstance(body, dict) else ""
    return " ".join(str(text).split())[:200]


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
