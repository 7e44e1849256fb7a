"""What a report says where there is no log, no words for the first failure, or no end."""

from dataclasses import replace

import pytest

from postmortem.core.answer import Event, Excerpt, FirstFailure, Verdict
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import NOWHERE, Source
from postmortem.report import FORMS, SHOWN_FORMS, render
from postmortem.report.display import detect_input_type, prepare_for_display
from tests.report.samples import abstaining, lifted, rich

NO_CAUSE = Verdict(
    None,
    0.5,
    "unknown",
    "The log does not show the cause.",
    "unknown",
    "unknown",
    need=abstaining().verdict.need,
)


def without_log(
    kind: str,
    size: int,
    lines: int,
    outcome: str,
    excerpt: Excerpt | None = None,
    language: str = "en",
) -> Diagnosis:
    """Make the diagnosis of an input that is no log."""
    source = Source("x.txt", size, lines, "utf-8", None, NOWHERE, kind)
    return replace(
        abstaining(language),
        sources=(source,),
        outcome=outcome,
        verdict=NO_CAUSE,
        signatures=(),
        series=(),
        excerpt=excerpt,
        first_failure=None,
    )


INPUTS = [
    pytest.param(
        without_log("log", 0, 0, "not-a-training-log"), "empty", "The file is empty", id="empty"
    ),
    pytest.param(
        without_log("log", 4, 4, "not-a-training-log"),
        "blank",
        "The file holds only blank lines",
        id="blank",
    ),
    pytest.param(
        without_log("environment", 900, 30, "incomplete"),
        "environment",
        "--env x.txt",
        id="environment dump",
    ),
    pytest.param(
        without_log("log", 90, 2, "not-a-training-log", Excerpt(0, 1, ("Dear diary",))),
        "other",
        "does not look like a training log",
        id="prose",
    ),
]


@pytest.mark.parametrize(("one", "kind", "said"), INPUTS)
@pytest.mark.parametrize("form", [form for form in SHOWN_FORMS if form not in {"json", "jsonl"}])
def test_an_input_that_is_no_log_is_named(one: Diagnosis, kind: str, said: str, form: str) -> None:
    """The report says what the input is and what to pass.

    Nothing about ranks, launchers and candidates.
    """
    text = render(one, form)
    assert detect_input_type(one) == kind
    assert said in text
    assert [
        word
        for word in (
            "What would decide",
            "What it could be",
            "torchrun",
            "sacct",
            "scp",
            "Not checked",
            "around the failure",
        )
        if word in text
    ] == []


def test_a_log_without_an_answer_still_asks() -> None:
    """Abstaining on a real log, or with a cause, is no question of the input."""
    assert detect_input_type(abstaining()) == ""
    assert detect_input_type(rich()) == ""
    assert prepare_for_display(abstaining()).verdict.need == abstaining().verdict.need


@pytest.mark.parametrize(
    ("outcome", "cause", "word"),
    [
        pytest.param("running", "numerics.fp16-overflow", "no end shown", id="running and failed"),
        pytest.param(
            "incomplete", "numerics.fp16-overflow", "no end shown", id="incomplete and failed"
        ),
        pytest.param("running", None, "no end shown", id="running and unknown"),
        pytest.param("incomplete", None, "incomplete", id="incomplete and unknown"),
        pytest.param("running", "healthy.running", "running", id="healthy"),
        pytest.param("failed", "numerics.fp16-overflow", "failed", id="failed"),
    ],
)
def test_a_failure_does_not_read_as_running(outcome: str, cause: str | None, word: str) -> None:
    """The headline of a cause of failure never says that the run goes on.

    The JSON outcome stays.
    """
    one = replace(rich(), outcome=outcome, verdict=replace(rich().verdict, cause=cause))
    assert render(one, "terminal").startswith(word.upper() + "  ")
    assert render(one, "markdown").startswith(f"### {word.capitalize()}: ")
    assert f">{word}</span>" in render(one, "html")
    assert f'"outcome": "{outcome}"' in render(one, "json")


@pytest.mark.parametrize(
    ("why", "line", "said"),
    [
        pytest.param(": ", 1833, "Traceback (most recent call last):", id="the log's own line"),
        pytest.param(": ", 9999, "", id="nothing to quote"),
        pytest.param("KeyboardInterrupt: ", 1833, "KeyboardInterrupt", id="no message"),
        pytest.param("ValueError: x", 1833, "ValueError: x", id="whole"),
    ],
)
def test_a_first_failure_has_words_or_none(why: str, line: int, said: str) -> None:
    """An empty exception and message are not printed as colons."""
    event = Event(0, NOWHERE, line, None, None, "cause", f"first failure: {why}")
    shown = prepare_for_display(
        replace(rich(), first_failure=FirstFailure(0, NOWHERE, line, None, why), timeline=(event,))
    )
    assert shown.first_failure is not None
    assert shown.first_failure.why == said
    assert shown.timeline[0].text == ("first failure: " + said if said else "first failure")
    assert [form for form in FORMS if ": :" in render(lifted(shown), form)] == []
