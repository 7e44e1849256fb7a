"""Which panels there are, and what is marked on them."""

from dataclasses import replace
from math import nan

import pytest

from postmortem.core.answer import FirstFailure, Marks, SeriesView
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import NOWHERE, Attempt, ProcessId
from postmortem.report.page.panel import Panel
from postmortem.report.page.panel_layout import build_panels
from tests.report.samples import RANK_3, a_series, abstaining

STEPS = [float(step) for step in range(0, 100, 10)]


def of(*series: SeriesView, **fields: object) -> Diagnosis:
    """Make a diagnosis of series."""
    return replace(
        abstaining(),
        series=series,
        **{"first_failure": None, "attempts": (), "marks": (), **fields},
    )  # type: ignore[arg-type]


def made(*series: SeriesView, **fields: object) -> tuple[Panel, ...]:
    """Arrange all series of a diagnosis."""
    return build_panels(of(*series, **fields), series)


def unplaced(one: SeriesView, lines: list[int]) -> SeriesView:
    """Take the steps off a series and give it lines."""
    return replace(
        one,
        samples=tuple(
            (None, value, line) for (_, value, _), line in zip(one.samples, lines, strict=True)
        ),
    )


LOSS = a_series("loss", STEPS, [3.0 - step / 100 for step in STEPS])
SCALE = unplaced(a_series("loss_scale", STEPS[:4], [8.0, 4.0, 2.0, 1.0]), [1425, 1435, 1445, 1455])


@pytest.mark.parametrize(
    ("other", "together"),
    [
        pytest.param(SCALE, True, id="the loss scale of the process"),
        pytest.param(replace(SCALE, where=NOWHERE), True, id="a loss scale of no named process"),
        pytest.param(
            replace(SCALE, where=ProcessId(rank=1)), False, id="the loss scale of another process"
        ),
        pytest.param(replace(SCALE, source=1), False, id="the loss scale of another file"),
        pytest.param(
            unplaced(SCALE, [1, 2, 3, 4]), False, id="a loss scale from before the first record"
        ),
        pytest.param(a_series("eval_loss", STEPS[::3], [2.0] * 4), True, id="the evaluation loss"),
        pytest.param(a_series("grad_norm", STEPS, STEPS), False, id="another metric"),
    ],
)
def test_what_belongs_together_stands_on_one_axis(other: SeriesView, *, together: bool) -> None:
    """The loss takes the evaluation loss and the loss scale of its process with it."""
    assert [len(panel.tracks) for panel in made(LOSS, other)] == ([2] if together else [1, 1])


def test_a_curve_of_few_samples_takes_no_loss_scale_of_many() -> None:
    """There would be nothing to place it by; and of two loss scales one joins."""
    many = unplaced(
        a_series("loss_scale", [float(step) for step in range(50)], [2.0] * 50),
        list(range(1421, 1471)),
    )
    assert [len(panel.tracks) for panel in made(LOSS, many)] == [1, 1]
    assert [len(panel.tracks) for panel in made(LOSS, SCALE, replace(SCALE, where=NOWHERE))] == [
        2,
        1,
    ]


def test_of_several_processes_the_marks_of_the_own_are_taken() -> None:
    """Each rank skips the same step: it is counted once."""
    marks = tuple(
        Marks("overflow", 0, where, count, ((1440, None),))
        for where, count in ((NOWHERE, 70), (RANK_3, 10), (ProcessId(rank=4), 10))
    )
    (panel,) = made(LOSS, marks=marks)
    assert panel.counts == (("overflow", 10),)
    assert made(replace(LOSS, where=NOWHERE), marks=marks)[0].counts == (("overflow", 10),)
    assert made(LOSS, marks=marks[:1])[0].counts == (("overflow", 70),)


def test_what_has_no_step_is_placed_by_its_line() -> None:
    """Lines 1425 ... stand between the records of the steps 0, 10 ...

    These stand in the lines 1420, 1430 ...
    """
    (panel,) = made(LOSS, SCALE)
    assert panel.tracks[1].xs == (5.0, 15.0, 25.0, 35.0)
    assert panel.has_right_axis


def test_a_step_that_is_missing_here_and_there_is_placed_by_its_line() -> None:
    """A bar that is redrawn late hides the step of a record.

    Without most of them the records are counted, or the lines, where not all records are kept.
    """
    some = replace(
        LOSS,
        samples=tuple(
            (None if index == 5 else step, value, line)
            for index, (step, value, line) in enumerate(LOSS.samples)
        ),
    )
    few = replace(
        LOSS,
        samples=tuple(
            (step if index < 4 else None, value, line)
            for index, (step, value, line) in enumerate(LOSS.samples)
        ),
    )
    assert [(panel.axis, panel.tracks[0].xs[5]) for panel in (*made(some), *made(few))] == [
        ("step", 50.0),
        ("record", 6.0),
    ]
    assert [(panel.axis, panel.tracks[0].xs[5]) for panel in made(replace(few, points=99))] == [
        ("line", 1470.0)
    ]


@pytest.mark.parametrize("with_steps", [True, False])
def test_records_of_one_line_stand_apart(*, with_steps: bool) -> None:
    """A state file may hold all its records in one line."""
    flat = replace(
        LOSS,
        samples=tuple((step if with_steps else None, value, 1) for step, value, _ in LOSS.samples),
    )
    (panel,) = made(flat, marks=(Marks("evaluation", 0, NOWHERE, 1, ((1, 30.0),)),))
    assert panel.tracks[0].xs == (
        tuple(STEPS) if with_steps else tuple(float(number) for number in range(1, 11))
    )


def test_marks_stand_where_their_step_agrees_with_the_records_around_them_else_by_their_line() -> (
    None
):
    """A checkpoint's step is taken if it lies between its neighbours.

    One of another count is not.
    """
    marks = (
        Marks("checkpoint", 0, NOWHERE, 2, ((1431, 10.0), (1455, 4000.0))),
        Marks("evaluation", 1, NOWHERE, 1, ((1440, 20.0),)),
        Marks("overflow", 0, ProcessId(rank=7), 1, ((1440, None),)),
    )
    (panel,) = made(LOSS, marks=marks)
    assert [(spot.kind, spot.x, spot.line) for spot in panel.spots] == [
        ("checkpoint", 10.0, 1431),
        ("checkpoint", 35.0, 1455),
    ]


def test_the_failure_and_the_crash_are_marked_on_every_panel_of_the_source() -> None:
    """What comes behind the last record stands a little behind it.

    Another file's panels show none of it.
    """
    other = replace(a_series("loss", STEPS, STEPS), source=1)
    fields = {
        "first_failure": FirstFailure(0, RANK_3, 1475, None, "why"),
        "marks": (Marks("crash", 0, RANK_3, 1, ((1600, None),)),),
    }
    found = made(LOSS, a_series("grad_norm", STEPS, STEPS), other, **fields)
    assert [[(spot.kind, spot.x) for spot in panel.spots] for panel in found] == [
        [("failure", 55.0), ("crash", pytest.approx(93.6))]
    ] * 2 + [[]]
    assert found[0].right == pytest.approx(93.6)


def test_the_first_non_finite_value_is_marked_on_all_panels_of_its_process() -> None:
    """The gradient norm fails first: the loss's panel says so by its name."""
    loss, norm = (
        a_series("loss", STEPS, [1.0] * 6 + [nan] * 4),
        a_series("grad_norm", STEPS, [1.0] * 5 + [nan] * 5),
    )
    found = made(loss, norm, a_series("learning_rate", STEPS, STEPS))
    assert [panel.bad and (panel.bad.name, panel.bad.step, panel.bad.line) for panel in found] == [
        ("grad_norm", 50.0, 1470)
    ] * 3
    assert [[spot.x for spot in panel.spots if spot.kind == "bad"] for panel in found] == [
        [50.0]
    ] * 3


def test_a_second_attempt_is_marked_where_it_begins() -> None:
    """Steps that begin again make an axis of records.

    The new attempt stands between its records.
    """
    again = a_series("loss", STEPS, STEPS)
    again = replace(
        again, samples=tuple((step % 50, value, line) for step, value, line in again.samples)
    )
    (panel,) = made(
        again, attempts=(Attempt(0, 1, 1465, "failed"), Attempt(0, 1465, 1600, "failed"))
    )
    assert panel.axis == "record"
    assert [(spot.kind, spot.x) for spot in panel.spots] == [("restarted", 5.5)]


def test_a_close_up_shows_what_its_place_shows() -> None:
    """The neighbourhood of a NaN at the end, with its mark and nothing else."""
    long = a_series("loss", [float(step) for step in range(400)], [1.0] * 398 + [nan] * 2)
    (panel,) = made(long, marks=(Marks("checkpoint", 0, NOWHERE, 1, ((1500, None),)),))
    close = panel.close_up()
    assert close is not None
    assert (close.left, close.right, close.main.points) == (379.0, 399.0, 21)
    assert [spot.kind for spot in close.spots] == ["bad"]
    assert close.close_up() is None
    (panel,) = made(long, first_failure=FirstFailure(0, RANK_3, 1900, None, "why"))
    # what comes behind the last record belongs to it
    assert "failure" in {spot.kind for spot in panel.close_up().spots}


def test_a_curve_too_long_for_all_its_points_can_be_seen_around_its_fault() -> None:
    """Also in the middle of the run: the points there are all kept.

    A short curve shows it by itself.
    """
    long = a_series("loss", [float(step) for step in range(400)], [1.0] * 200 + [nan] * 200)
    assert [panel.near for panel in (*made(long), *made(replace(long, points=40_000)))] == [
        None,
        (190.0, 210.0),
    ]
    assert made(replace(a_series("loss", STEPS, STEPS), points=40_000))[0].near is None


def test_one_sample_makes_no_panel() -> None:
    """It is told in words, unless it stands beside a curve."""
    assert made(a_series("loss", [1.0], [1.0])) == ()
    (panel,) = made(LOSS, a_series("eval_loss", [50.0], [1.0]))
    assert [track.form for track in panel.tracks] == ["line", "points"]
