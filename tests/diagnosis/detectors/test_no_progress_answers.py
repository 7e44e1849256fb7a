"""A classifier that learns nothing but how frequent its classes are, and one that does learn."""

from collections.abc import Mapping, Sequence

import pytest

from tests.diagnosis.detectors.made_curves import found

EPOCHS = [float(epoch) for epoch in range(40)]
LEVEL = [2.31 - 0.0015 * epoch for epoch in range(40)]
FALLING = [2.31 * 0.97**epoch for epoch in range(40)]
LOW = [0.1 + 0.0015 * epoch for epoch in range(40)]
RISING = [0.1 + 0.01 * epoch for epoch in range(40)]


@pytest.mark.parametrize(
    "series",
    [
        pytest.param({"epoch": EPOCHS, "loss": LEVEL, "val_acc": LOW}, id="a share"),
        pytest.param(
            {"epoch": EPOCHS, "loss": LEVEL, "acc": [100 * one for one in LOW]}, id="in per cent"
        ),
    ],
)
def test_answers_hardly_change(series: Mapping[str, Sequence[float | None]]) -> None:
    """The loss stays near its first level, and the accuracy is low at last."""
    assert "no-progress" in found(series)


@pytest.mark.parametrize(
    "series",
    [
        pytest.param({"epoch": EPOCHS, "loss": FALLING, "acc": LOW}, id="the loss falls"),
        pytest.param({"epoch": EPOCHS, "loss": LEVEL, "acc": RISING}, id="the accuracy rises"),
        pytest.param(
            {"epoch": EPOCHS, "loss": LEVEL, "acc": [0.6 + one / 10 for one in LOW]},
            id="most answers are right",
        ),
        pytest.param({"epoch": EPOCHS[:9], "loss": LEVEL[:9], "acc": LOW[:9]}, id="a few epochs"),
        pytest.param(
            {"epoch": [80 + one for one in EPOCHS], "loss": LEVEL, "acc": LOW}, id="a late stretch"
        ),
        pytest.param({"epoch": EPOCHS, "loss": LEVEL}, id="no accuracy"),
    ],
)
def test_no_such_course(series: Mapping[str, Sequence[float | None]]) -> None:
    """Sound courses, and those that tell too little, are silent."""
    assert "no-progress" not in found(series)
