"""The end of a run that prints no closing line: its last record is of its last step."""

import pytest

from postmortem.core.findings import NOWHERE, Finding
from postmortem.core.message import quote
from postmortem.diagnosis.detectors import ending
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.extraction.facts.series import Series


def loss(*steps: float) -> Series:
    """A falling loss at these steps."""
    one = Series("loss", "test", 0, NOWHERE)
    for number, step in enumerate(steps, 1):
        one.append(step, 3.0 / number, number)
    one.settle()
    return one


@pytest.mark.parametrize(
    ("steps", "total", "is_end"),
    [
        pytest.param([10.0, 20.0, 30.0], 30.0, True, id="the last step"),
        pytest.param([10.0, 20.0, 30.0], 40.0, False, id="ten steps are missing"),
        pytest.param([10.0, 20.0, 10.0, 20.0], 20.0, False, id="counted anew in each epoch"),
        pytest.param(
            [10.0, 20.0, 30.0], float("nan"), False, id="nobody says how many there are to be"
        ),
        pytest.param([1.0, 2.0], 2.0, False, id="too short to tell a run from an epoch"),
        pytest.param([], 30.0, False, id="no record"),
    ],
)
def test_the_last_record_is_of_the_last_step(
    steps: list[float], total: float, *, is_end: bool
) -> None:
    """Reached once, in a count that only rises."""
    found = list(ending.detect_last_step(Observed(series=[loss(*steps)], total_steps=total)))
    assert [(shape.id, shape.line) for shape in found] == (
        [("last-step", len(steps))] if is_end else []
    )


@pytest.mark.parametrize(("bar", "is_end"), [("872/872", True), ("63/63", False)])
def test_the_bar_of_the_whole_run_is_full(bar: str, *, is_end: bool) -> None:
    """A bar of another length is that of an evaluation."""
    text = f"100%|##########| {bar} [02:31<00:00,  1.04s/it]\n"
    observed = Observed(last_records={0: 40}, tails={0: (41, text)}, total_steps=872.0)
    assert bool(list(ending.detect_last_step(observed))) == is_end


MARKER = Finding("healthy.training-finished", "context", 0, NOWHERE, 40, 40, 0, "Training done")
LAST_STEP = Anomaly("last-step", quote("step 30 of 30"), 0, NOWHERE, 33)


@pytest.mark.parametrize(
    ("outcome", "findings", "known", "expected"),
    [
        pytest.param("completed", [(MARKER, 9)], {}, ("Training done", 40), id="by its marker"),
        pytest.param(
            "completed",
            [(MARKER, 9)],
            {"last-step": LAST_STEP},
            ("Training done", 40),
            id="the marker counts before the last step",
        ),
        pytest.param(
            "completed", [], {"last-step": LAST_STEP}, ("step 30 of 30", 33), id="by its last step"
        ),
        pytest.param("completed", [], {}, ("", 35), id="as the caller says"),
        pytest.param("failed", [(MARKER, 9)], {}, None, id="a run that failed"),
    ],
)
def test_what_shows_that_a_run_is_through(
    outcome: str,
    findings: list[tuple[Finding, int]],
    known: dict[str, Anomaly],
    expected: tuple[str, int] | None,
) -> None:
    """The marker, else the record of the last step, else the last record."""
    observed = Observed(findings=findings, last_records={0: 35}).at_end(outcome, known)
    found = [(shape.message.text("en"), shape.line) for shape in ending.detect_completion(observed)]
    assert found == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("outcome", "records", "text", "is_found"),
    [
        pytest.param("stalled", {}, "loading\nstep 1", True, id="nothing but a first step"),
        pytest.param("stalled", {0: 4}, "loading", False, id="with records"),
        pytest.param("stalled", {}, "step 1\nstep 2\nstep 3", False, id="steps without records"),
        pytest.param("failed", {}, "loading", False, id="it did not stand still"),
    ],
)
def test_a_run_that_stands_still_without_a_record(
    outcome: str, records: dict[int, int], text: str, *, is_found: bool
) -> None:
    """Nothing shows that training ever began."""
    observed = Observed(records=records, tails={0: (1, text)}, lines=7).at_end(outcome, {})
    assert [
        shape.message.text("en") for shape in ending.detect_stall_without_records(observed)
    ] == (["no metric record in 7 lines"] if is_found else [])


@pytest.mark.parametrize(
    ("outcome", "records", "known", "is_found"),
    [
        pytest.param("running", {0: 5, 1: 4}, "loss-falls", True, id="a run that goes on"),
        pytest.param("stalled", {0: 9}, "same-step", True, id="a run that stands still"),
        pytest.param("running", {0: 9}, "nan-loss", False, id="with a NaN"),
        pytest.param("running", {}, "loss-falls", False, id="without records"),
        pytest.param("failed", {0: 9}, "loss-falls", False, id="a run that failed"),
    ],
)
def test_a_run_that_shows_no_failure(
    outcome: str, records: dict[int, int], known: str, *, is_found: bool
) -> None:
    """Records to the end of the log, and no shape that is bad."""
    seen = {known: Anomaly(known, quote(""), 0, NOWHERE, 3)}
    observed = Observed(records=records, last_records={0: 12}).at_end(outcome, seen)
    assert [
        (shape.id, shape.message.text("en")) for shape in ending.detect_failure_free_run(observed)
    ] == (
        [
            ("no-failure-shown", "9 metric records up to line 12, no failure shown"),
            ("steady-records", "9 metric records up to line 12, no failure shown"),
        ]
        if is_found
        else []
    )
