"""Nothing is fetched but from hosts that are allowed, wherever a link or a redirect leads."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from postmortem.core.host.machine import is_public
from postmortem.interfaces.trackers.guarded_fetch import GuardedFetch
from postmortem.interfaces.trackers.tracker_protocol import NotThere, TrackerError, TryLater

MOST = 100_000
PRIVATE = [
    "127.0.0.1",
    "127.8.9.10",
    "0.0.0.0",  # noqa: S104
    "10.0.0.1",
    "172.16.5.5",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "168.63.129.16",
    "192.0.0.1",
    "192.0.0.192",
    "192.88.99.1",
    "::8.8.8.8",
    "::7f00:1",
    "::ffff:8.8.8.8",
    "::ffff:0:8.8.8.8",
    "::ffff:0:169.254.169.254",
    "64:ff9b::10.0.0.1",
    "64:ff9b::168.63.129.16",
    "64:ff9b:1::1",
    "64:ff9b:1:ffff::8.8.8.8",
    "64:ff9b:0:1::8.8.8.8",
    "2002:a83f:8110::1",
    "2002:c058:6301::1",
    "2001:db8::1",
    "2001:2::1",
    "2606:50c0:8000::5efe:192.168.0.1",
    "2606:50c0:8000:0:200:5efe:127.0.0.1",
    "3fff::1",
    "3fff:fff:ffff::1",
    "5f00::1",
    "fec0::1",
    "feff::1",
    "100::1",
    "4000::1",
    "no address",
    "",
]


class _Pages(BaseHTTPRequestHandler):
    """Redirects and files."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer by the path."""
        self.server.seen.append((self.path, self.headers.get("Authorization")))  # type: ignore[attr-defined]
        kind, _, rest = self.path.lstrip("/").partition("/")
        if kind == "to":
            self.send_response(302)
            self.send_header("Location", rest)
            self.end_headers()
            return
        if kind == "status":
            self.send_response(int(rest))
            self.end_headers()
            return
        self.send_response(200)
        if kind == "gzip":  # not to be unpacked on the way
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        for _ in range(int(rest)):
            self.wfile.write(b"x" * 1000)


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    """A server on loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Pages) as made:
        made.seen = []  # type: ignore[attr-defined]
        made.handle_error = lambda *_: None  # type: ignore[method-assign]
        thread = threading.Thread(target=made.serve_forever, args=[0.02], daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def own(server: ThreadingHTTPServer) -> str:
    """Its address, as the operator names it."""
    return f"http://127.0.0.1:{server.server_address[1]}"


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_public_is_known(address: str) -> None:
    """However it is wrapped."""
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "140.82.121.4",
        "168.63.129.17",
        "192.0.1.1",
        "2606:50c0:8000::154",
        "2a00:1450:4001:80b::200e",
        "64:ff9b::140.82.121.4",
        "2002:8c52:7904::1",
    ],
)
def test_a_public_address_is_known(address: str) -> None:
    """GitHub's among them."""
    assert is_public(address)


@pytest.mark.parametrize("address", PRIVATE)
def test_a_name_that_leads_inside_is_not_followed(address: str) -> None:
    """Also when only one of its addresses is private: it is judged before anything is sent."""
    for found in ([address], ["140.82.121.4", address]):
        fetch = GuardedFetch(["files.example"], addresses=lambda *_, found=found: found)
        with pytest.raises(TrackerError, match="not public"):
            fetch.fetch("https://files.example/run.log", MOST)


def test_what_was_judged_is_what_is_asked(own: str) -> None:
    """A name is looked up once: its second answer is never heard."""
    answers = iter([["192.0.2.1"], ["140.82.121.4"]])
    seen = []

    def addresses(host: str, port: int) -> list[str]:
        seen.append((host, port))
        return next(answers)

    fetch = GuardedFetch(["files.example"], own, addresses=addresses)
    with pytest.raises(TrackerError, match="not public"):
        fetch.fetch(f"{own}/to/https://files.example/x", MOST)
    assert seen == [("files.example", 443)]


@pytest.mark.parametrize(
    "url",
    [
        "http://files.example/run.log",
        "https://files.example:8443/run.log",
        "https://user@files.example/run.log",
        "https://user:pass@files.example/run.log",
        "https://evil.example/run.log",
        "https://files.example.evil.example/",
        "https://evilfiles.example/",
        "https://sub.files.example/",
        "https://logs.example/",
        "https://a.b.logs.example/",
        "https://169.254.169.254/latest/meta-data/",
        "http://169.254.169.254/latest/meta-data/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://2130706433/",
        "https://0x7f.1/",
        "http://localhost/",
        "file:///etc/passwd",
        "ftp://files.example/x",
        "gopher://files.example/x",
        "//evil.example/x",
        "https:///x",
        "https://files.example\\@evil.example/",
        "https://files.example#@evil.example",
        "",
    ],
)
def test_what_is_not_allowed_is_neither_asked_nor_followed(
    url: str, own: str, server: ThreadingHTTPServer
) -> None:
    """As a link, and as where a redirect of the tracker's own server leads."""
    asked = []

    def addresses(host: str, _: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    fetch = GuardedFetch(["files.example", "*.logs.example"], own, addresses=addresses)
    is_harmless = url.endswith("#@evil.example")  # a fragment is sent to nobody
    assert fetch.allows(url) is is_harmless
    for start in (url, f"{own}/to/{url}"):
        with pytest.raises((TrackerError, TryLater)):
            fetch.fetch(start, MOST)
    assert asked == (["files.example"] * 2 if is_harmless else [])
    assert all(path.startswith("/to/") for path, _ in server.seen if path.strip("/"))  # type: ignore[attr-defined]


def test_allowed_hosts_are_allowed() -> None:
    """By name, and one label below a star."""
    fetch = GuardedFetch(["Files.example", "*.logs.example"], "https://git.example:8443")
    for url in (
        "https://files.example/x",
        "https://FILES.example:443/x?y=z",
        "https://a.logs.example/x",
        "https://git.example:8443/x",
    ):
        assert fetch.allows(url), url
    assert not fetch.allows("https://git.example/x")
    assert not fetch.allows("http://git.example:8443/x")


def test_what_is_too_large_is_not_read_to_its_end(own: str) -> None:
    """Whatever was claimed; of a job's log the end is kept, up to a bound."""
    fetch = GuardedFetch([], own)
    assert len(fetch.fetch(f"{own}/file/100", MOST)) == 100_000
    with pytest.raises(TrackerError, match="more than 100,000 bytes"):
        fetch.fetch(f"{own}/file/101", MOST)
    assert len(fetch.fetch(f"{own}/file/1500", MOST, is_end_wanted=True)) == MOST
    with pytest.raises(TrackerError, match="more than"):
        fetch.fetch(f"{own}/file/1000000", MOST, is_end_wanted=True)


def test_what_is_packed_on_the_way_stays_packed(own: str) -> None:
    """The header of an answer unpacks nothing: the bytes are counted as they are."""
    assert GuardedFetch([], own).fetch(f"{own}/gzip/3", MOST) == b"x" * 3000


def test_credentials_stay_with_the_own_server(own: str, server: ThreadingHTTPServer) -> None:
    """No redirect carries them away; elsewhere the name stands in TLS and in Host."""
    fetch = GuardedFetch(["files.example"], own, addresses=lambda *_: ["140.82.121.4"])
    told = {"Authorization": "secret"}
    fetch.fetch(f"{own}/to/{own}/file/1", MOST, headers=told)
    assert [token for _, token in server.seen] == ["secret", "secret"]  # type: ignore[attr-defined]
    request = fetch._request(httpx.URL("https://files.example/x"), told)
    assert "authorization" not in request.headers
    assert (request.url.host, request.headers["host"]) == ("140.82.121.4", "files.example")
    assert request.extensions["sni_hostname"] == "files.example"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("status/404", NotThere),
        ("status/410", NotThere),
        ("status/403", TrackerError),
        ("status/204", TrackerError),
        ("status/500", TryLater),
        ("status/429", TryLater),
        ("to//to//to//to//to//to//to/file/1", TrackerError),
    ],
)
def test_what_is_no_file_is_told(own: str, path: str, kind: type[TrackerError]) -> None:
    """By what to do about it."""
    with pytest.raises(TrackerError) as raised:
        GuardedFetch([], own).fetch(f"{own}/{path}", MOST)
    assert type(raised.value) is kind


def test_who_does_not_answer_is_asked_later(own: str, server: ThreadingHTTPServer) -> None:
    """A host that is gone."""
    server.shutdown()
    server.server_close()
    with pytest.raises(TryLater):
        GuardedFetch([], own).fetch(f"{own}/file/1", MOST)
