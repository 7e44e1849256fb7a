"""The loss of all processes of a job, compared."""

from dataclasses import replace
from math import nan

import pytest

from postmortem.core.answer import FirstFailure, SeriesView
from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.report.page.chart import draw_panel, serialize_panels
from postmortem.report.page.panel import Panel
from postmortem.report.page.panel_figures import build_panel_contexts
from postmortem.report.page.panel_layout import MOST, NAMED, build_panels, find_differing_losses
from postmortem.report.words import Words
from tests.report.samples import a_series, abstaining

STEPS = [float(step) for step in range(10)]


def loss(
    rank: int,
    bad: int | None = None,
    source: int = 0,
    name: str = "loss",
    shift: float | None = None,
) -> SeriesView:
    """The loss of one rank, NaN from a step on."""
    values = [
        3.0 + (rank if shift is None else shift) / 10 if bad is None or step < bad else nan
        for step in range(10)
    ]
    return replace(a_series(name, STEPS, values), where=ProcessId(rank=rank), source=source)


def arranged(*series: SeriesView, **fields: object) -> list[Panel]:
    """The panels of a job of these series."""
    diagnosis = replace(
        abstaining(),
        series=series,
        **{"marks": (), "attempts": (), "first_failure": None, **fields},
    )  # type: ignore[arg-type]
    return list(build_panels(diagnosis, series))


@pytest.mark.parametrize(
    ("series", "ranks", "has_odd"),
    [
        pytest.param(
            [loss(0, 6), loss(1, 5), loss(2, 6)], [1, 0, 2], True, id="one rank goes first"
        ),
        pytest.param(
            [loss(0), loss(1, 5), loss(2)], [1, 0, 2], True, id="one rank alone is not finite"
        ),
        pytest.param(
            [loss(2, 5), loss(1, 5), loss(0, 5)], [0, 1, 2], False, id="all in the same step"
        ),
        pytest.param([loss(0), loss(1)], [0, 1], False, id="all finite"),
        pytest.param(
            [loss(0, source=0), loss(1, 4, source=1)], [1, 0], True, id="a file for each rank"
        ),
        pytest.param(
            [loss(0, 5), loss(1, 5), loss(0, 5, name="local_loss"), loss(1, 4, name="local_loss")],
            [1, 0],
            True,
            id="the loss that tells the rank, before the averaged one",
        ),
        pytest.param([loss(0)], None, False, id="one process"),
        pytest.param(
            [loss(0, shift=0), loss(1, shift=0)], None, False, id="the same values on all"
        ),
        pytest.param(
            [loss(0, name="eval_loss"), loss(1, name="eval_loss")], None, False, id="evaluation"
        ),
        pytest.param(
            [loss(0, name="loss_scale"), loss(1, name="loss_scale")],
            None,
            False,
            id="the loss scale",
        ),
        pytest.param(
            [
                loss(0),
                replace(
                    loss(1),
                    samples=tuple(
                        (100 + (step or 0), value, line) for step, value, line in loss(1).samples
                    ),
                ),
            ],
            None,
            False,
            id="other steps",
        ),
        pytest.param(
            [
                loss(0),
                replace(
                    loss(1),
                    samples=tuple((None, value, line) for _, value, line in loss(1).samples),
                ),
            ],
            None,
            False,
            id="no steps",
        ),
    ],
)
def test_the_loss_of_processes_is_compared_where_it_can_be(
    series: list[SeriesView], ranks: list[int] | None, *, has_odd: bool
) -> None:
    """The odd one first, then by rank."""
    found = find_differing_losses(replace(abstaining(), series=tuple(series), first_failure=None))
    assert (found and [one.where.rank for one in found.series]) == ranks
    assert bool(found and found.has_odd) is has_odd


def test_where_all_fail_in_the_same_step_the_process_that_failed_first_is_the_odd_one() -> None:
    """The log may tell by time or traceback what the steps do not."""
    found = find_differing_losses(
        replace(
            abstaining(),
            series=(loss(0), loss(1, source=1)),
            first_failure=FirstFailure(1, ProcessId(rank=1), 50, None, "why"),
        )
    )
    assert found is not None
    assert (found.has_odd, found.series[0].where.rank) == (True, 1)


def test_the_panel_of_processes_comes_first_and_takes_their_losses() -> None:
    """No second panel shows the same; other metrics keep theirs."""
    first, second = arranged(loss(0, 6), loss(1, 5), loss(0, name="grad_norm"))
    assert first.is_of_processes
    assert [track.form for track in first.tracks] == ["odd", "dash-0"]
    assert (first.bad and (first.bad.step, first.bad.line)) == (5.0, 1425)
    assert second.main.name == "grad_norm"


def test_of_many_processes_eight_have_a_name() -> None:
    """The others are thin and grey, and no more than can be drawn."""
    (panel,) = arranged(*(loss(rank, 5 if rank == 70 else 6) for rank in range(100)))
    assert (len(panel.tracks), len(panel.named), panel.main.where.rank) == (MOST, NAMED, 70)
    diagnosis = replace(abstaining(), series=tuple(track.series for track in panel.tracks))
    (figure,) = build_panel_contexts(diagnosis, [panel], Words("en"))
    assert figure["table"]["head"] == [
        "step",
        "rank 70",
        *(f"rank {rank}" for rank in range(7)),
        "line",
    ]
    assert figure["texts"][-1] == "thin grey: 56 more processes"
    assert (
        draw_panel(panel, Words("en"), key="k", title="t", description="d").count(
            'class="curve thin'
        )
        == MOST - NAMED
    )


def test_a_figure_of_processes_names_them_everywhere() -> None:
    """Title, legend, text, table and the label above the drawing say which rank.

    They do so in the reader's language.
    """
    (panel,) = arranged(loss(0, 6), loss(1, 5))
    diagnosis = replace(abstaining(), series=(loss(0, 6), loss(1, 5)))
    (figure,) = build_panel_contexts(diagnosis, [panel], Words("en"))
    assert figure["title"] == "loss · 2 processes compared"
    assert [name for _, _, name, _ in figure["tracks"]] == ["rank 1", "rank 0"]
    assert figure["texts"][1] == "first non-finite: rank 1 step 5, rank 0 step 6"
    assert [(row["place"], row["values"]) for row in figure["table"]["rows"]][4:7] == [
        ("4", ["3.1", "3"]),
        ("5", ["NaN", "3"]),
        ("6", ["NaN", "NaN"]),
    ]
    assert "rank 1 NaN · step 5, line 1425" in figure["drawing"]
    assert '"processes":true' in serialize_panels([panel])


def test_files_that_name_no_rank_are_named_by_file() -> None:
    """Two files of a job without ranks are two processes."""
    one, other = replace(loss(0, 6), where=NOWHERE), replace(loss(1, 5), where=NOWHERE, source=1)
    diagnosis = replace(abstaining(), series=(one, other), first_failure=None)
    sources = (*diagnosis.sources[:1], replace(diagnosis.sources[0], path="job/other.log"))
    diagnosis = replace(diagnosis, sources=sources)
    (figure,) = build_panel_contexts(
        diagnosis, build_panels(diagnosis, diagnosis.series), Words("en")
    )
    assert next(name for _, _, name, _ in figure["tracks"]) == "other.log"
