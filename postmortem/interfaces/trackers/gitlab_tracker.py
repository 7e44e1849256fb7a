"""GitLab, gitlab.com and servers of one's own, as a tracker.

In: settings. Out: `Tracker`; the links in an issue to files stored by GitLab. Not here: sending
requests and reading JSON (`trackers.gitlab_api`), what is answered (`bots`).

A link names its file by a secret and a name (`/uploads/<secret>/<name>`), alone, behind the path of
a project, or behind `/-/project/<id>`. Whatever stands before it, the file is asked for in the
issue's own project: nobody gets another project's file by linking to it.
"""

import hmac
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final
from urllib.parse import quote, unquote

import standardwebhooks

from postmortem.core.errors import UsageError
from postmortem.core.log_text import compile_lazily
from postmortem.interfaces.trackers.gitlab_api import (
    GitlabCalls,
    GitlabSettings,
    note_of,
    parse_event,
    parse_thread,
    parse_user,
    project_path,
)
from postmortem.interfaces.trackers.guarded_fetch import GuardedFetch
from postmortem.interfaces.trackers.tracker_checks import (
    MOST_JOBS,
    NO_LOGS,
    TrackerBase,
    parse_path_id,
    read_secret,
)
from postmortem.interfaces.trackers.tracker_protocol import (
    REQUEST,
    IssueComment,
    IssuePlace,
    IssueThread,
    LinkedFile,
    NamedLog,
    NotThere,
    Tracker,
    TrackerError,
    TrackerUser,
)

_UPLOAD: Final = compile_lazily(
    r"(?<![\w/.-])(?P<before>https?://[^\s()<>\[\]\"'`]{1,300}|/(?!/)[\w./-]{1,300}|)"
    r"(?<!/)/uploads/(?P<secret>[0-9a-f]{32})/(?P<name>[^\s()<>\[\]\"'`/?#]{1,200})",
    re.ASCII,
)
_parse_id: Final = partial(parse_path_id, tracker="GitLab")


def iter_uploads(text: str, project: str, server: str, base: str) -> Iterator[LinkedFile]:
    """Yield links to uploads of a project, but for pictures and papers.

    Args:
        text: Markdown.
        project: of the issue.
        server: its address; a link to any other is none.
        base: of its API.
    """
    for match in _UPLOAD.finditer(text):
        before, name = match["before"], unquote(match["name"].rstrip(".,;:!?*_"))
        is_own = not before.startswith("http") or before.startswith(f"{server}/")
        is_name = name not in {"", ".", ".."} and "/" not in name
        if is_own and is_name and not name.lower().endswith(NO_LOGS):
            path = f"{project_path(project)}/uploads/{match['secret']}/{quote(name, safe='')}"
            yield LinkedFile(name, base + path)


_REPORTER: Final = 20
"""The least role that cares for issues."""
_REQUEST_REF: Final = compile_lazily(
    r"refs/merge-requests/(\d{1,18})/(?:head|merge|train)", re.ASCII
)


class GitlabTracker(TrackerBase):
    """GitLab under one identity."""

    longest = 1_000_000
    event = staticmethod(parse_event)

    def __init__(self, name: str, settings: GitlabSettings) -> None:
        """Take the settings.

        Raises:
            UsageError: a secret is missing, or is none.
        """
        super().__init__(name, settings.secret)
        self._server = settings.api_url
        self._signing = None if settings.signing is None else _load_webhook_signer(settings.signing)
        self._calls = GitlabCalls(settings)
        self._files = GuardedFetch(settings.file_hosts, settings.api_url)

    def is_authentic(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Compare the secret token, and the signature; whichever is set must hold."""
        if self._secret is None and self._signing is None:
            return False
        token = headers.get("x-gitlab-token", "").encode("utf-8", "replace")
        if self._secret is not None and not hmac.compare_digest(self._secret, token):
            return False
        return self._signing is None or _is_signed(self._signing, headers, body)

    def linked_files(self, place: IssuePlace, text: str) -> Sequence[LinkedFile]:
        """Give what is uploaded."""
        found = iter_uploads(text, place.project, self._server, self._calls.base)
        return list(dict.fromkeys(found))

    def is_member(self, project: str, account: TrackerUser) -> bool:
        """Say whether somebody has more than the right to read, by invitation or by a group."""
        path = f"{project_path(project)}/members/all/{_parse_id(account.identity)}"
        try:
            answer = self._calls.get(path)
        except NotThere:
            return False
        level = answer.get("access_level")
        is_active = answer.get("state", "active") == "active"
        return is_active and isinstance(level, int) and level >= _REPORTER

    def thread(self, place: IssuePlace) -> IssueThread:
        """Read an issue or a merge request."""
        return parse_thread(place, self._calls.get(_build_issue_path(place)))

    def comments(self, place: IssuePlace) -> Iterator[IssueComment]:
        """Read all comments, the oldest first."""
        found = self._calls.iter_pages(
            f"{_build_issue_path(place)}/notes", order_by="created_at", sort="asc"
        )
        for value in found:
            note = note_of(place, value, self._server)
            if note is not None:
                yield note

    def comment(self, place: IssuePlace, identity: str) -> IssueComment:
        """Read one comment."""
        return self._note(place, self._calls.get(_note_path(place, identity)))

    def place_of_run(self, project: str, run: str) -> IssuePlace | None:
        """Give the open merge request that a pipeline ran for, or one that has its commit."""
        path = project_path(project)
        answer = self._calls.get(f"{path}/pipelines/{_parse_id(run)}")
        if named := _REQUEST_REF.fullmatch(str(answer.get("ref", ""))):
            place = IssuePlace(project, REQUEST, int(named[1]))
            is_open = self._calls.get(_build_issue_path(place)).get("state") == "opened"
            return place if is_open else None
        commit = str(answer.get("sha", ""))
        if not (commit.isascii() and commit.isalnum()):
            raise TrackerError("an answer of GitLab cannot be read: sha")
        found = self._calls.iter_pages(f"{path}/repository/commits/{commit}/merge_requests")
        numbers = [
            request["iid"]
            for request in found
            if request.get("state") == "opened" and isinstance(request.get("iid"), int)
        ]
        return IssuePlace(project, REQUEST, max(numbers)) if numbers else None

    def run_logs(self, project: str, run: str, most: int) -> Iterator[NamedLog]:
        """Read the logs of the jobs of a pipeline that failed and must not."""
        path = project_path(project)
        jobs = self._calls.iter_pages(f"{path}/pipelines/{_parse_id(run)}/jobs", scope="failed")
        failed = [job for job in jobs if not job.get("allow_failure")]
        for job in failed[:MOST_JOBS]:
            where = f"{self._calls.base}{path}/jobs/{_parse_id(str(job.get('id')))}/trace"
            with suppress(NotThere):  # logs can be erased
                yield NamedLog(str(job.get("name", "")), self._fetched(where, most, end=True))

    def fetched(self, file: LinkedFile, most: int) -> bytes:
        """Fetch what is uploaded."""
        return self._fetched(file.url, most)

    def post(self, place: IssuePlace, text: str) -> IssueComment:
        """Write a comment."""
        return self._note(
            place, self._calls.send("POST", f"{_build_issue_path(place)}/notes", {"body": text})
        )

    def edit(self, place: IssuePlace, identity: str, text: str) -> None:
        """Change a comment."""
        self._calls.send("PUT", _note_path(place, identity), {"body": text})

    def remove(self, place: IssuePlace, identity: str) -> None:
        """Delete a comment."""
        self._calls.send("DELETE", _note_path(place, identity))

    def relabel(self, place: IssuePlace, add: Collection[str], drop: Collection[str]) -> None:
        """Add labels and take others off, in one request."""
        wanted = {"add_labels": ",".join(sorted(add)), "remove_labels": ",".join(sorted(drop))}
        named = {key: labels for key, labels in wanted.items() if labels}
        if named:
            self._calls.send("PUT", _build_issue_path(place), named)

    def close(self) -> None:
        """Release connections."""
        self._calls.close()

    def _fetch_identity(self) -> TrackerUser:
        return parse_user(self._calls.get("/user"))

    def _note(self, place: IssuePlace, value: Any) -> IssueComment:
        note = note_of(place, value, self._server)
        if note is None:
            raise NotThere("this is no comment of anybody", str(place))
        return note

    def _fetched(self, url: str, most: int, *, end: bool = False) -> bytes:
        """Fetch a file of the server itself; the token goes nowhere else."""
        return self._files.fetch(
            url, most, headers=self._calls.get_credentials(), is_end_wanted=end
        )


def _load_webhook_signer(named: str) -> standardwebhooks.Webhook:
    """Read the signing token.

    Raises:
        UsageError: it is none.
    """
    secret = read_secret(named, "the webhook's signing token").get_secret_value()
    wrong = UsageError(
        "this is no signing token", named, "copy it from the webhook's settings: whsec_…"
    )
    if not secret.startswith("whsec_") or secret == "whsec_":  # noqa: S105 -- a secret without one
        raise wrong
    try:
        return standardwebhooks.Webhook(secret)
    except ValueError:
        raise wrong from None


def _is_signed(signing: standardwebhooks.Webhook, headers: Mapping[str, str], body: bytes) -> bool:
    """Say whether a delivery is signed, and within five minutes of now."""
    try:
        signing.verify(body, dict(headers), json_parse=False)
    except (standardwebhooks.WebhookVerificationError, ValueError, IndexError):
        return False  # the last two: headers that are no text of the form that they should have
    return True


def _build_issue_path(place: IssuePlace) -> str:
    kind = "merge_requests" if place.kind == REQUEST else "issues"
    return f"{project_path(place.project)}/{kind}/{place.number}"


def _note_path(place: IssuePlace, identity: str) -> str:
    return f"{_build_issue_path(place)}/notes/{_parse_id(identity)}"


def open_tracker(name: str, settings: Mapping[str, Any]) -> Tracker:
    """Open GitLab as the settings say.

    Raises:
        UsageError: a secret is missing.
    """
    return GitlabTracker(name, GitlabSettings.model_validate(settings))
