"""Send requests to GitHub, and interpret its responses.

In: settings, a method, a path. Out: JSON values, or `TrackerError`s. Not here: which requests there
are (`trackers.github_tracker`).

githubkit signs the requests: as an app (a JWT, and a token for each installation, renewed in time)
or with a personal token; it distinguishes both kinds of rate limits from refusals. It is configured
not to retry, not to cache and not to follow redirects.
"""

import ssl
from collections.abc import Iterator
from threading import Lock
from typing import Any, Final

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

from postmortem.core.errors import UsageError
from postmortem.interfaces.trackers.github_settings import GithubSettings
from postmortem.interfaces.trackers.secret_values import read_secret
from postmortem.interfaces.trackers.tracker_answers import parse_retry_after
from postmortem.interfaces.trackers.tracker_errors import NotThere, TrackerError, TryLater

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
