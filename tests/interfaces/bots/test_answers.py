"""What stands under an issue in the end, whatever went wrong on the way."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from sqlalchemy import text

from postmortem.fleet.store import open_store
from postmortem.interfaces.trackers.bot_comment import mark_of, update_or_create_comment
from postmortem.interfaces.trackers.tracker_kinds import create_tracker
from postmortem.interfaces.trackers.tracker_protocol import ISSUE, IssuePlace, TryLater
from tests.interfaces.bots.conftest import Bot
from tests.interfaces.bots.deliveries import (
    MISSING,
    OOM,
    UNCLEAR,
    commented,
    fenced,
    opened,
    run_failed,
)
from tests.interfaces.bots.standin_github import (
    ADA,
    BOT,
    EVE,
    INSTALLED,
    MAX,
    PROJECT,
    TOKEN,
    StandIn,
)

MARK = mark_of("verdict")
LATE = pytest.mark.parametrize(
    ("status", "headers", "message"),
    [
        pytest.param(500, {}, "oops", id="500"),
        pytest.param(502, {}, "bad gateway", id="502"),
        pytest.param(403, {"Retry-After": "1"}, "secondary rate limit", id="secondary limit"),
        pytest.param(
            403,
            {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"},
            "API rate limit exceeded",
            id="primary limit",
        ),
        pytest.param(429, {"Retry-After": "1"}, "slow down", id="429"),
        pytest.param(429, {}, "slow down", id="429 without a time"),
        pytest.param(0, {}, "", id="no answer"),
    ],
)


def is_oom(text: str) -> bool:
    """Whether a comment is the one that the log deserves."""
    return text.startswith(MARK) and "`memory.cuda-oom`" in text


def test_an_issue_with_a_plain_cause_is_answered(bot: Any, standin: StandIn) -> None:
    """Once; delivered again, nothing happens, and nothing is asked."""
    number = standin.open_issue(fenced(OOM))
    payload = opened(standin, number)
    assert bot.deliver("issues", payload, "d-1") == 202
    assert bot.settle() == ["done"]
    asked = len(standin.asked)
    assert bot.deliver("issues", payload, "d-1") == 200
    assert bot.settle() == ["done"]
    assert len(standin.asked) == asked
    (text,) = standin.own(number)
    assert is_oom(text)


def test_what_is_no_log_is_met_with_silence(bot: Any, standin: StandIn) -> None:
    """No log, no training log, a run that is well, a cause that is not shown: no word."""
    texts = ["Please add a feature", fenced("import torch\nprint(1)\n"), fenced(UNCLEAR)]
    texts += [fenced("{'loss': 1.92, 'epoch': 0.01}\n{'loss': 1.82, 'epoch': 0.02}\n")]
    numbers = [standin.open_issue(text) for text in texts]
    for number in numbers:
        bot.told("issues", opened(standin, number))
    assert [standin.own(number) for number in numbers] == [[], [], [], []]
    assert standin.count("POST", "") == 0


def test_who_commands_is_answered(bot: Any, standin: StandIn) -> None:
    """Without a log with what is needed; unsure with what would decide."""
    empty, unclear = standin.open_issue("It fails"), standin.open_issue(fenced(UNCLEAR))
    for number in (empty, unclear):
        comment = standin.write(number, "@postmortem analyze")
        assert bot.told("issue_comment", commented(standin, number, comment))[-1] == "done"
    assert "There is no log here" in standin.own(empty)[0]
    assert "cannot be told from this log" in standin.own(unclear)[0]


def test_asking_when_unsure_is_a_setting(new_bot: Callable[..., Any], standin: StandIn) -> None:
    """A failed run is asked about; what is no failure still is not."""
    bot = new_bot(when_unsure="ask")
    unclear, none = standin.open_issue(fenced(UNCLEAR)), standin.open_issue("a wish")
    for number in (unclear, none):
        bot.told("issues", opened(standin, number))
    assert (len(standin.own(unclear)), standin.own(none)) == (1, [])


def test_the_threshold_is_a_setting(new_bot: Callable[..., Any], standin: StandIn) -> None:
    """Below it nothing is said."""
    bot = new_bot(threshold=0.999)
    number = standin.open_issue(fenced(OOM))
    assert bot.told("issues", opened(standin, number)) == ["quiet"]
    assert standin.own(number) == []


def test_a_chinese_issue_is_answered_in_chinese(bot: Any, standin: StandIn) -> None:
    """By its words, not by its log."""
    number = standin.open_issue(
        fenced(OOM, "训练到一半就停了，显存应该是够的，请帮忙看看。"), title="训练失败"
    )
    bot.told("issues", opened(standin, number))
    (text,) = standin.own(number)
    assert "失败" in text
    comment = standin.write(number, "@postmortem 解释 memory.cuda-oom")
    bot.told("issue_comment", commented(standin, number, comment))
    assert standin.own(number)[1].startswith(mark_of(f"explain:{comment['id']}"))
    assert "显存" in standin.own(number)[1]


def test_an_edited_log_changes_the_same_comment(bot: Any, standin: StandIn) -> None:
    """And a log that was taken away as well; what says the same is not written again."""
    number = standin.open_issue(fenced(OOM))
    bot.told("issues", opened(standin, number))
    bot.told("issues", opened(standin, number, "edited"))
    assert standin.count("PATCH", "") == 0
    first = standin.comments[number][0]["id"]
    standin.issues[number]["body"] = fenced(MISSING)
    bot.told("issues", opened(standin, number, "edited"))
    (text,) = standin.own(number)
    assert "`environment.missing-package`" in text
    standin.issues[number]["body"] = "solved"
    bot.told("issues", opened(standin, number, "edited"))
    (text,) = standin.own(number)
    assert "There is no log here" in text
    assert standin.comments[number][0]["id"] == first


def test_what_waits_is_answered_once(bot: Any, standin: StandIn) -> None:
    """Ten deliveries, one look, by what stands there then."""
    number = standin.open_issue(fenced(MISSING))
    for _ in range(10):
        bot.deliver("issues", opened(standin, number, "edited"))
    standin.issues[number]["body"] = fenced(OOM)
    assert bot.settle() == ["done"] * 10
    assert [is_oom(text) for text in standin.own(number)] == [True]
    assert standin.count("GET", rf"/issues/{number}$") == 1


@LATE
@pytest.mark.parametrize(
    ("method", "path"),
    [
        pytest.param("GET", r"/issues/\d+$", id="issue"),
        pytest.param("GET", r"/comments$", id="comments"),
        pytest.param("GET", r"/user$", id="who"),
        pytest.param("POST", r"/comments$", id="post"),
    ],
)
def test_what_fails_for_a_while_is_tried_again(
    bot: Any, standin: StandIn, method: str, path: str, status: int, headers: Any, message: str
) -> None:
    """Three times in a row; one right comment stands there in the end."""
    standin.fail(method, path, times=2, status=status, headers=headers, message=message)
    number = standin.open_issue(fenced(OOM))
    assert bot.told("issues", opened(standin, number)) == ["done"]
    assert [is_oom(text) for text in standin.own(number)] == [True]


@pytest.mark.parametrize("status", [500, 504, 0])
def test_a_post_that_was_done_is_not_done_again(bot: Any, standin: StandIn, status: int) -> None:
    """Although the answer was an error, or none."""
    standin.fail("POST", r"/comments$", status=status, is_done=True)
    number = standin.open_issue(fenced(OOM))
    assert bot.told("issues", opened(standin, number)) == ["done"]
    assert [is_oom(text) for text in standin.own(number)] == [True]
    assert standin.count("POST", r"/comments$") == 1


def test_an_edit_that_fails_is_tried_again(bot: Any, standin: StandIn) -> None:
    """As a post is."""
    number = standin.open_issue(fenced(MISSING))
    bot.told("issues", opened(standin, number))
    standin.fail("PATCH", "", times=2, status=502)
    standin.issues[number]["body"] = fenced(OOM)
    bot.told("issues", opened(standin, number, "edited"))
    assert [is_oom(text) for text in standin.own(number)] == [True]


def test_a_time_out_is_tried_again(
    store: Any, github: Any, new_bot: Callable[..., Any], standin: StandIn
) -> None:
    """The request waits on the server; nobody waits for it for ever."""
    bot = Bot(store, create_tracker("github", {**github, "seconds": 0.5}), new_bot().settings)
    fault = standin.fail("POST", r"/comments$", is_held=True, is_done=True)
    number = standin.open_issue(fenced(OOM))
    assert bot.told("issues", opened(standin, number)) == ["done"]
    fault.let_go.set()
    assert [is_oom(text) for text in standin.own(number)] == [True]


def test_what_fails_for_ever_is_given_up(new_bot: Callable[..., Any], standin: StandIn) -> None:
    """After the attempts of the settings, with the reason; what comes later is tried anew."""
    bot = new_bot(attempts=3)
    fault = standin.fail("GET", r"/issues/\d+$", times=99, status=500)
    number = standin.open_issue(fenced(OOM))
    assert bot.told("issues", opened(standin, number)) == ["failed"]
    (row,) = bot.store.deliveries.list_for_tracker("github")
    assert "GitHub answered 500" in row.reason
    assert fault.times == 96
    fault.times = 0
    assert bot.told("issues", opened(standin, number, "edited")) == ["failed", "done"]


@pytest.mark.parametrize(
    ("status", "state"), [(404, "gone"), (410, "gone"), (401, "failed"), (403, "failed")]
)
def test_what_will_not_get_better_is_not_tried_again(
    bot: Any, standin: StandIn, status: int, state: str
) -> None:
    """A deleted issue is done with; a refusal is kept with its reason."""
    standin.fail("GET", r"/issues/\d+$", times=9, status=status, message="no")
    number = standin.open_issue(fenced(OOM))
    assert bot.told("issues", opened(standin, number)) == [state]
    assert standin.count("GET", r"/issues/\d+$") == 1
    (row,) = bot.store.deliveries.list_for_tracker("github")
    assert f"GitHub answered {status}" in row.reason


def test_a_deleted_issue_is_done_with(bot: Any, standin: StandIn) -> None:
    """Also one that goes away between reading and writing."""
    number = standin.open_issue(fenced(OOM))
    payload = opened(standin, number)
    standin.fail("POST", r"/comments$", status=410)
    assert bot.told("issues", payload) == ["gone"]
    del standin.issues[number]
    assert bot.told("issues", payload) == ["gone", "gone"]


def test_a_comment_of_another_with_the_mark_is_left_alone(bot: Any, standin: StandIn) -> None:
    """Whoever writes the mark does not have the bot write into their comment, nor silence it."""
    number = standin.open_issue(fenced(OOM))
    forged = standin.write(number, f"{MARK}\nall is well", EVE)
    bot.told("issues", opened(standin, number))
    assert [is_oom(text) for text in standin.own(number)] == [True]
    assert forged["body"].endswith("all is well")


def test_a_lost_record_costs_nothing(
    bot: Any, standin: StandIn, tmp_path: Any, github: Any
) -> None:
    """A store that knows nothing finds the comment by its mark, behind three pages of others."""
    number = standin.open_issue(fenced(MISSING))
    for _ in range(250):
        standin.write(number, "me too", EVE)
    bot.told("issues", opened(standin, number))
    standin.issues[number]["body"] = fenced(OOM)
    with open_store(tmp_path / "other.sqlite") as store:
        other = Bot(store, create_tracker("github", github), bot.settings)
        assert other.told("issues", opened(standin, number, "edited")) == ["done"]
    assert [is_oom(text) for text in standin.own(number)] == [True]


def test_a_deleted_comment_stays_away_until_somebody_asks(bot: Any, standin: StandIn) -> None:
    """Whoever deletes it does not want it."""
    number = standin.open_issue(fenced(OOM))
    bot.told("issues", opened(standin, number))
    standin.comments[number].clear()
    assert bot.told("issues", opened(standin, number, "edited"))[-1] == "quiet"
    assert standin.own(number) == []
    comment = standin.write(number, "@postmortem analyze")
    bot.told("issue_comment", commented(standin, number, comment))
    assert [is_oom(text) for text in standin.own(number)] == [True]


def test_of_two_the_older_one_stays(bot: Any, standin: StandIn) -> None:
    """Another process of the bot posts between reading and writing: both are seen, one stays."""
    number = standin.open_issue(fenced(OOM))
    fault = standin.fail("POST", r"/comments$", is_held=True, status=500)
    payload = opened(standin, number)
    bot.deliver("issues", payload)

    thread = threading.Thread(target=bot.settle)
    thread.start()
    assert fault.reached.wait(30)
    standin.write(number, f"{MARK}\nolder", standin.account)
    standin.write(number, f"{MARK}\nyounger", standin.account)
    fault.let_go.set()
    thread.join(30)
    assert [is_oom(text) for text in standin.own(number)] == [True]


def test_only_who_may_command_is_heard(new_bot: Callable[..., Any], standin: StandIn) -> None:
    """By setting: members alone, the author too, or all."""
    heard = {}
    for who in ("members", "author", "everybody"):
        bot = new_bot(commands=who)
        for author in (ADA, EVE, MAX):
            number = standin.open_issue("It fails")
            comment = standin.write(number, "@postmortem analyze", author)
            bot.told("issue_comment", commented(standin, number, comment))
            heard[who, author["login"]] = len(standin.own(number))
    assert heard == {
        ("members", "ada"): 0,
        ("members", "eve"): 0,
        ("members", "max"): 1,
        ("author", "ada"): 1,
        ("author", "eve"): 0,
        ("author", "max"): 1,
        ("everybody", "ada"): 1,
        ("everybody", "eve"): 1,
        ("everybody", "max"): 1,
    }


def test_logs_of_others_do_not_count(bot: Any, standin: StandIn) -> None:
    """Anybody may paste anything; the author's comments and those of who commands are read."""
    number = standin.open_issue(fenced(OOM))
    standin.write(number, fenced(MISSING), EVE)
    comment = standin.write(number, "@postmortem analyze", MAX)
    bot.told("issue_comment", commented(standin, number, comment))
    assert [is_oom(text) for text in standin.own(number)] == [True]
    other = standin.open_issue("It fails, log follows")
    standin.write(other, fenced(OOM), ADA)
    comment = standin.write(other, "@postmortem analyze", MAX)
    bot.told("issue_comment", commented(standin, other, comment))
    assert [is_oom(text) for text in standin.own(other)] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "> @postmortem analyze",
        "```\n@postmortem analyze\n```",
        "    @postmortem analyze",
        "`@postmortem analyze`",
        "say @postmortem analyze",
        "@postmortem-bot analyze",
        "@postmortem",
        "@postmortem analyzer",
        "<!-- \n@postmortem analyze\n-->",
    ],
)
def test_what_is_no_command_is_none(bot: Any, standin: StandIn, text: str) -> None:
    """Quotes, code, comments, other names: nothing is kept."""
    number = standin.open_issue("It fails")
    comment = standin.write(number, text)
    assert bot.deliver("issue_comment", commented(standin, number, comment)) == 200
    assert bot.store.deliveries.list_for_tracker("github") == []


def test_bots_are_not_answered(bot: Any, standin: StandIn) -> None:
    """Not this one, nor another; and not in projects that are not allowed."""
    number = standin.open_issue(fenced(OOM))
    comment = standin.write(number, "@postmortem analyze", BOT)
    assert bot.deliver("issue_comment", commented(standin, number, comment)) == 200
    other = opened(standin, number, repository={"id": 43, "full_name": "acme/secret"})
    assert bot.deliver("issues", other) == 200
    closed = opened(standin, number, "closed")
    assert bot.deliver("issues", closed) == 200
    assert bot.deliver("ping", {"zen": "…", "hook_id": 1}) == 200
    assert (
        bot.deliver("star", {"action": "created", "repository": {"id": 42, "full_name": PROJECT}})
        == 200
    )
    assert bot.store.deliveries.list_for_tracker("github") == []


def test_an_article_has_a_comment_of_its_own(bot: Any, standin: StandIn) -> None:
    """One for each command, edited with it; an id that nobody knows is told so."""
    number = standin.open_issue(fenced(OOM))
    bot.told("issues", opened(standin, number))
    comment = standin.write(number, "@postmortem explain `memory.cuda-oom`")
    bot.told("issue_comment", commented(standin, number, comment))
    comment["body"] = "@postmortem explain no.such-id"
    bot.told("issue_comment", commented(standin, number, comment, "edited"))
    verdict, explained = standin.own(number)
    assert is_oom(verdict)
    assert explained.startswith(mark_of(f"explain:{comment['id']}"))
    assert "`no.such-id`" in explained


def test_labels_follow_the_cause(new_bot: Callable[..., Any], standin: StandIn) -> None:
    """Those of others stay, also one that somebody had put on before; a category's label too."""
    bot = new_bot(labels={"memory.cuda-oom": "cause: OOM", "environment": "environment"})
    number = standin.open_issue(fenced(OOM), labels=[{"name": "bug"}, {"name": "Environment"}])
    bot.told("issues", opened(standin, number))
    assert standin.labels(number) == ["bug", "Environment", "cause: OOM"]
    standin.issues[number]["body"] = fenced(MISSING)
    bot.told("issues", opened(standin, number, "edited"))
    assert standin.labels(number) == ["bug", "Environment"]
    standin.issues[number]["body"] = fenced(OOM)
    bot.told("issues", opened(standin, number, "edited"))
    assert standin.labels(number) == ["bug", "Environment", "cause: OOM"]


def test_a_label_that_may_not_be_put_on_costs_no_comment(
    new_bot: Callable[..., Any], standin: StandIn
) -> None:
    """The reason goes to the log."""
    bot = new_bot(labels={"memory": "memory"})
    standin.fail("POST", r"/labels$", status=403)
    number = standin.open_issue(fenced(OOM))
    assert bot.told("issues", opened(standin, number)) == ["done"]
    assert [is_oom(text) for text in standin.own(number)] == [True]


def a_run(standin: StandIn, number: int, *, is_fork: bool = False) -> Any:
    """A run of a pull request, with three jobs of which two failed."""
    run, sha = next(standin.numbers), f"{number:040x}"
    base = {"ref": "main", "sha": sha, "repo": {"id": 42, "name": "train", "url": "…"}}
    pull = {"id": 7, "number": number, "url": "…", "head": base, "base": base}
    standin.runs[run] = {
        "id": run,
        "head_sha": sha,
        "conclusion": "failure",
        "pull_requests": [] if is_fork else [pull],
        "repository": {"id": 42, "full_name": PROJECT},
    }
    standin.pulls[sha] = [{**pull, "state": "open"}, {**pull, "number": 1, "state": "closed"}]
    standin.jobs[run] = [
        {"id": run * 10 + place, "name": name, "conclusion": conclusion}
        for place, (name, conclusion) in enumerate(
            [("lint", "success"), ("a job [@ada](http://x)", "failure"), ("train", "timed_out")]
        )
    ]
    for place, log in ((1, UNCLEAR), (2, OOM)):
        stamped = "".join(f"2026-01-01T00:00:00.0000000Z {line}\n" for line in log.splitlines())
        standin.files[f"/job-logs/{run * 10 + place}"] = (200, {}, stamped.encode())
    return standin.runs[run]


@pytest.mark.parametrize("is_fork", [False, True])
def test_a_failed_run_is_told_under_its_request(
    bot: Any, standin: StandIn, *, is_fork: bool
) -> None:
    """Of one from a fork too; the plainest job first, the others in a line each."""
    number = standin.open_issue("Adds training")
    run = a_run(standin, number, is_fork=is_fork)
    bot.told("workflow_run", run_failed(run))
    (text,) = standin.own(number)
    assert is_oom(text)
    assert "Failed job: `train`" in text
    assert "`a job [@ada](http://x)`" in text
    comment = standin.write(number, "@postmortem analyze")
    bot.told("issue_comment", commented(standin, number, comment))
    assert [is_oom(text) for text in standin.own(number)] == [True]


def test_a_run_without_a_request_is_told_nowhere(bot: Any, standin: StandIn, caplog: Any) -> None:
    """But in the log; a run that went well is not looked at."""
    run = a_run(standin, 1)
    run["pull_requests"], standin.pulls = [], {}
    assert bot.told("workflow_run", run_failed(run)) == ["nowhere"]
    assert "no open request" in caplog.text
    assert bot.deliver("workflow_run", run_failed(run, "success")) == 200
    assert standin.count("POST", "") == 0


def test_logs_that_are_gone_change_nothing(bot: Any, standin: StandIn) -> None:
    """The comment of an earlier run stays as it is."""
    number = standin.open_issue("Adds training")
    bot.told("workflow_run", run_failed(a_run(standin, number)))
    later = a_run(standin, number)
    standin.files = {}
    assert bot.told("workflow_run", run_failed(later))[-1] == "quiet"
    assert [is_oom(text) for text in standin.own(number)] == [True]


def test_an_app_writes_under_its_own_name(
    standin: StandIn, github: Any, store: Any, new_bot: Callable[..., Any], tmp_path: Any
) -> None:
    """With a JWT for itself and a token of its installation for all else."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    )
    standin.public_key = (
        key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    )
    standin.account.update(BOT)
    own = {name: value for name, value in github.items() if name != "token"}
    app = {**own, "app_id": 77, "private_key": f"file:{tmp_path / 'key.pem'}"}
    bot = Bot(store, create_tracker("github", app), new_bot().settings)
    number = standin.open_issue(fenced(MISSING))
    bot.told("issues", opened(standin, number))
    standin.issues[number]["body"] = fenced(OOM)
    bot.told("issues", opened(standin, number, "edited"))
    assert [is_oom(text) for text in standin.own(number)] == [True]
    assert standin.count("POST", "access_tokens") == 1
    kinds = {kind for _, path, kind in standin.asked if path.startswith(f"/repos/{PROJECT}/issues")}
    assert kinds == {"token"}
    (tmp_path / "key.pem").write_text("no key")
    other = Bot(store, create_tracker("github", app), bot.settings)
    assert other.told("issues", opened(standin, number, "edited"))[-1] == "failed"
    assert (
        "id and private key cannot be used"
        in store.deliveries.list_for_tracker("github")[-1].reason
    )


def test_a_comment_without_a_store(bot: Any, standin: StandIn) -> None:
    """The mark is the only memory: what a command line calls."""
    number = standin.open_issue("")
    place = IssuePlace(PROJECT, ISSUE, number)
    hows = [
        update_or_create_comment(bot.tracker, place, text, key="night-run").how for text in "aab"
    ]
    assert hows == ["posted", "kept", "edited"]
    assert standin.own(number) == [f"{mark_of('night-run')}\nb"]
    standin.fail("POST", r"/comments$", status=503)
    with pytest.raises(TryLater):
        update_or_create_comment(bot.tracker, place, "c", key="another")


def test_no_secret_is_told(bot: Any, standin: StandIn, caplog: Any) -> None:
    """Not in the store, the log, an error or a representation."""
    standin.fail("GET", r"/issues/\d+$", times=9, status=401, message="Bad credentials")
    number = standin.open_issue(fenced(OOM))
    bot.told("issues", opened(standin, number))
    (row,) = bot.store.deliveries.list_for_tracker("github")
    told = caplog.text + row.reason + repr(bot.tracker) + repr(vars(bot.tracker)["_settings"])
    assert "Bad credentials" in told
    assert TOKEN not in told
    assert INSTALLED not in told
    assert "a secret of the webhook" not in told


@pytest.mark.parametrize("is_posted", [False, True])
def test_a_paused_process_spoils_nothing(
    bot: Bot, new_bot: Callable[..., Bot], standin: StandIn, *, is_posted: bool
) -> None:
    """It stands still in posting, another takes over, the log is edited, and it goes on."""
    number = standin.open_issue(fenced(MISSING))
    how = {"is_done": True} if is_posted else {"is_done_late": True}
    fault = standin.fail("POST", r"/comments$", is_held=True, status=201, **how)
    bot.deliver("issues", opened(standin, number))
    paused = threading.Thread(target=bot.loop.answer_one)
    paused.start()
    assert fault.reached.wait(30)
    standin.issues[number]["body"] = fenced(OOM)
    with bot.store._database.writing() as connection:
        connection.execute(text("UPDATE postmortem_answers SET lease_until = 0"))
    other = new_bot()
    assert other.settle() == ["done"]
    assert [is_oom(one) for one in standin.own(number)] == [True]
    fault.let_go.set()
    paused.join(60)
    assert [is_oom(one) for one in standin.own(number)] == [True]
    assert other.settle() == ["done"]
