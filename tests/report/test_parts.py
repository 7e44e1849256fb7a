"""Short texts that several forms show: stretches of time, checkpoints, the turning points of a run."""

from dataclasses import replace
from pathlib import Path

import pytest

import postmortem
from postmortem.model.diagnosis import Event, FirstFailure, Progress
from postmortem.model.lines import NOWHERE
from postmortem.report.parts import duration, harmless, milestones, progress
from postmortem.report.plain import when
from postmortem.report.words import Words
from tests.report.samples import rich

EN, ZH = Words("en"), Words("zh")


@pytest.mark.parametrize(
    ("seconds", "english", "chinese"),
    [
        pytest.param(0.0, "0 s", "0 秒", id="nothing"),
        pytest.param(2.468, "2.47 s", "2.47 秒", id="a moment"),
        pytest.param(95.5, "96 s", "96 秒", id="below two minutes"),
        pytest.param(1800.0, "30 min", "30 分", id="round minutes"),
        pytest.param(5461.0, "1 h 31 min", "1 小时 31 分", id="the two largest units"),
        pytest.param(86400.0 * 3, "3 d", "3 天", id="round days"),
        pytest.param(86400.0 * 400 + 3600, "400 d 1 h", "400 天 1 小时", id="more than a year"),
    ],
)
def test_a_stretch_of_time(seconds: float, english: str, chinese: str) -> None:
    """In its two largest units."""
    assert (duration(seconds, EN), duration(seconds, ZH)) == (english, chinese)


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        pytest.param(None, "", id="none"),
        pytest.param("--11-19T22:04:11", "11-19T22:04:11", id="no year"),
        pytest.param("T22:04:11", "22:04:11", id="no date"),
        pytest.param("+12.5s", "+12.5s", id="uptime"),
    ],
)
def test_a_printed_time(time: str | None, shown: str) -> None:
    """Without the marks for what it lacks."""
    assert when(time) == shown


FAILED = FirstFailure(0, NOWHERE, 9, None, "x")


@pytest.mark.parametrize(
    ("done", "first", "expected"),
    [
        pytest.param(
            Progress(last_checkpoint="500", checkpoint_before_first_bad="yes", resume_from="500"),
            FAILED,
            "the last checkpoint, step 500, precedes the first failure: resume from it",
            id="Megatron's number",
        ),
        pytest.param(
            Progress(last_checkpoint="c/checkpoint-9", checkpoint_before_first_bad="unknown"),
            FAILED,
            "last checkpoint c/checkpoint-9; not known whether it was saved before the first failure",
            id="not known",
        ),
        pytest.param(
            Progress(last_checkpoint="c/checkpoint-9", resume_from="c/checkpoint-9"),
            None,
            "last checkpoint c/checkpoint-9",
            id="nothing failed",
        ),
        pytest.param(
            Progress(last_checkpoint="c", checkpoint_before_first_bad="no", first_bad=(None, 7)),
            None,
            "the last checkpoint, c, was saved after the first bad value at line 7, and none before it: do not resume from it",
            id="a bad value without a step",
        ),
    ],
)
def test_a_checkpoint_in_words(done: Progress, first: FirstFailure | None, expected: str) -> None:
    """What to do with it comes last."""
    assert progress(replace(rich(), progress=done, first_failure=first), EN) == (expected,)


def test_the_turning_points() -> None:
    """Of many events the first, the last, and those around the first failure, in order and each once."""
    events = tuple(
        Event(0, NOWHERE, line, None, None, "context", str(line)) for line in range(1, 41)
    )
    shown = [
        [
            event.line
            for event in milestones(
                replace(rich(), timeline=events, first_failure=replace(FAILED, line=line)), 6
            )
        ]
        for line in (1, 20, 40)
    ]
    assert shown == [[1, 2, 3, 4, 5, 40], [1, 18, 19, 20, 21, 40], [1, 36, 37, 38, 39, 40]]
    assert milestones(replace(rich(), timeline=events[:6]), 6) == events[:6]


def test_a_harmless_line_is_listed_once() -> None:
    """Of two rules for a line the more specific one tells why.

    A rule is named once, at its first line.
    """
    kept = rich().signatures[0]
    hits = tuple(
        replace(kept, id=name, role="harmless", line=line, literal=literal)
        for line, name, literal in ((3, "a", 9), (3, "b", 20), (4, "a", 9), (5, "b", 20))
    )
    assert [(hit.id, hit.line) for hit in harmless(replace(rich(), signatures=hits))] == [
        ("b", 3),
        ("a", 4),
    ]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        (
            "UserWarning: TORCH_CUDA_ARCH_LIST is not set, all archs for visible cards are included for compilation.",
            "comments on compiler and architectures",
        ),
        (
            "FutureWarning: You are using `torch.load` with `weights_only=False` (the current default value)",
            "announces weights_only",
        ),
        (
            "UserWarning: The detected CUDA version (12.4) has a minor version mismatch with the version that was used to compile PyTorch (12.1).",
            "same major version is accepted",
        ),
    ],
)
def test_one_reason_for_a_notice(tmp_path: Path, line: str, title: str) -> None:
    """What programs print about their defaults is known to one rule, which gives the reason that holds."""
    log = tmp_path / "run.log"
    log.write_text(
        f"{line}\n{{'loss': 1.5, 'learning_rate': 1e-05, 'epoch': 0.1}}\n", encoding="utf-8"
    )
    hits = [hit for hit in postmortem.analyze(log).diagnosis.signatures if hit.role == "harmless"]
    assert len(hits) == 1
    assert title in hits[0].title
