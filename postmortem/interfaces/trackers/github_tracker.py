"""GitHub, and GitHub Enterprise Server.

In: settings. Out: `Tracker`. Not here: sending requests (`trackers.github_calls`), reading JSON
(`trackers.github_payloads`), what is answered (`bots`).
"""

import hashlib
import hmac
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, Final
from urllib.parse import quote

from postmortem.interfaces.trackers.github_calls import GithubCalls, NotThisIdentity, parse_response
from postmortem.interfaces.trackers.github_links import (
    FILE_HOSTS,
    JOB_HOSTS,
    PUBLIC_WEB,
    iter_attachments,
)
from postmortem.interfaces.trackers.github_payloads import (
    FAILURES,
    open_pull,
    parse_comment,
    parse_commit,
    parse_event,
    parse_thread,
    parse_user,
)
from postmortem.interfaces.trackers.github_settings import GithubSettings
from postmortem.interfaces.trackers.guarded_fetch import GuardedFetch
from postmortem.interfaces.trackers.secret_values import read_webhook_secret
from postmortem.interfaces.trackers.tracker_answers import parse_path_id
from postmortem.interfaces.trackers.tracker_errors import NotThere
from postmortem.interfaces.trackers.tracker_protocol import Tracker
from postmortem.interfaces.trackers.tracker_values import (
    ISSUE,
    IssueComment,
    IssuePlace,
    IssueThread,
    LinkedFile,
    NamedLog,
    TrackerEvent,
    TrackerUser,
)

_WRITERS: Final = frozenset({"admin", "maintain", "write", "triage"})
_MOST_JOBS: Final = 10


class GithubTracker:
    """GitHub under one identity."""

    longest = 65_536

    def __init__(self, name: str, settings: GithubSettings) -> None:
        self.name = name
        self._settings = settings
        self._secret = read_webhook_secret(settings.secret)
        self._calls = GithubCalls(settings)
        own = "" if settings.web_url == PUBLIC_WEB else settings.web_url
        self._files = GuardedFetch((*FILE_HOSTS, *settings.file_hosts), own)
        self._jobs = GuardedFetch((*JOB_HOSTS, *settings.file_hosts), own)
        self._lock = Lock()
        self._myself: TrackerUser | None = None

    def is_authentic(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Compare the signature."""
        signature = headers.get("x-hub-signature-256", "")
        if self._secret is None or not signature:
            return False
        wanted = "sha256=" + hmac.new(self._secret, body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(wanted.encode(), signature.encode("utf-8", "replace"))

    def event(self, headers: Mapping[str, str], body: bytes) -> TrackerEvent:
        """Read a delivery."""
        return parse_event(headers, body)

    def linked_files(self, _place: IssuePlace, text: str) -> Sequence[LinkedFile]:
        """Give what is attached, and gists."""
        return list(dict.fromkeys(iter_attachments(text, self._settings.web_url)))

    def myself(self) -> TrackerUser:
        """Ask once who this is."""
        with self._lock:
            if self._myself is None:
                self._myself = self._fetch_identity()
            return self._myself

    def is_member(self, project: str, account: TrackerUser) -> bool:
        """Say whether somebody has more than the right to read."""
        path = f"/repos/{project}/collaborators/{quote(account.name, safe='')}/permission"
        try:
            answer = self._calls.get(path, project)
        except NotThere:
            return False
        held = {answer.get("permission"), answer.get("role_name")}
        is_same = parse_user(answer.get("user")).identity == account.identity
        return is_same and not held.isdisjoint(_WRITERS)

    def thread(self, place: IssuePlace) -> IssueThread:
        """Read an issue or a pull request."""
        return parse_thread(place, self._calls.get(self._issue(place), place.project))

    def comments(self, place: IssuePlace) -> Iterator[IssueComment]:
        """Read all comments."""
        for value in self._calls.iter_pages(f"{self._issue(place)}/comments", place.project):
            yield parse_comment(value)

    def comment(self, place: IssuePlace, identity: str) -> IssueComment:
        """Read one comment."""
        return parse_comment(self._calls.get(_build_comment_path(place, identity), place.project))

    def place_of_run(self, project: str, run: str) -> IssuePlace | None:
        """Ask for the pull request of a run; of one from a fork, by its commit."""
        answer = self._calls.get(f"/repos/{project}/actions/runs/{_parse_id(run)}", project)
        number = open_pull(answer)
        if number is None:
            path = f"/repos/{project}/commits/{parse_commit(answer)}/pulls"
            number = open_pull(answer, self._calls.iter_pages(path, project))
        return None if number is None else IssuePlace(project, ISSUE, number)

    def run_logs(self, project: str, run: str, most: int) -> Iterator[NamedLog]:
        """Read the logs of the jobs that failed when the workflow last ran."""
        path = f"/repos/{project}/actions/runs/{_parse_id(run)}/jobs"
        jobs = self._calls.iter_pages(path, project, "jobs", filter="latest")
        failed = [job for job in jobs if job.get("conclusion") in FAILURES]
        for job in failed[:_MOST_JOBS]:
            with suppress(NotThere):  # logs are kept for a while only
                where = self._calls.send(
                    "GET", f"/repos/{project}/actions/jobs/{int(job['id'])}/logs", project
                ).headers.get("location", "")
                content = self._jobs.fetch(where, most, is_end_wanted=True)
                yield NamedLog(str(job.get("name", "")), content)

    def fetched(self, file: LinkedFile, most: int) -> bytes:
        """Fetch what is attached."""
        return self._files.fetch(file.url, most)

    def post(self, place: IssuePlace, text: str) -> IssueComment:
        """Write a comment."""
        path = f"{self._issue(place)}/comments"
        return parse_comment(self._written("POST", path, place, {"body": text}))

    def edit(self, place: IssuePlace, identity: str, text: str) -> None:
        """Change a comment."""
        self._written("PATCH", _build_comment_path(place, identity), place, {"body": text})

    def remove(self, place: IssuePlace, identity: str) -> None:
        """Delete a comment."""
        self._calls.send("DELETE", _build_comment_path(place, identity), place.project)

    def relabel(self, place: IssuePlace, add: Collection[str], drop: Collection[str]) -> None:
        """Add labels and take others off."""
        path = f"{self._issue(place)}/labels"
        if add:
            self._calls.send("POST", path, place.project, json={"labels": sorted(add)})
        for label in sorted(drop):
            with suppress(NotThere):
                self._calls.send("DELETE", f"{path}/{quote(label, safe='')}", place.project)

    def close(self) -> None:
        """Nothing is held: each request has a connection of its own."""

    def _written(self, method: str, path: str, place: IssuePlace, body: dict[str, str]) -> Any:
        return parse_response(self._calls.send(method, path, place.project, json=body))

    def _fetch_identity(self) -> TrackerUser:
        if self._calls.is_app:
            name = f"{self._calls.get('/app')['slug']}[bot]"
        else:
            try:
                return parse_user(self._calls.get("/user"))
            except NotThisIdentity:
                name = self._settings.account
        return parse_user(self._calls.get(f"/users/{quote(name, safe='')}"))

    def _issue(self, place: IssuePlace) -> str:
        return f"/repos/{place.project}/issues/{place.number}"


def _build_comment_path(place: IssuePlace, identity: str) -> str:
    return f"/repos/{place.project}/issues/comments/{_parse_id(identity)}"


def _parse_id(text: str) -> int:
    return parse_path_id(text, "GitHub")


def open_tracker(name: str, settings: Mapping[str, Any]) -> Tracker:
    """Open GitHub as the settings say.

    Raises:
        UsageError: a secret is missing.
    """
    return GithubTracker(name, GithubSettings.model_validate(settings))
