"""Scores that are next to nothing: all of them, late enough, and not on their way up."""

import pytest

from tests.diagnosis.detectors.made_curves import found

LATE = {"epoch": [4.0] * 6}
EARLY = {"epoch": [1.0] * 6}
ZERO = [0.0] * 6


@pytest.mark.parametrize(
    ("series", "shape"),
    [
        pytest.param(
            LATE | {"f1": ZERO, "loss": [0.3, 0.31, 0.29, 0.3, 0.31, 0.3]}, "nothing-moves", id="f1"
        ),
        pytest.param(
            LATE | {"mcc": ZERO, "loss": [0.6, 0.5, 0.4, 0.3, 0.2, 0.1]},
            "collapse",
            id="loss falls",
        ),
        pytest.param(
            LATE | {"rec@1": [0.001, 0.0011, 0.001, 0.0009, 0.001, 0.001]},
            "nothing-moves",
            id="chance among a thousand",
        ),
        pytest.param(
            {"epoch": [98.0, 99.0], "dice": [0.0, 0.0]}, "nothing-moves", id="two, but very late"
        ),
        pytest.param(
            LATE | {"recall": ZERO, "box_loss": [0.11, 0.1, 0.093, 0.088, 0.085, 0.082]},
            None,
            id="a young detector",
        ),
        pytest.param(EARLY | {"f1": ZERO}, None, id="the beginning"),
        pytest.param(LATE | {"f1": ZERO, "accuracy": [0.9] * 6}, None, id="another is sound"),
        pytest.param(
            LATE | {"rec@1": [0.001, 0.001, 0.002, 0.003, 0.004, 0.005]}, None, id="on its way up"
        ),
        pytest.param(LATE | {"f1": ZERO, "reward": [1.0] * 6}, None, id="a policy"),
        pytest.param(LATE | {"f1_class_3": ZERO}, None, id="of one class"),
    ],
)
def test_where_every_score_is_nothing(series: dict[str, list[float]], shape: str | None) -> None:
    """Nothing is right there, and one sound score says otherwise."""
    told = {"nothing-moves", "collapse", "stuck-score"} & found(series)
    assert told == ({shape} if shape else set())


@pytest.mark.parametrize(
    ("series", "is_found"),
    [
        pytest.param({"test/success_rate": [0.0, 0.05, 0.1, 0.05, 0.0] * 8}, True, id="it wavers"),
        pytest.param(
            {"success_rate": [0.003 * number for number in range(40)]}, False, id="it rises"
        ),
        pytest.param(
            {"success_rate": [0.05] * 40, "win_rate": [0.6] * 40}, False, id="another is high"
        ),
        pytest.param({"success_rate": [0.0, 0.05] * 6}, False, id="few records"),
    ],
)
def test_shares_that_never_rise(series: dict[str, list[float]], *, is_found: bool) -> None:
    """Many records of a low share show that nothing is learnt, a policy's too."""
    epochs = {"epoch": [float(number) for number in range(len(next(iter(series.values()))))]}
    assert ("no-progress" in found(series | epochs)) == is_found
