"""A bot in this process: the real client, the real store, the real judging."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from postmortem.core.errors import PostmortemError
from postmortem.core.message import convert_to_message
from postmortem.fleet.one_job_worker import JudgeSettings
from postmortem.fleet.store import open_store
from postmortem.fleet.store.opened_store import Store
from postmortem.interfaces.bots.answering import AnsweringLoop
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.bots.delivery_intake import Reception
from postmortem.interfaces.bots.verdict_finder import Judge, NotJudged
from postmortem.interfaces.trackers.tracker_kinds import create_tracker
from postmortem.interfaces.trackers.tracker_protocol import Tracker
from tests.interfaces.bots.deliveries import SECRET, signed
from tests.interfaces.bots.standin_github import PROJECT, TOKEN, StandIn, serving


class HereJudge(Judge):
    """Does in this process, with small bounds, what a process of the service does."""

    settings = JudgeSettings(model=None, memory=0, unpacked=8 << 20, unpacked_free=4 << 20)

    def __init__(self) -> None:
        """Take no processes."""

    def _run(self, work: Callable[..., Any], *args: Any) -> Any:
        try:
            return work(self.settings, *args)
        except PostmortemError as error:
            raise NotJudged(convert_to_message(error.what)) from error


@dataclass
class Bot:
    """A bot whose steps a test takes itself."""

    store: Store
    tracker: Tracker
    settings: BotSettings
    judge: Any = field(default_factory=HereJudge)

    def __post_init__(self) -> None:
        """Make what it consists of."""
        self.reception = Reception(self.store.deliveries, {"github": self.tracker}, self.settings)
        self.loop = AnsweringLoop(self.store, {"github": self.tracker}, self.judge, self.settings)

    def deliver(self, event: str, payload: Any, delivery: str = "") -> int:
        """Receive a delivery; gives the status."""
        headers, body = signed(event, payload, delivery)
        lower = {name.lower(): value for name, value in headers.items()}
        return self.reception.receive("github", lower, body).status

    def settle(self) -> list[str]:
        """Answer until nothing waits; gives what became of the deliveries, in their order."""
        while any(
            row.state == "waiting" for row in self.store.deliveries.list_for_tracker("github")
        ):
            self.loop.answer_one()
        return [row.state for row in self.store.deliveries.list_for_tracker("github")]

    def told(self, event: str, payload: Any) -> list[str]:
        """Receive one and answer it."""
        assert self.deliver(event, payload) == 202
        return self.settle()


@pytest.fixture
def standin() -> Iterator[StandIn]:
    """A GitHub of one's own."""
    with serving() as standin:
        yield standin


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty one."""
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


@pytest.fixture
def github(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    """The settings of the tracker, with a personal token."""
    standin.account.update(id=901, login="post-mortem", type="User")
    monkeypatch.setenv("BOT_SECRET", SECRET)
    monkeypatch.setenv("BOT_TOKEN", TOKEN)
    return {
        "secret": "env:BOT_SECRET",
        "token": "env:BOT_TOKEN",
        "api_url": standin.url,
        "seconds": 20,
    }


@pytest.fixture
def new_bot(store: Store, github: Mapping[str, Any]) -> Callable[..., Bot]:
    """Make a bot of further settings."""

    def made(**other: Any) -> Bot:
        settings = BotSettings.model_validate(
            {"retry_seconds": 0.01, **other, "trackers": {"github": {"projects": [PROJECT]}}}
        )
        return Bot(store, create_tracker("github", github), settings)

    return made


@pytest.fixture
def bot(new_bot: Callable[..., Bot]) -> Bot:
    """A bot as it comes."""
    return new_bot()
