"""The same bot on GitLab: what its webhooks tell of is answered there, over HTTP."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from postmortem.fleet.store.opened_store import Store
from postmortem.interfaces.bots.answering import AnsweringLoop
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.bots.delivery_intake import Reception
from postmortem.interfaces.trackers.bot_comment import mark_of
from postmortem.interfaces.trackers.tracker_kinds import create_tracker
from tests.interfaces.bots.conftest import HereJudge
from tests.interfaces.bots.deliveries import OOM, fenced
from tests.interfaces.trackers import gitlab_deliveries as sent
from tests.interfaces.trackers.gitlab_server import ADA, BOT, PROJECT, SECRET, TOKEN, Gitlab
from tests.loopback_http import serving

_NUMBERS = itertools.count(1)
MARK = mark_of("verdict")


@pytest.fixture
def gitlab() -> Gitlab:
    """The state of a server."""
    return Gitlab()


@pytest.fixture
def told(
    gitlab: Gitlab, store: Store, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Any]]:
    """Deliver an event and answer until nothing waits; gives the status of the delivery."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("LAB_TOKEN", TOKEN)
    monkeypatch.setenv("LAB_SECRET", sent.TOKEN)
    with serving(gitlab.answer) as server:
        named = {"token": "env:LAB_TOKEN", "secret": "env:LAB_SECRET", "api_url": server.url}
        trackers = {"gitlab": create_tracker("gitlab", {"projects": [PROJECT], **named})}
        entry = {"gitlab": {"projects": ["ml/*"]}}
        settings = BotSettings.model_validate({"retry_seconds": 0.01, "trackers": entry})
        reception = Reception(store.deliveries, trackers, settings)
        loop = AnsweringLoop(store, trackers, HereJudge(), settings)

        def deliver(event: str, value: dict[str, Any], **headers: str) -> int:
            key = {"idempotency-key": f"delivery-{next(_NUMBERS)}"}
            status = reception.receive("gitlab", *sent.delivery(event, value, **key, **headers))
            while any(
                row.state == "waiting" for row in store.deliveries.list_for_tracker("gitlab")
            ):
                loop.answer_one()
            return status.status

        yield deliver
        trackers["gitlab"].close()


def own(gitlab: Gitlab, at: str) -> list[str]:
    """The texts of the bot's notes."""
    return [one["body"] for one in gitlab.notes[at] if one["author"] == BOT]


def test_an_issue_is_answered_once(told: Callable[..., Any], gitlab: Gitlab) -> None:
    """By the log in its description, and in Chinese if it is; edited, the note is edited."""
    gitlab.threads["issues/4"]["description"] = fenced(OOM)
    assert told("Issue Hook", sent.issue()) == 202
    (text,) = own(gitlab, "issues/4")
    assert text.startswith(MARK)
    assert "`memory.cuda-oom`" in text
    gitlab.threads["issues/4"]["description"] = fenced(OOM, "训练中断了，请帮忙看看是什么原因。")
    value = sent.issue(action="update")
    value["changes"] = {"description": {"previous": "a", "current": "b"}}
    assert told("Issue Hook", value) == 202
    (text,) = own(gitlab, "issues/4")
    assert "显存" in text


def test_an_uploaded_log_is_read(told: Callable[..., Any], gitlab: Gitlab) -> None:
    """It is linked to in the description, as GitLab writes it."""
    gitlab.uploads[f"{SECRET}/run.log"] = OOM.encode()
    assert told("Issue Hook", sent.issue()) == 202
    (text,) = own(gitlab, "issues/4")
    assert "`memory.cuda-oom`" in text


def test_a_failed_job_is_answered_under_its_merge_request(
    told: Callable[..., Any], gitlab: Gitlab
) -> None:
    """The job and its pipeline are one run, with one note."""
    gitlab.traces[31] = OOM.encode()
    assert told("Job Hook", sent.job(pipeline_id=9)) == 202
    assert told("Pipeline Hook", sent.pipeline(id=9)) in {200, 202}
    (text,) = own(gitlab, "merge_requests/5")
    assert "`memory.cuda-oom`" in text
    assert own(gitlab, "issues/4") == []


def test_who_commands_is_answered(told: Callable[..., Any], gitlab: Gitlab) -> None:
    """Under a merge request too; what the bot itself writes is no command."""
    gitlab.threads["merge_requests/5"]["description"] = fenced(OOM)
    note = gitlab.note("merge_requests/5", ADA, "@postmortem analyze")
    value = sent.note("MergeRequest")
    value["object_attributes"]["id"], value["merge_request"]["iid"] = note["id"], 5
    assert told("Note Hook", value) == 202
    assert len(own(gitlab, "merge_requests/5")) == 1
    assert told("Note Hook", {**value, "user": BOT}) == 200


def test_a_foreign_delivery_is_refused(told: Callable[..., Any], gitlab: Gitlab) -> None:
    """Nothing is asked and nothing is written."""
    headers = {"x-gitlab-token": "guessed"}
    assert told("Issue Hook", sent.issue(), **headers) == 401
    assert own(gitlab, "issues/4") == []
