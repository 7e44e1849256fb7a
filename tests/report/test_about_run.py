"""What is said about the run: how long, how far."""

from dataclasses import replace

import pytest

from postmortem.core.answer import FirstFailure, Progress
from postmortem.core.findings import NOWHERE
from postmortem.report.about_run import describe_progress, format_duration
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
    assert (format_duration(seconds, EN), format_duration(seconds, ZH)) == (english, chinese)


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
    assert describe_progress(replace(rich(), progress=done, first_failure=first), EN) == (expected,)
