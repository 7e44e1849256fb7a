"""GitHub, and GitHub Enterprise Server, as a tracker.

In: settings. Out: `Tracker`; the links in an issue to files stored by GitHub. Not here: sending
requests and reading JSON (`trackers.github_api`), what is answered (`bots`).
"""

import hashlib
import hmac
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final
from urllib.parse import quote, unquote

from postmortem.core.log_text import compile_lazily
from postmortem.interfaces.trackers.github_api import (
    FAILURES,
    GithubCalls,
    GithubSettings,
    NotThisIdentity,
    open_pull,
    parse_comment,
    parse_commit,
    parse_event,
    parse_response,
    parse_thread,
    parse_user,
)
from postmortem.interfaces.trackers.guarded_fetch import GuardedFetch
from postmortem.interfaces.trackers.tracker_checks import (
    MOST_JOBS,
    NO_LOGS,
    TrackerBase,
    parse_path_id,
)
from postmortem.interfaces.trackers.tracker_protocol import (
    ISSUE,
    IssueComment,
    IssuePlace,
    IssueThread,
    LinkedFile,
    NamedLog,
    NotThere,
    Tracker,
    TrackerUser,
)

FILE_HOSTS: Final = (
    "github.com",
    "gist.github.com",
    "gist.githubusercontent.com",
    "raw.githubusercontent.com",
    "objects.githubusercontent.com",
    "github-production-repository-file-5c1aeb.s3.amazonaws.com",
    "github-production-user-asset-6210df.s3.amazonaws.com",
)
"""Where links to attached files lead in the end."""
JOB_HOSTS: Final = ("*.actions.githubusercontent.com", "*.blob.core.windows.net")
"""Where the logs of jobs are; only GitHub's own API names an address there."""
PUBLIC_WEB: Final = "https://github.com"
_GISTS: Final = "https://gist.github.com"
_LINK: Final = compile_lazily(r"https?://[^\s()<>\[\]\"'`]{1,500}")
_ATTACHED: Final = compile_lazily(
    r"/user-attachments/files/\d{1,20}/([^/?#]{1,200})"
    r"|/[\w.-]{1,100}/[\w.-]{1,100}/files/\d{1,20}/([^/?#]{1,200})",
    re.ASCII,
)
_GIST: Final = compile_lazily(r"/[\w-]{1,60}/[0-9a-f]{20,40}", re.ASCII)
_parse_id: Final = partial(parse_path_id, tracker="GitHub")


def iter_attachments(text: str, web_url: str) -> Iterator[LinkedFile]:
    """Yield links to attached files and to gists, but for pictures and papers."""
    for match in _LINK.finditer(text):
        link = match[0].rstrip(".,;:!?*_")
        path = link.removeprefix(web_url)
        if path != link and (found := _ATTACHED.fullmatch(path)):
            name = unquote(found[1] or found[2])
            if not name.lower().endswith(NO_LOGS):
                yield LinkedFile(name, link)
        path = link.removeprefix(_GISTS)
        if path != link and web_url == PUBLIC_WEB and _GIST.fullmatch(path):
            yield LinkedFile("gist", f"{link}/raw")


_WRITERS: Final = frozenset({"admin", "maintain", "write", "triage"})


class GithubTracker(TrackerBase):
    """GitHub under one identity."""

    longest = 65_536
    event = staticmethod(parse_event)

    def __init__(self, name: str, settings: GithubSettings) -> None:
        super().__init__(name, settings.secret)
        self._settings = settings
        self._calls = GithubCalls(settings)
        own = "" if settings.web_url == PUBLIC_WEB else settings.web_url
        self._files = GuardedFetch((*FILE_HOSTS, *settings.file_hosts), own)
        self._jobs = GuardedFetch((*JOB_HOSTS, *settings.file_hosts), own)

    def is_authentic(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Compare the signature."""
        signature = headers.get("x-hub-signature-256", "")
        if self._secret is None or not signature:
            return False
        wanted = "sha256=" + hmac.new(self._secret, body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(wanted.encode(), signature.encode("utf-8", "replace"))

    def linked_files(self, _place: IssuePlace, text: str) -> Sequence[LinkedFile]:
        """Give what is attached, and gists."""
        return list(dict.fromkeys(iter_attachments(text, self._settings.web_url)))

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
        for job in failed[:MOST_JOBS]:
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


def open_tracker(name: str, settings: Mapping[str, Any]) -> Tracker:
    """Open GitHub as the settings say.

    Raises:
        UsageError: a secret is missing.
    """
    return GithubTracker(name, GithubSettings.model_validate(settings))
