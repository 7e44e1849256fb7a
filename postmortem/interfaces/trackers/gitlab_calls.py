"""Send requests to GitLab, and interpret its responses.

In: settings, a method, a path below `/api/v4`. Out: JSON values, or `TrackerError`s. Not here:
which requests there are (`trackers.gitlab_tracker`).

python-gitlab knows the API: paths, pages, encodings. It is configured not to retry. Each
response is checked first: its headers say how long to wait, and redirects are refused, which could
carry the token to another host.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar
from urllib.parse import quote

import gitlab
import requests
from gitlab._backends.requests_backend import RequestsBackend

from postmortem.interfaces.trackers.gitlab_settings import GitlabSettings
from postmortem.interfaces.trackers.secret_values import read_secret
from postmortem.interfaces.trackers.tracker_answers import parse_retry_after
from postmortem.interfaces.trackers.tracker_errors import NotThere, TrackerError, TryLater

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
