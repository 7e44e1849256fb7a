"""A GitHub of one's own, on loopback: what the bot asks of it, and what it can be made to do wrong.

Its answers have the fields that GitHub's published schemas require of them, as far as anybody reads
them. All that was asked is kept; all that stands there can be looked at.
"""

import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import jwt

Json = dict[str, Any]
BOT = {"id": 900, "login": "postmortem[bot]", "type": "Bot"}
ADA = {"id": 1, "login": "ada", "type": "User"}
EVE = {"id": 2, "login": "eve", "type": "User"}
MAX = {"id": 3, "login": "max", "type": "User"}
"""May write to the project."""
PROJECT = "acme/train"
TOKEN = "ghp_" + "a1B2" * 9
INSTALLED = "ghs_" + "c3D4" * 9


@dataclass
class Fault:
    """What is done instead of an answer, so many times."""

    method: str
    path: str
    """A pattern."""
    times: int = 1
    status: int = 0
    """Answered; 0: the connection is closed without an answer."""
    headers: Json = field(default_factory=dict)
    message: str = "made to fail"
    is_done: bool = False
    """The request is carried out all the same."""
    is_held: bool = False
    """It waits, before it fails, until it is let go."""
    is_done_late: bool = False
    """Once it is let go it is carried out and answered as if nothing had been."""
    skip: int = 0
    """So many such requests are answered as usual before."""
    reached: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)


@dataclass
class StandIn:
    """The state of it all."""

    url: str = ""
    account: Json = field(default_factory=lambda: dict(BOT))
    issues: dict[int, Json] = field(default_factory=dict)
    comments: dict[int, list[Json]] = field(default_factory=dict)
    members: set[str] = field(default_factory=lambda: {"max"})
    runs: dict[int, Json] = field(default_factory=dict)
    jobs: dict[int, list[Json]] = field(default_factory=dict)
    pulls: dict[str, list[Json]] = field(default_factory=dict)
    """By commit."""
    files: dict[str, tuple[int, Json, bytes]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path, the kind of credentials."""
    public_key: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1000))

    def open_issue(self, text: str, author: Json | None = None, **other: Any) -> int:
        """Have somebody open an issue; gives its number."""
        with self.lock:
            number = next(self.numbers)
            self.issues[number] = {
                "number": number,
                "title": other.pop("title", "It fails"),
                "body": text,
                "user": author or ADA,
                "labels": [],
                "state": "open",
                **other,
            }
            self.comments[number] = []
            return number

    def write(self, number: int, text: str, author: Json | None = None) -> Json:
        """Have somebody write a comment."""
        with self.lock:
            identity = next(self.numbers)
            comment = {
                "id": identity,
                "body": text,
                "user": author or ADA,
                "created_at": f"2026-01-01T{identity // 3600 % 24:02}:{identity // 60 % 60:02}:{identity % 60:02}Z",
                "html_url": f"{self.url}/{PROJECT}/issues/{number}#issuecomment-{identity}",
                "author_association": "NONE",
            }
            self.comments[number].append(comment)
            return comment

    def own(self, number: int) -> list[str]:
        """The texts of the bot's comments under an issue."""
        with self.lock:
            mine = self.account["id"]
            return [c["body"] for c in self.comments[number] if c["user"]["id"] == mine]

    def labels(self, number: int) -> list[str]:
        """The labels of an issue."""
        return [label["name"] for label in self.issues[number]["labels"]]

    def count(self, method: str, path: str) -> int:
        """How often something was asked."""
        return sum(m == method and bool(re.search(path, p)) for m, p, _ in self.asked)

    def fail(self, method: str, path: str, **how: Any) -> Fault:
        """Have the next such request fail."""
        fault = Fault(method, path, **how)
        with self.lock:
            self.faults.append(fault)
        return fault

    def fault_for(self, method: str, path: str) -> Fault | None:
        """Take the fault that a request meets."""
        with self.lock:
            for fault in self.faults:
                if fault.times and fault.method == method and re.search(fault.path, path):
                    fault.times, fault.skip = fault.times - (not fault.skip), fault.skip - 1
                    if fault.skip < 0:
                        fault.skip = 0
                        return fault
            return None


Answer = tuple[int, Json, Any]
Route = Callable[[StandIn, "re.Match[str]", Json, Json], Answer]
_ROUTES: list[tuple[str, "re.Pattern[str]", Route]] = []
_REPO = f"/repos/{PROJECT}"


def route(method: str, pattern: str) -> Callable[[Route], Route]:
    """Note what answers a kind of request."""

    def noted(function: Route) -> Route:
        _ROUTES.append((method, re.compile(pattern), function))
        return function

    return noted


def missing() -> Answer:
    """What GitHub says of what is not there."""
    return 404, {}, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"}


def paged(items: list[Any], query: Json) -> list[Any]:
    """A page of a list."""
    size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
    return items[(page - 1) * size : page * size]


@route("GET", "/user")
def _user(standin: StandIn, *_: Any) -> Answer:
    if standin.account["type"] == "Bot":
        return 403, {}, {"message": "Resource not accessible by integration"}
    return 200, {}, standin.account


@route("GET", "/app")
def _app(standin: StandIn, *_: Any) -> Answer:
    return 200, {}, {"id": 77, "slug": standin.account["login"].removesuffix("[bot]")}


@route("GET", "/users/(.+)")
def _users(standin: StandIn, found: "re.Match[str]", *_: Any) -> Answer:
    is_mine = unquote(found[1]) == standin.account["login"]
    return (200, {}, standin.account) if is_mine else missing()


@route("GET", f"{_REPO}/installation")
def _installation(*_: Any) -> Answer:
    return 200, {}, {"id": 5}


@route("GET", "/app/installations")
def _installations(*_: Any) -> Answer:
    return 200, {}, [{"id": 5}]


@route("POST", "/app/installations/5/access_tokens")
def _access(*_: Any) -> Answer:
    answer = {"token": INSTALLED, "expires_at": "2099-01-01T00:00:00Z"}
    return 201, {}, {**answer, "permissions": {}, "repository_selection": "all"}


@route("GET", _REPO + r"/issues/(\d+)")
def _issue(standin: StandIn, found: "re.Match[str]", *_: Any) -> Answer:
    issue = standin.issues.get(int(found[1]))
    return (200, {}, issue) if issue else missing()


@route("GET", _REPO + r"/issues/(\d+)/comments")
def _comments(standin: StandIn, found: "re.Match[str]", query: Json, _: Json) -> Answer:
    number = int(found[1])
    if number not in standin.issues:
        return missing()
    return 200, {}, paged(standin.comments[number], query)


@route("POST", _REPO + r"/issues/(\d+)/comments")
def _post(standin: StandIn, found: "re.Match[str]", _: Json, body: Json) -> Answer:
    number = int(found[1])
    if number not in standin.issues:
        return missing()
    if len(body["body"].encode("utf-16-le")) // 2 > 65_536:
        return 422, {}, {"message": "Validation Failed"}
    return 201, {}, standin.write(number, body["body"], standin.account)


def _place(standin: StandIn, identity: int) -> tuple[list[Json], Json] | None:
    for listed in standin.comments.values():
        for comment in listed:
            if comment["id"] == identity:
                return listed, comment
    return None


@route("GET", _REPO + r"/issues/comments/(\d+)")
def _comment(standin: StandIn, found: "re.Match[str]", *_: Any) -> Answer:
    place = _place(standin, int(found[1]))
    return (200, {}, place[1]) if place else missing()


@route("PATCH", _REPO + r"/issues/comments/(\d+)")
def _edit(standin: StandIn, found: "re.Match[str]", _: Json, body: Json) -> Answer:
    place = _place(standin, int(found[1]))
    if place is None:
        return missing()
    if place[1]["user"]["id"] != standin.account["id"]:
        return 403, {}, {"message": "Resource not accessible"}
    place[1]["body"] = body["body"]
    return 200, {}, place[1]


@route("DELETE", _REPO + r"/issues/comments/(\d+)")
def _delete(standin: StandIn, found: "re.Match[str]", *_: Any) -> Answer:
    place = _place(standin, int(found[1]))
    if place is None:
        return missing()
    place[0].remove(place[1])
    return 204, {}, None


@route("POST", _REPO + r"/issues/(\d+)/labels")
def _label(standin: StandIn, found: "re.Match[str]", _: Json, body: Json) -> Answer:
    labels = standin.issues[int(found[1])]["labels"]
    known = {label["name"] for label in labels}
    labels += [{"name": name} for name in body["labels"] if name not in known]
    return 200, {}, labels


@route("DELETE", _REPO + r"/issues/(\d+)/labels/(.+)")
def _unlabel(standin: StandIn, found: "re.Match[str]", *_: Any) -> Answer:
    issue = standin.issues[int(found[1])]
    kept = [label for label in issue["labels"] if label["name"] != unquote(found[2])]
    if len(kept) == len(issue["labels"]):
        return missing()
    issue["labels"] = kept
    return 200, {}, kept


@route("GET", _REPO + r"/collaborators/([^/]+)/permission")
def _permission(standin: StandIn, found: "re.Match[str]", *_: Any) -> Answer:
    user = next((one for one in (ADA, EVE, MAX) if one["login"] == found[1]), None)
    held = "write" if found[1] in standin.members else "read"
    return 200, {}, {"permission": held, "role_name": held, "user": user}


@route("GET", _REPO + r"/actions/runs/(\d+)")
def _run(standin: StandIn, found: "re.Match[str]", *_: Any) -> Answer:
    run = standin.runs.get(int(found[1]))
    return (200, {}, run) if run else missing()


@route("GET", _REPO + r"/actions/runs/(\d+)/jobs")
def _jobs(standin: StandIn, found: "re.Match[str]", query: Json, _: Json) -> Answer:
    jobs = standin.jobs.get(int(found[1]), [])
    return 200, {}, {"total_count": len(jobs), "jobs": paged(jobs, query)}


@route("GET", _REPO + r"/actions/jobs/(\d+)/logs")
def _logs(standin: StandIn, found: "re.Match[str]", *_: Any) -> Answer:
    return 302, {"Location": f"{standin.url}/job-logs/{found[1]}"}, None


@route("GET", _REPO + r"/commits/([0-9a-f]+)/pulls")
def _pulls(standin: StandIn, found: "re.Match[str]", query: Json, _: Json) -> Answer:
    return 200, {}, paged(standin.pulls.get(found[1], []), query)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    standin: StandIn

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _serve(self) -> None:
        split = urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        credentials = self.headers.get("authorization", "").partition(" ")
        standin = self.standin
        with standin.lock:
            standin.asked.append((self.command, split.path, credentials[0]))
        fault = standin.fault_for(self.command, split.path)
        if fault is None:
            self._answer(*self._done(split, credentials, body))
            return
        if fault.is_done:
            self._done(split, credentials, body)
        fault.reached.set()
        if fault.is_held:
            fault.let_go.wait(120)
        if fault.is_done_late:
            self._answer(*self._done(split, credentials, body))
            return
        if fault.status:
            self._answer(fault.status, fault.headers, {"message": fault.message})
        self.close_connection = True

    do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815

    def _done(self, split: Any, credentials: tuple[str, str, str], body: bytes) -> Answer:
        standin = self.standin
        if split.path in standin.files:
            return standin.files[split.path]
        if split.path.startswith("/job-logs/"):
            return missing()
        if not self._is_known(split.path, credentials[2]):
            return 401, {}, {"message": "Bad credentials"}
        query = {name: values[-1] for name, values in parse_qs(split.query).items()}
        for method, pattern, function in _ROUTES:
            found = pattern.fullmatch(split.path)
            if method == self.command and found:
                with standin.lock:
                    return function(standin, found, query, json.loads(body) if body else {})
        return missing()

    def _is_known(self, path: str, token: str) -> bool:
        """Tell whether credentials are right: the app's own routes take its JWT alone."""
        if path.startswith("/app") or path.endswith("/installation"):
            try:
                claims = jwt.decode(token, self.standin.public_key, algorithms=["RS256"])
            except jwt.PyJWTError:
                return False
            return str(claims["iss"]) == "77"
        return token in {TOKEN, INSTALLED}

    def _answer(self, status: int, headers: Json, content: Any) -> None:
        body = (
            content
            if isinstance(content, bytes)
            else b""
            if content is None
            else json.dumps(content).encode()
        )
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: Any) -> None:
        """A client that was killed is no fault of the server."""


@contextmanager
def serving() -> Iterator[StandIn]:
    """Serve on a free port of loopback."""
    standin = StandIn()
    handler = type("_Bound", (_Handler,), {"standin": standin})
    with _Server(("127.0.0.1", 0), handler) as server:
        standin.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=[0.02], daemon=True)
        thread.start()
        try:
            yield standin
        finally:
            for fault in standin.faults:
                fault.let_go.set()
            server.shutdown()
            thread.join()
