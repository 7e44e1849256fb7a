"""The seconds that each record took, in the words of several programs, and a run that slows."""

from collections.abc import Callable

import pytest

from postmortem.api import analyze

STEADY = [10.4, 10.1, 10.6, 10.2, 10.5, 10.3] * 3
SLOWED = STEADY[:9] + [10 * one for one in STEADY[9:]]


def since_start(figures: list[float]) -> list[float]:
    """Their sums."""
    return [sum(figures[: number + 1]) for number in range(len(figures))]


def within_epoch(figures: list[float]) -> list[float]:
    """Their sums, begun anew at every sixth."""
    return [sum(figures[number - number % 6 : number + 1]) for number in range(len(figures))]


def log(row: Callable[[int, float, float], str], figures: list[float]) -> bytes:
    """A log with a loss that falls."""
    rows = (row(number, 2.5 * 0.95**number, one) for number, one in enumerate(figures))
    return "".join(rows).encode()


ROWS = [
    pytest.param(lambda n, x, s: f"epoch {n} train loss {x:.4f} ({s:.1f}s)\n", id="in brackets"),
    pytest.param(lambda n, x, s: f"[{n * 50:5d}/9000] loss: {x:.4f} time: {s:.1f}\n", id="no unit"),
    pytest.param(lambda n, x, s: f"iter {n * 20}: loss {x:.4f}, took {s:.1f} sec\n", id="took"),
    pytest.param(
        lambda n, x, s: f"step {n} | loss {x:.4f} | elapsed {s * 1e3:.0f} ms\n", id="milliseconds"
    ),
    pytest.param(
        lambda n, x, s: f"epoch {n} train loss {x:.4f}\nEpoch time: {s:.1f}s\n", id="its own line"
    ),
]
OTHERS = [
    pytest.param(
        lambda n, x, s: f"epoch {n} train loss {x:.4f} (eval {s:.1f}s)\n", id="of an evaluation"
    ),
    pytest.param(lambda n, x, s: f"epoch {n} train loss {x:.4f} eta time: {s:.1f}\n", id="left"),
    pytest.param(lambda n, x, s: f"epoch {n} train loss {x:.4f} ({s:.1f})\n", id="no seconds"),
    pytest.param(lambda n, x, s: f"epoch {n} train loss {x:.4f} time: {s:.0f}:20:31\n", id="clock"),
]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize(
    ("figures", "is_slow"),
    [
        pytest.param(SLOWED, True, id="ten times as long from some record on"),
        pytest.param(SLOWED[4:13], True, id="nine records are enough"),
        pytest.param(STEADY, False, id="as long throughout"),
        pytest.param([*STEADY, 104.0], False, id="one record"),
        pytest.param([90.0, 60.0, *STEADY], False, id="slow at first"),
        pytest.param(since_start(STEADY), False, id="since the start"),
        pytest.param(since_start([one / 200 for one in STEADY]), False, id="of few digits"),
        pytest.param(within_epoch(STEADY), False, id="since the epoch began"),
        pytest.param(SLOWED[5:11], True, id="two records of a tenth of the pace"),
        pytest.param(SLOWED[4:10], False, id="too few"),
    ],
)
def test_a_run_that_slows(
    row: Callable[[int, float, float], str], figures: list[float], *, is_slow: bool
) -> None:
    """By what its lines tell of each record."""
    verdict = analyze(log(row, figures)).verdict
    assert (verdict.cause == "performance.slow") == is_slow


@pytest.mark.parametrize("row", OTHERS)
def test_times_of_something_else(row: Callable[[int, float, float], str]) -> None:
    """Only what the record itself took is its pace."""
    assert analyze(log(row, SLOWED)).verdict.cause != "performance.slow"
