"""`postmortem comment`: one comment, posted over HTTP and edited from then on."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from postmortem.interfaces.cli import main
from tests.interfaces.bots import standin_github
from tests.interfaces.trackers.gitlab_server import BOT, PROJECT, TOKEN, Gitlab
from tests.loopback_http import LoopbackServer, Reply, serving

ROOT = Path(__file__).resolve().parents[3]
LOG = ROOT / "sample_logs" / "deepspeed" / "scale-exhausted-yi.log"
OTHER = ROOT / "sample_logs" / "accelerate" / "healthy-loop-0.log"
CAUSE = "numerics.loss-scale-exhausted"


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No token and no server of the machine that runs the tests; no waiting."""
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "GITHUB_API_URL", "CI_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr("postmortem.interfaces.cli.sending_commands._PAUSES", (0.0, 0.0))


@pytest.fixture
def gitlab() -> Gitlab:
    """The state of a GitLab."""
    return Gitlab()


@pytest.fixture
def server(gitlab: Gitlab, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    """A GitLab whose runner runs this."""
    with serving(gitlab.answer) as found:
        monkeypatch.setenv("CI_SERVER_URL", found.url)
        monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
        yield found


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command; gives its exit status and what it said."""
    with pytest.raises(SystemExit) as ended:
        main(["comment", *map(str, arguments)])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_a_merge_request_has_one_comment(
    server: LoopbackServer, gitlab: Gitlab, capsys: pytest.CaptureFixture[str]
) -> None:
    """Posted, kept, edited; another key is another comment."""
    place = f"{PROJECT}!5"
    said = [
        run(capsys, "--gitlab", place, *more)
        for more in ([LOG], [LOG], [LOG, "--lang", "zh"], [OTHER, "--key", "second"])
    ]
    assert [status for status, _, _ in said] == [0] * 4
    hows = [re.search(r"comment (\w+) ", err)[1] for _, _, err in said]  # type: ignore[index]
    assert hows == ["posted", "kept", "edited", "posted"]
    first, second = gitlab.notes["merge_requests/5"]
    assert first["body"].startswith("<!-- postmortem report -->\n### 失败")
    assert CAUSE in first["body"]
    assert second["body"].startswith("<!-- postmortem second -->")
    assert gitlab.notes["issues/4"] == []
    assert f"/-/merge_requests/5#note_{first['id']}" in said[0][2]
    assert server.url in said[0][2]


def test_a_healthy_run_mends_a_comment_and_begins_none(
    server: LoopbackServer, gitlab: Gitlab, capsys: pytest.CaptureFixture[str]
) -> None:
    """With `--only-if failed`."""
    place = ["--gitlab", f"{PROJECT}#4", "--only-if", "failed"]
    assert run(capsys, *place, OTHER)[0] == 0
    assert gitlab.notes["issues/4"] == []
    run(capsys, *place, LOG)
    run(capsys, *place, OTHER)
    (note,) = gitlab.notes["issues/4"]
    assert CAUSE not in note["body"]
    assert note["author"] == BOT


def test_a_busy_tracker_is_asked_again(
    server: LoopbackServer, gitlab: Gitlab, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that wants to be left alone for long is left."""
    gitlab.next_reply = Reply.of({}, 502)
    assert run(capsys, "--gitlab", f"{PROJECT}#4", LOG)[0] == 0
    assert len(gitlab.notes["issues/4"]) == 1
    gitlab.next_reply = Reply.of({}, 429, Retry_After="3600")
    status, _, err = run(capsys, "--gitlab", f"{PROJECT}#4", LOG)
    assert status == 2
    assert "429" in err
    assert TOKEN not in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name one place"),
        (["--gitlab", "a/b#1", "--github", "a/b#1"], "name one place"),
        (["--github", "a/b!1"], "owner/name#12"),
        (["--github", "a/b/c#1"], "owner/name#12"),
        (["--github", "a/..#1"], "owner/name#12"),
        (["--gitlab", "project#1"], "group/project#4"),
        (["--gitlab", "a/b#0"], "group/project#4"),
        (["--gitlab", "a/b#1", "--key", "two words"], "key"),
        (["--gitlab", "a/b#1", "--token", "glpat-xyz"], "env:NAME"),
    ],
)
def test_wrong_calls_are_told(
    server: LoopbackServer,
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is asked of anybody."""
    monkeypatch.setenv("GITHUB_TOKEN", standin_github.TOKEN)
    status, _, err = run(capsys, *arguments, LOG)
    assert (status, server.asked) == (2, [])
    assert said in err
    assert "glpat-xyz" not in err


def test_without_a_token_nothing_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """It says which variables are looked at; a dry run needs none."""
    status, _, err = run(capsys, "--github", "a/b#1", LOG)
    assert status == 2
    assert "GITHUB_TOKEN or GH_TOKEN" in err
    link = ["--link", "https://ci.example.org/r?a=1&b=2"]
    status, out, _ = run(capsys, "--github", "a/b#1", LOG, "--dry-run", *link)
    assert status == 0
    assert CAUSE in out
    assert out.endswith("[Report](<https://ci.example.org/r?a=1&b=2>)\n")


def test_a_workflow_comments_on_its_pull_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own token, which is nobody's, on the server that its runner names."""
    with standin_github.serving() as github:
        github.account.update(id=41898282, login="github-actions[bot]")
        number = github.open_issue("Larger batches")
        github.write(number, "<!-- postmortem report -->\nforged")
        place = ["--github", f"{standin_github.PROJECT}#{number}"]
        monkeypatch.setenv("GITHUB_API_URL", github.url)
        monkeypatch.setenv("GITHUB_TOKEN", standin_github.TOKEN)
        said = [run(capsys, *place, log) for log in (LOG, LOG, OTHER)]
    assert [status for status, _, _ in said] == [0, 0, 0], said
    assert ["posted" in said[0][2], "kept" in said[1][2], "edited" in said[2][2]] == [True] * 3
    assert len(github.own(number)) == 1
    assert github.comments[number][0]["body"].endswith("forged")
    assert standin_github.TOKEN not in "".join(err for _, _, err in said)
