"""A stand-in for GitLab: a project with issues, merge requests, pipelines and uploads.

In: requests of its REST API, as docs.gitlab.com describes it. Out: its answers, with its pages and
its refusals. Not here: webhooks, which GitLab sends (`gitlab_deliveries`).
"""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from tests.loopback_http import RecordedRequest, Reply

TOKEN = "glpat-of-the-bot"  # noqa: S105 -- of a stand-in
BOT = {"id": 77, "username": "project_5_bot_3f2a", "name": "postmortem"}
ADA = {"id": 3, "username": "ada", "name": "Ada"}
PROJECT = "ml/team/training"
SECRET = "66dbcd21ec5d24ed6ea225176098d52b"  # noqa: S105 -- of a stand-in


class Gitlab:
    """Its state, which tests look at and change."""

    def __init__(self) -> None:
        """Have an issue and a merge request, with a note that GitLab wrote itself."""
        self.threads: dict[str, dict[str, Any]] = {
            "issues/4": _thread(4, "It fails", f"See [run.log](/uploads/{SECRET}/run.log)"),
            "merge_requests/5": _thread(5, "Larger batches", None),
        }
        self.notes: dict[str, list[dict[str, Any]]] = {"issues/4": [], "merge_requests/5": []}
        self.uploads = {f"{SECRET}/run.log": b"RuntimeError: CUDA error"}
        self.pipelines = {9: {"id": 9, "ref": "larger-batches", "sha": "ab12cd34" * 5}}
        self.of_commit = [{"iid": 2, "state": "merged"}, {"iid": 5, "state": "opened"}]
        self.jobs = [_job(31, "train", "failed"), _job(32, "lint", "failed", allow_failure=True)]
        self.traces = {31: b"line 1\nRuntimeError: x\n", 32: b"style"}
        self.members = {3: 30, 8: 10}
        self.next_reply: Reply | None = None
        """Answered in place of whatever is asked next."""
        self._last_note = 100

    def note(self, place: str, author: dict[str, Any], text: str, **more: Any) -> dict[str, Any]:
        """Write a note."""
        self._last_note += 1
        number = self._last_note
        when = f"2026-11-23T08:{number // 60 % 60:02}:{number % 60:02}.000+02:00"
        found = {"id": number, "body": text, "author": author, "created_at": when, "system": False}
        self.notes[place].append(found | more)
        return self.notes[place][-1]

    def answer(self, request: RecordedRequest) -> Reply:
        """Answer as GitLab does."""
        if self.next_reply is not None:
            reply, self.next_reply = self.next_reply, None
            return reply
        if request.headers.get("private-token") != TOKEN:
            return Reply.of({"message": "401 Unauthorized"}, 401)
        path = request.path.removeprefix("/api/v4")
        if path == "/user":
            return Reply.of(BOT)
        head, _, rest = path.removeprefix("/projects/").partition("/")
        if unquote(head) != PROJECT or "/" in head:
            return Reply.of({"message": "404 Project Not Found"}, 404)
        for pattern, way in self._ways().items():
            if found := re.fullmatch(pattern, f"{request.method} {rest}"):
                return way(request, *found.groups())
        return Reply.of({"error": "404 Not Found"}, 404)

    def _ways(self) -> dict[str, Callable[..., Reply]]:
        place = r"((?:issues|merge_requests)/\d+)"
        return {
            rf"GET {place}": lambda _, at: _found(self.threads.get(at)),
            rf"PUT {place}": self._relabelled,
            rf"GET {place}/notes": lambda request, at: _page(request, self.notes.get(at)),
            rf"POST {place}/notes": self._posted,
            rf"GET {place}/notes/(\d+)": lambda _, at, number: _found(self._one(at, number)),
            rf"PUT {place}/notes/(\d+)": self._edited,
            rf"DELETE {place}/notes/(\d+)": self._removed,
            r"GET members/all/(\d+)": self._member,
            r"GET pipelines/(\d+)": lambda _, number: _found(self.pipelines.get(int(number))),
            r"GET pipelines/\d+/jobs": self._listed_jobs,
            r"GET jobs/(\d+)/trace": lambda _, number: _file(self.traces.get(int(number))),
            r"GET repository/commits/\w+/merge_requests": lambda request: _page(
                request, self.of_commit
            ),
            r"GET uploads/([0-9a-f]{32}/.+)": lambda _, name: _file(
                self.uploads.get(unquote(name))
            ),
        }

    def _one(self, at: str, number: str) -> dict[str, Any] | None:
        return next((one for one in self.notes.get(at, []) if one["id"] == int(number)), None)

    def _posted(self, request: RecordedRequest, at: str) -> Reply:
        if at not in self.notes:
            return Reply.of({"message": "404 Not found"}, 404)
        return Reply.of(self.note(at, BOT, request.value()["body"]), 201)

    def _edited(self, request: RecordedRequest, at: str, number: str) -> Reply:
        one = self._one(at, number)
        if one is None:
            return Reply.of({"message": "404 Not found"}, 404)
        one["body"] = request.value()["body"]
        return Reply.of(one)

    def _removed(self, _request: RecordedRequest, at: str, number: str) -> Reply:
        one = self._one(at, number)
        if one is None:
            return Reply.of({"message": "404 Not found"}, 404)
        self.notes[at].remove(one)
        return Reply(204)

    def _relabelled(self, request: RecordedRequest, at: str) -> Reply:
        body = request.value()
        labels = self.threads[at]["labels"]
        drop = body.get("remove_labels", "").split(",")
        add = [one for one in body.get("add_labels", "").split(",") if one]
        self.threads[at]["labels"] = [one for one in labels if one not in drop] + add
        return Reply.of(self.threads[at])

    def _member(self, _request: RecordedRequest, number: str) -> Reply:
        level = self.members.get(int(number))
        if level is None:
            return Reply.of({"message": "404 Not found"}, 404)
        return Reply.of({"id": int(number), "access_level": level, "state": "active"})

    def _listed_jobs(self, request: RecordedRequest) -> Reply:
        wanted = request.query.get("scope")
        return _page(request, [job for job in self.jobs if wanted in {None, job["status"]}])


def _thread(number: int, title: str, text: str | None) -> dict[str, Any]:
    return {
        "id": 1000 + number,
        "iid": number,
        "title": title,
        "description": text,
        "state": "opened",
        "author": ADA,
        "labels": ["bug"],
    }


def _job(number: int, name: str, status: str, **more: Any) -> dict[str, Any]:
    return {"id": number, "name": name, "status": status, "allow_failure": False, **more}


def _found(value: object) -> Reply:
    return Reply.of({"message": "404 Not found"}, 404) if value is None else Reply.of(value)


def _file(content: bytes | None) -> Reply:
    return _found(None) if content is None else Reply(200, content)


def _page(request: RecordedRequest, items: list[Any] | None) -> Reply:
    """Give one page, and the address of the next as GitLab does: by its own name of itself."""
    if items is None:
        return _found(None)
    size, page = int(request.query.get("per_page", 20)), int(request.query.get("page", 1))
    shown = items[(page - 1) * size : page * size]
    headers = {"X_Page": str(page), "X_Per_Page": str(size)}
    if page * size < len(items):
        query = "&".join(
            f"{name}={value}" for name, value in {**request.query, "page": page + 1}.items()
        )
        there = f"https://gitlab.internal.example{request.path}?{query}"
        headers |= {"Link": f'<{there}>; rel="next"', "X_Next_Page": str(page + 1)}
    return Reply.of(shown, **headers)
