"""Losses and gradients that are warned of, at which record, and sound ones that are not."""

import math
import random
from collections.abc import Sequence

import pytest

from postmortem.core.diagnosis import MetricRecord, Sign
from postmortem.core.findings import NOWHERE
from postmortem.interfaces.watch.loss_signs import LossSigns

NAN = math.nan
FALLING = [4.0, 3.6, 3.3, 3.1, 2.9, 2.8, 2.7, 2.6, 2.6, 2.5, 2.5, 2.4, 2.4, 2.3]


def signs(
    losses: Sequence[float],
    norms: Sequence[float] | None = None,
    first: float = 1,
    every: float = 1,
    **more: float,
) -> list[Sign]:
    """The signs of a run with these losses, a record at every line."""
    looking = LossSigns()
    found: list[Sign] = []
    for index, loss in enumerate(losses):
        values = {"loss": loss, **more} | ({"grad_norm": norms[index]} if norms is not None else {})
        found += looking.take(
            MetricRecord(NOWHERE, "test", index + 1, first + every * index, values)
        )
    return found


def first_of(found: list[Sign]) -> tuple[str, int] | None:
    """Kind and line of the first sign."""
    return (found[0].kind, found[0].line) if found else None


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        pytest.param([2.0, 1.9, NAN], ("nan", 3), id="NaN at once"),
        pytest.param([math.inf, 1.9], ("nan", 1), id="inf in the first record"),
        pytest.param(
            [1.2, 5.0, 70.0, 2500.0, 1e5, 3e6],
            ("divergence", 6),
            id="a thousand times the first records",
        ),
        pytest.param(
            [*FALLING, 13.0, 15.0, 18.0, 30.0, 20.0],
            ("divergence", 19),
            id="five on end above three times all before",
        ),
        pytest.param(
            [*FALLING, 4.0, 6.0, 8.0, 8.5, 9.0, 10.0, 10.5, 11.0, 11.5, 11.7, 11.8],
            ("divergence", 24),
            id="a climb without a leap",
        ),
        pytest.param(
            [4.0, 33.0, 47.0, 42.0, 45.0, 45.0], ("divergence", 6), id="from the second step on"
        ),
        pytest.param([2e9, 3e9, 3e9, 2e9], ("divergence", 3), id="absurd from the first record on"),
        pytest.param([1.5, 1.4, 0.0, 0.0, 0.0, 0.0], ("hidden-nan", 5), id="a drop to exactly 0"),
        pytest.param([0.0] * 6, ("zero-loss", 5), id="0 from the start"),
    ],
)
def test_a_run_that_goes_wrong_is_warned_of(losses: list[float], expected: tuple[str, int]) -> None:
    """The kind, and the record at which it is said."""
    assert first_of(signs(losses)) == expected


@pytest.mark.parametrize(
    ("losses", "norms", "expected"),
    [
        pytest.param(
            [5.1, 0.0, 0.0], [1.2, NAN, NAN], ("hidden-nan", 2), id="0 beside a NaN gradient"
        ),
        pytest.param(
            [2.0] * 20,
            [1.0] * 12 + [math.inf] * 8,
            ("gradients", 15),
            id="inf three times on end, once the scaler had settled",
        ),
        pytest.param(
            [2.0] * 20,
            [NAN] * 20,
            ("gradients", 14),
            id="NaN at more records than any search for a scale takes",
        ),
        pytest.param(
            [2.0] * 20,
            [1.0] * 14 + [500.0] * 6,
            ("gradients", 17),
            id="hundreds of times the usual, three times on end",
        ),
        pytest.param(
            [11.0] * 6,
            [4e12, 6e12, 8e12, 1e13, 2e13, 3e13],
            ("gradients", 5),
            id="enormous and growing",
        ),
    ],
)
def test_gradients_that_go_wrong_are_warned_of(
    losses: list[float], norms: list[float], expected: tuple[str, int]
) -> None:
    """The same for gradients beside a finite loss."""
    assert first_of(signs(losses, norms)) == expected


@pytest.mark.parametrize(
    "losses",
    [
        pytest.param(FALLING, id="falls"),
        pytest.param(
            [*FALLING, 14.0, 16.0, 15.0, 13.0, 2.5, 2.4, 2.3, 2.3], id="a spike of four records"
        ),
        pytest.param(
            [10.0, 12.0, 14.0, 13.0, 11.0, 9.0, 7.0, 5.0, 4.0, 3.0, 2.0, 1.5],
            id="a rise in the warm-up",
        ),
        pytest.param(
            [*FALLING, 3.5, 4.2, 4.0, 3.8, 3.9, 4.1, 4.0, 4.0, 4.1],
            id="back to the start: another stage",
        ),
        pytest.param(
            [0.69, 0.2, 0.01, 0.001, 0.0, 0.0, 0.0, 0.0], id="learnt to the last printed digit"
        ),
        pytest.param([-1.0, -2.0, -3.5, -5.0, -6.0, -6.5], id="a log-likelihood"),
        pytest.param([0.001, 0.002, 0.05, 0.004, 0.06, 0.08, 0.09], id="too small to say"),
    ],
)
def test_a_sound_run_is_left_alone(losses: list[float]) -> None:
    """What sound runs look like on their way."""
    assert signs(losses) == []


def test_the_first_record_behind_a_resume_says_nothing_of_the_others() -> None:
    """It may be the mean of one micro-batch where the others are sums over many."""
    assert (
        signs([1.47, *[14.0 + 0.1 * (index % 7) for index in range(300)]], first=47700, every=10)
        == []
    )


def test_a_loss_that_leaves_its_first_value_for_good() -> None:
    """It was never lower than twice its first value again, and went on climbing."""
    assert signs([7.7, *[20.0 + index for index in range(40)]], every=10) != []
    assert signs([7.7, *[20.0 - 0.4 * index for index in range(40)]], every=10) == []


def test_a_scaler_that_looks_for_its_level_is_left_alone() -> None:
    """Gradients are inf at first; and where the scale is printed, the scale counts."""
    assert signs([2.0] * 20, [math.inf] * 8 + [1.0] * 12) == []
    assert signs([2.0] * 40, [1.0] * 12 + [math.inf] * 4 + [1.0] * 24, loss_scale=65536.0) == []


def test_the_loss_of_a_policy_may_be_anything() -> None:
    """Beside a reward, 0 is where it begins, and a climb is no divergence."""
    assert signs([0.0] * 8, reward=0.5) == []
    assert signs([0.02] * 14 + [0.5] * 10, reward=0.5) == []


def test_an_evaluation_that_is_not_finite_is_another_matter() -> None:
    """The kind tells it."""
    looking = LossSigns()
    assert [
        sign.kind
        for sign in looking.take(MetricRecord(NOWHERE, "test", 9, 100, {"eval_loss": NAN}))
    ] == ["eval-nan"]


def test_a_program_that_counts_nan_iterations_is_believed() -> None:
    """Megatron leaves such a loss out of its record."""
    looking = LossSigns()
    assert [
        sign.kind
        for sign in looking.take(
            MetricRecord(
                NOWHERE, "megatron", 9, 100, {"nan_iterations": 1.0, "learning_rate": 1e-4}
            )
        )
    ] == ["nan"]


def sound_curve(rng: random.Random) -> list[float]:
    """A sound curve: it falls with noise, warms up, spikes for a record or two.

    At times it starts anew.
    """
    start, floor, pace, noise = (
        rng.uniform(0.5, 12),
        rng.uniform(0.02, 0.4),
        rng.uniform(0.002, 0.1),
        rng.uniform(0.0, 0.35),
    )
    curve = []
    for index in range(rng.randint(30, 400)):
        level = (
            start
            * (floor + (1 - floor) * math.exp(-pace * index))
            * (1 + 0.3 * math.exp(-((index - 5) ** 2) / 8))
        )
        curve.append(level * math.exp(rng.gauss(0, noise)))
    for at in range(rng.randint(3, 20), len(curve), rng.randint(10, 200)):
        height = rng.uniform(2, 30)
        for index in range(at, min(at + rng.randint(1, 4), len(curve))):
            curve[index] *= height
    return curve


def test_no_sound_curve_is_warned_of() -> None:
    """A thousand of them, with noise of up to a third.

    Spikes are of up to thirty times the level.
    """
    rng = random.Random(7)
    assert [index for index in range(1000) if signs(sound_curve(rng))] == []


def test_a_norm_that_is_not_finite_in_between_does_not_hide_where_the_growth_began() -> None:
    """Large, not a number, large, large: it began with the first large one."""
    norms = [1.0] * 12 + [500.0, NAN, 500.0, 500.0]
    found = signs([2.5] * len(norms), norms)
    assert [(one.kind, one.line, one.first) for one in found] == [("gradients", 16, 13)]
