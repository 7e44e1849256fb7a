"""The tracker that docs/trackers.md shows works as it stands there."""

import hashlib
import hmac
import json
import re
from pathlib import Path

import pytest

from postmortem.core.errors import UsageError
from postmortem.fleet.store import open_store
from postmortem.interfaces.bots.answering import AnsweringLoop
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.bots.delivery_intake import Reception
from postmortem.interfaces.trackers.bot_comment import mark_of, update_or_create_comment
from postmortem.interfaces.trackers.tracker_kinds import create_tracker
from postmortem.interfaces.trackers.tracker_protocol import (
    COMMENTED,
    ISSUE,
    OPENED,
    IssuePlace,
    NotThere,
    Tracker,
    TrackerError,
)
from tests.interfaces.bots.conftest import HereJudge
from tests.interfaces.bots.deliveries import OOM, fenced

PAGE = Path(__file__).resolve().parents[3] / "docs" / "trackers.md"
PLACE = IssuePlace("board", ISSUE, 7)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A board with an issue, and a comment that bears the mark of another's hand."""
    path = tmp_path / "board.json"
    forged = {"author": "mallory", "text": f"{mark_of('answer')}\nnonsense"}
    issue = {"title": "It fails", "text": "log", "author": "ada", "comments": {"1": forged}}
    path.write_text(json.dumps({"members": ["ada"], "issues": {"7": issue}}))
    return path


@pytest.fixture
def board(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tracker:
    """The tracker of the page, opened by its settings."""
    code = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert code is not None
    (tmp_path / "board_tracker.py").write_text(code[1], encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("BOARD_SECRET", "of the board\n")
    settings = {"module": "board_tracker", "projects": ["board"], "file": str(file)}
    return create_tracker("board", {**settings, "secret": "env:BOARD_SECRET"})


def test_one_comment_is_written_and_edited(board: Tracker, file: Path) -> None:
    """The forged one is nobody's; what has not changed is not written again."""
    hows = [
        update_or_create_comment(board, PLACE, text, key="answer").how for text in ("a", "a", "b")
    ]
    comments = json.loads(file.read_text())["issues"]["7"]["comments"]
    assert hows == ["posted", "kept", "edited"]
    assert {name: one["text"] for name, one in comments.items()} == {
        "1": f"{mark_of('answer')}\nnonsense",
        "2": f"{mark_of('answer')}\nb",
    }


def test_deliveries_are_read(board: Tracker) -> None:
    """With the right signature alone."""
    body = json.dumps({"what": "opened", "issue": 7, "author": "ada"}).encode()
    right = hmac.new(b"of the board", body, hashlib.sha256).hexdigest()
    headers = {"x-board-signature": right, "x-board-delivery": "d-1"}
    assert board.is_authentic(headers, body)
    assert not board.is_authentic({}, body)
    assert not board.is_authentic(headers, body + b" ")
    event = board.event(headers, body)
    assert (event.delivery, event.kind, event.place) == ("d-1", OPENED, PLACE)
    written = {"issue": 7, "author": "ada", "comment": 3, "text": "@postmortem analyze"}
    assert board.event(headers, json.dumps(written).encode()).kind == COMMENTED
    with pytest.raises(TrackerError):
        board.event(headers, b"[]")


def test_labels_of_others_stay(board: Tracker, file: Path) -> None:
    """Only those that are named change."""
    board.relabel(PLACE, ["kept", "dropped"], [])
    board.relabel(PLACE, ["new"], ["dropped"])
    assert board.thread(PLACE).labels == ("kept", "new")
    with pytest.raises(NotThere):
        board.thread(IssuePlace("board", ISSUE, 8))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"kind": "nowhere"}, "no tracker of the kind 'nowhere'"),
        ({"module": "no_such_module"}, "no_such_module cannot be imported"),
        ({"module": "board_tracker", "file": "x", "secret": "t0psecret"}, "secret: .*env:NAME"),
        ({"module": "board_tracker", "file": "x", "secret": "env:NO_SUCH"}, "secret is empty"),
    ],
)
def test_wrong_settings_are_told(board: Tracker, settings: dict[str, str], said: str) -> None:
    """Without what stood there: it may be a secret."""
    with pytest.raises(UsageError, match=said) as raised:
        create_tracker("mine", settings)
    assert "t0psecret" not in str(raised.value)


def test_the_bot_answers_there(board: Tracker, file: Path, tmp_path: Path) -> None:
    """Without a line of its own on this tracker."""
    told = json.loads(file.read_text())
    told["issues"]["7"]["text"] = fenced(OOM)
    file.write_text(json.dumps(told))
    settings = BotSettings.model_validate({"trackers": {"board": {"projects": ["board"]}}})
    body = json.dumps({"what": "opened", "issue": 7, "author": "ada"}).encode()
    signature = hmac.new(b"of the board", body, hashlib.sha256).hexdigest()
    with open_store(tmp_path / "store.sqlite") as store:
        reception = Reception(store.deliveries, {"board": board}, settings)
        headers = {"x-board-signature": signature, "x-board-delivery": "d-1"}
        assert reception.receive("board", headers, body).status == 202
        assert reception.receive("board", {**headers, "x-board-signature": ""}, body).status == 401
        loop = AnsweringLoop(store, {"board": board}, HereJudge(), settings)
        assert loop.answer_one()
        assert not loop.answer_one()
    answer = json.loads(file.read_text())["issues"]["7"]["comments"]["2"]["text"]
    assert answer.startswith(mark_of("verdict"))
    assert "`memory.cuda-oom`" in answer
