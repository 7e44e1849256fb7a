"""The events of a watch as people and programs read them."""

import json

import pytest

from postmortem.core.diagnosis import ENDS, KINDS, Ended, Noted, Warned
from postmortem.core.findings import ProcessId
from postmortem.core.message import Message, quote
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.watch_events import WATCH, EventFormatter, serialize_event, serialize_events

WARNED = Warned(
    "nan",
    "/home/mueller/run.log",
    ProcessId(rank=3, node="gpu17.cluster.lan"),
    21,
    20.0,
    Message("loss nan; before: {x}", "loss nan；此前：{x}", {"x": 2.5}),
    "step 20 loss nan \x1b[2J\x07 host gpu17.cluster.lan",
    1.8e9,
    "/home/mueller/out/checkpoint-10",
    "yes",
)
PATHS = ("/home/mueller/run.log",)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_kind_can_be_said(language: str) -> None:
    """A title and what to do, in both languages; and every end and note."""
    say = WATCH[language]
    assert all(kind in say and f"{kind}.do" in say for kind in KINDS)
    assert all(f"end.{how}" in say for how in ENDS)
    assert say.keys() == WATCH["en"].keys()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_warning_in_the_terminal(language: str) -> None:
    """Where, what, the raw line, what to do, the checkpoint to go back to, the next command.

    Nothing in it steers the terminal.
    """
    text = EventFormatter(PATHS, language, None).terminal(WARNED)
    for part in (
        "/home/mueller/run.log:21",
        "20",
        "loss nan",
        "> step 20 loss nan",
        "checkpoint-10",
        "postmortem analyze /home/mueller/run.log",
    ):
        assert part in text
    assert "\x1b" not in text
    assert "\x07" not in text


def test_colour_is_the_programs_own() -> None:
    """Only where it is asked for."""
    assert "\x1b[1;31m" in EventFormatter(PATHS, "en", None).terminal(WARNED, color=True)


def test_what_leaves_the_terminal_gives_nothing_away() -> None:
    """User and host are replaced, the same everywhere; the values are strict JSON."""
    text = serialize_event(EventFormatter(PATHS, "en", Redactor()).wire(WARNED))
    assert "mueller" not in text
    assert "gpu17" not in text
    value = json.loads(text, parse_constant=pytest.fail)
    assert (
        value["schema"],
        value["event"],
        value["kind"],
        value["line"],
        value["step"],
        value["where"]["rank"],
    ) == ("postmortem.watch/1", "warning", "nan", 21, 20, 3)
    assert value["checkpoint_before"] == "yes"
    assert text.count("\n") == 1


def test_the_end_tells_the_verdict() -> None:
    """In words and in values; the status is the command's."""
    teller = EventFormatter(PATHS, "en", None)
    end = Ended("failed", PATHS, 2, 1.8e9, "numerics.fp16-overflow", quote("fp16 overflow"), 0.93)
    assert "failed" in teller.terminal(end)
    assert "numerics.fp16-overflow, 93%" in teller.terminal(end)
    assert teller.wire(end)["status"] == 1
    well = Ended("completed", PATHS, 0, 1.8e9, "healthy.completed", quote("All well"), 0.9)
    assert teller.wire(well)["status"] == 0
    assert "analyze" not in teller.terminal(well)


def test_all_events_make_a_document() -> None:
    """For programs that read one value."""
    teller = EventFormatter(PATHS, "en", None)
    value = json.loads(
        serialize_events([teller.wire(Noted("waiting", "run.log")), teller.wire(WARNED)])
    )
    assert value["schema"] == "postmortem.watch/1"
    assert [event["event"] for event in value["events"]] == ["note", "warning"]


def test_a_path_with_a_blank_stays_one_word() -> None:
    """In the command that is proposed."""
    assert "postmortem analyze '/data/my run.log'" in EventFormatter(
        ("/data/my run.log",), "en", None
    ).terminal(WARNED)
