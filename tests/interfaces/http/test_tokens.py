"""Who may ask: tokens, the sessions of browsers, and that nobody is served without them by chance."""

import os
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from postmortem.interfaces.http.client_access import AccessTokens, ClientBuckets, ReaderSessions
from tests.interfaces.http.conftest import LOG, PATIENCE, TOKEN, Serve, Served

TEXT = LOG.read_bytes()
OTHER = "another-token-of-the-tests-987"


@pytest.fixture(scope="module")
def guarded(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """One that knows two tokens, one of them from its environment."""
    path = tmp_path_factory.mktemp("tokens") / "tokens"
    path.write_text(f"# of the tests\n{TOKEN}\n")
    path.chmod(0o600)
    return serve(
        environment={"POSTMORTEM_SERVICE_TOKENS": OTHER},
        token_file=str(path),
        store=str(path.with_name("store.sqlite")),
        limits={"workers": 1},
        rate={"per_minute": 6, "burst": 6},
    )


@pytest.fixture(scope="module")
def for_browsers(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """One that knows a token, and has been guessed at by nobody."""
    path = tmp_path_factory.mktemp("browsers") / "tokens"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    store = str(path.with_name("store.sqlite"))
    return serve(token_file=str(path), store=store, limits={"workers": 1})


def asked(service: Served, token: str = "", **headers: str) -> httpx.Response:
    """What a client gets that bears a token."""
    bearer = {"Authorization": f"Bearer {token}"} if token else {}
    url = f"{service.url}/api/analyze"
    return httpx.post(url, content=TEXT, headers=bearer | headers, timeout=PATIENCE)


@pytest.mark.parametrize("token", [TOKEN, OTHER])
def test_who_holds_a_token_is_answered(guarded: Served, token: str) -> None:
    """Whether it comes from the file or from the environment."""
    assert asked(guarded, token).status_code == 200


def test_who_holds_none_is_told_so_and_soon_refused(guarded: Served) -> None:
    """Guessing is slow; it costs those nothing who hold one."""
    answers = [asked(guarded, f"a-guess-of-a-token-{n}") for n in range(8)]
    assert [one.status_code for one in answers] == [401] * 6 + [429] * 2
    assert answers[0].headers["www-authenticate"] == "Bearer"
    assert set(answers[0].json()["error"]) == {"what", "where", "mend"}
    assert asked(guarded, OTHER).status_code == 200


@pytest.mark.parametrize("path", ["/", "/health", "/openapi.json"])
def test_what_tells_nothing_needs_no_token(guarded: Served, path: str) -> None:
    """The page for pasting asks for it where it is needed."""
    assert httpx.get(guarded.url + path).status_code == 200


def signed_in(service: Served, token: str, to: str = "/triages") -> httpx.Response:
    """What a browser gets that gives a token to the page that asks for it."""
    return httpx.post(f"{service.url}/session", data={"token": token, "to": to}, timeout=PATIENCE)


def test_a_browser_signs_in_and_out(for_browsers: Served) -> None:
    """Its cookie is for nobody else, and for reading alone."""
    page = {"Accept": "text/html"}
    with httpx.Client(base_url=for_browsers.url, headers=page, timeout=PATIENCE) as browser:
        refused = browser.get("/triages")
        assert refused.status_code == 401
        assert 'type="password"' in refused.text
        assert 'value="/triages"' in refused.text
        done = browser.post("/session", data={"token": TOKEN, "to": "/triages"})
        assert (done.status_code, done.headers["location"]) == (303, "/triages")
        cookie = done.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert TOKEN not in cookie
        assert browser.get("/triages").status_code == 200
        assert browser.post("/api/analyze", content=TEXT).status_code == 401
        number = browser.cookies["postmortem_reader"]
        browser.post("/session/end")
        kept = {"Cookie": f"postmortem_reader={number}"}
        assert httpx.get(f"{for_browsers.url}/triages", headers=kept | page).status_code == 401


@pytest.mark.parametrize(
    "to", ["https://evil.example/", "//evil.example/triages", "/\\evil.example", "/session", ""]
)
def test_signing_in_leads_nowhere_else(guarded: Served, to: str) -> None:
    """Whatever the address says."""
    assert signed_in(guarded, TOKEN, to).headers["location"] == "/triages"


def refused(command: list[str], *options: str, **variables: str) -> str:
    """Why a service does not start."""
    environment = {**os.environ, **variables}
    call = [*command, "serve", "--port", "0", "--no-model", *options]
    done = subprocess.run(
        call, capture_output=True, text=True, check=False, env=environment, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    return line


def settings(folder: Path, text: str) -> str:
    """A file of settings."""
    path = folder / "service.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "told",
    [
        pytest.param("host: 0.0.0.0", id="any address"),
        pytest.param("host: '::'", id="any address of IPv6"),
        pytest.param("allowed_hosts: [post.example.org]", id="another name"),
        pytest.param("trusted_proxies: [127.0.0.1]", id="behind a proxy"),
    ],
)
def test_others_are_not_served_without_a_token(
    command: list[str], tmp_path: Path, told: str
) -> None:
    """However they would reach it."""
    line = refused(command, "--config", settings(tmp_path, told))
    assert "no token is set" in line
    assert "--token-file" in line


@pytest.mark.parametrize(
    ("told", "why"),
    [
        pytest.param("prot: 1", "prot: there is no such setting", id="unknown"),
        pytest.param("limits: {body_mib: -1}", "limits.body_mib: input should be", id="range"),
        pytest.param("limits: {nix: 1}\nrate: {burst: 0}", "; rate.burst: ", id="two faults"),
        pytest.param("- a", "no names with values", id="a list"),
        pytest.param("a: [", "not valid YAML", id="no YAML"),
        pytest.param("port: 1\nport: 2", "stands twice", id="twice"),
        pytest.param("token_file: /nowhere/tokens", "cannot be read", id="no tokens"),
        pytest.param("store: mysql://x/y", "mysql", id="no store"),
    ],
)
def test_settings_that_are_wrong_are_told(
    command: list[str], tmp_path: Path, told: str, why: str
) -> None:
    """In one line, all of them."""
    assert why in refused(command, "--config", settings(tmp_path, told))


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        pytest.param("", 0o600, "holds none", id="empty"),
        pytest.param("short", 0o600, "16 to 512", id="short"),
        pytest.param("with a space in the middle", 0o600, "printable", id="a space"),
        pytest.param(TOKEN, 0o644, "chmod 600", id="others may read it"),
    ],
)
def test_a_file_of_tokens_is_looked_at(
    command: list[str], tmp_path: Path, text: str, mode: int, why: str
) -> None:
    """And no token is repeated."""
    path = tmp_path / "tokens"
    path.write_text(text)
    path.chmod(mode)
    line = refused(command, "--token-file", str(path))
    assert why in line
    assert not text or text not in line


def test_an_address_that_is_taken_is_told(command: list[str], service: Served) -> None:
    """By its number."""
    port = str(service.address[1])
    line = refused(command, "--port", port)
    assert port in line


def test_tokens_are_kept_as_hashes() -> None:
    """Nothing of them can be read from memory by their names."""
    tokens = AccessTokens([TOKEN, OTHER, TOKEN])
    assert TOKEN not in repr(vars(tokens))
    assert tokens.find_holder(TOKEN) not in {None, tokens.find_holder(OTHER)}
    assert tokens.find_holder(TOKEN[:-1]) is None
    assert tokens.find_holder("") is None
    assert not AccessTokens().are_needed


def clock(*times: float) -> Any:
    """A clock that tells these times."""
    return iter(times).__next__


def test_a_session_ends_by_itself() -> None:
    """After its hours."""
    sessions = ReaderSessions(1, clock(0.0, 3599.0, 3601.0))
    number = sessions.begin("someone")
    assert sessions.find_holder(number) == "someone"
    assert sessions.find_holder(number) is None
    assert sessions.find_holder("another") is None


def test_what_is_known_of_clients_is_bounded() -> None:
    """Who was silent longest is forgotten; requests come back with time."""
    buckets = ClientBuckets(60, 2, 2, clock(0, 0, 0, 0.5, 1.5, 2, 2, 2))
    assert [buckets.take("a") for _ in range(3)] == [0, 0, 1]
    assert buckets.take("a") == pytest.approx(0.5)
    assert buckets.take("a") == 0
    assert [buckets.take(one) for one in ("b", "c", "a")] == [0, 0, 0]
    assert len(vars(buckets)["_left"]) == 2
