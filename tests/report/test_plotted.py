"""Which curves are drawn, and where their samples stand."""

from dataclasses import replace
from math import nan

from postmortem.report.curves import build_curve, select_series
from tests.report.samples import a_series, series


def test_a_curve_stands_by_its_steps_unless_they_go_back() -> None:
    """Steps of a second attempt begin again: then the record number is the place."""
    assert build_curve(a_series("loss", [10.0, 20.0], [1.0, 2.0])).xs == (10.0, 20.0)
    again = build_curve(a_series("loss", [1.0, 2.0, 1.0], [1.0, 2.0, 3.0]))
    assert again.xs == (0.0, 1.0, 2.0)


def test_loss_comes_first_and_the_faulty_stream_before_the_healthy() -> None:
    """Of many series those that tell most are drawn."""
    healthy, faulty = (
        a_series("loss", [1.0, 2.0, 3.0], [1.0] * 3),
        a_series("loss", [1.0, 2.0], [1.0, nan]),
    )
    names = [one.name for one in select_series((*series(), healthy, faulty))]
    assert names == ["loss", "loss", "grad_norm", "loss_scale", "learning_rate"]
    assert select_series((healthy, faulty), each=1) == (faulty,)
    assert select_series((healthy,), ("grad_norm",)) == ()
    of_the_failing_file = replace(healthy, source=3)
    assert select_series((healthy, faulty, of_the_failing_file), each=1, failing=3) == (
        of_the_failing_file,
    )
