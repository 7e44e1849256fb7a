"""Figures that leap by orders of magnitude, however few their records."""

from collections.abc import Sequence

import pytest

from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors import jumps
from postmortem.diagnosis.detectors.observed import Curves, Observed
from postmortem.extraction.facts.series import Series


def observed(losses: Sequence[float], *others: str) -> Observed:
    """A process with these losses, and further figures of these names."""
    loss = Series("loss", "test", 0, NOWHERE)
    for step, value in enumerate(losses):
        loss.append(float(step), value, step + 1)
    loss.settle()
    named = []
    for name in others:
        one = Series(name, "test", 0, NOWHERE)
        for step in range(len(losses)):
            one.append(float(step), 1.0, step + 1)
        one.settle()
        named.append(one)
    return Observed(series=[loss, *named], curves=Curves([loss, *named]))


@pytest.mark.parametrize(
    ("losses", "shapes"),
    [
        pytest.param((9.5, 8.5, 1200.0), {"loss-spike", "huge-spike"}, id="at the end"),
        pytest.param((9.5, 8.5, 9200.0), {"loss-divergence"}, id="over orders of magnitude"),
        pytest.param((9.5, 9200.0), set(), id="behind one record, which may be of another kind"),
        pytest.param((2.0, 5e18), {"loss-divergence"}, id="beyond all bounds behind one record"),
        pytest.param((2.2, 60.0, 2000.0), {"loss-divergence"}, id="step by step"),
        pytest.param((-3.0, -2.5, -90.0, -6e3), set(), id="a likelihood that falls far"),
        pytest.param(
            (-5.25, -5.5, -5.0, 41000.0, -3.5, -4.0),
            {"loss-spike", "huge-spike", "spike-recovers"},
            id="of a signed loss, and back",
        ),
        pytest.param((9.5, 9.0, 95.0), set(), id="ten times"),
        pytest.param((0.0, 0.01, 8.0), set(), id="small"),
        pytest.param((9.5, 8.5, 9200.0, float("nan")), set(), id="told elsewhere"),
        pytest.param((9.5, 8.5, 9200.0, *[9.0] * 9), set(), id="many records"),
    ],
)
def test_a_loss_that_leaps(losses: Sequence[float], shapes: set[str]) -> None:
    """By a hundred times all it has been; longer curves above 0 are judged elsewhere."""
    assert {shape.id for shape in jumps.detect_loss_jumps(observed(losses))} == shapes


def test_a_critic_may_rise() -> None:
    """Beside a reward a loss must leap by more."""
    assert not list(jumps.detect_loss_jumps(observed((9.5, 8.5, 2000.0), "reward")))
    assert list(jumps.detect_loss_jumps(observed((9.5, 8.5, 90000.0), "reward")))


def lines(*figures: str) -> Observed:
    """A log of lines that count up, of which nobody makes records."""
    text = "\n".join(
        f"epoch, {number:04d}, {figure}, 0.25" for number, figure in enumerate(figures, 40)
    )
    return Observed(heads={0: text}, tails={0: (1, text)}, processes={0: NOWHERE})


@pytest.mark.parametrize(
    ("figures", "line"),
    [
        pytest.param(("0.05", "0.06", "0.04", "0.07", "19.5"), 5, id="at last"),
        pytest.param(("0.05", "0.06", "3e29", "0.07", "0.05"), 3, id="beyond all bounds"),
        pytest.param(("0.05", "0.06", "0.04", "0.07", "0.9"), None, id="calm"),
        pytest.param(("10", "2000", "40000", "9000000"), None, id="a count"),
        pytest.param(("9.0", "0.0", "0.0", "1145.0", "0.0"), None, id="a time that is mostly 0"),
    ],
)
def test_a_figure_without_a_name(figures: tuple[str, ...], line: int | None) -> None:
    """It ends health, and is a spike of something."""
    found = {(shape.id, shape.line) for shape in jumps.detect_unnamed_metric_jumps(lines(*figures))}
    assert found == (set() if line is None else {("metric-absurd", line), ("loss-spike", line)})
