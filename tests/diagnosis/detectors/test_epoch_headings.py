"""Records below headings: their epochs, and accuracies that are never better than at first."""

import math
from collections.abc import Callable, Iterable

import pytest

from postmortem.api import analyze
from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.record_lines import build_epoch_series
from postmortem.extraction.facts.series import Series

SOURCE = 0


def epochs(lines: Iterable[str], records: Iterable[int], first: int = 0) -> list[float]:
    """The epochs of records on these lines; from line `first` on they are the tail."""
    text = list(lines)
    series = Series("loss", "test", SOURCE, NOWHERE)
    for line in records:
        series.append(math.nan, 2.0, line)
    series.settle()
    head = "".join(f"{line}\n" for line in text[: first - 1]) if first else ""
    tail = "\n".join(text[first - 1 :] if first else text)
    observed = Observed(series=[series], heads={SOURCE: head}, tails={SOURCE: (first or 1, tail)})
    found = build_epoch_series(observed, [series], (SOURCE, NOWHERE))
    return [value for one in found for value in one.values]


@pytest.mark.parametrize(
    "heading",
    [
        "Epoch {}/50",
        "Epoch: [{}]",
        "EPOCH {}",
        "=> Epoch {} of 9",
        "2024-05-01 10:00:00 INFO Epoch {}/50",
        "---------- epoch #{} ----------",
    ],
)
def test_the_epoch_of_a_record_is_that_of_its_heading(heading: str) -> None:
    """Whatever stands before it or around it."""
    lines = [part for n in (1, 2, 3) for part in (heading.format(n), "loss 2.0", "lr 0.1")]
    assert epochs(lines, [2, 5, 8]) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("lines", "records"),
    [
        pytest.param(["Epoch 1/9", "loss 2.0", "loss 2.0"], [2, 3], id="one heading"),
        pytest.param(["best at epoch 3 of run 7", "loss 2", "x", "loss 2"], [2, 4], id="prose"),
        pytest.param(["Epoch 1 loss 2", "Epoch 2 loss 2"], [1, 2], id="records of their own"),
    ],
)
def test_no_heading_no_epoch(lines: list[str], records: list[int]) -> None:
    """One heading tells of no change, and a line with figures is none."""
    assert epochs(lines, records) == []


def test_behind_the_gap_between_both_ends_a_heading_must_come_again() -> None:
    """What stands in it is not known."""
    lines = ["Epoch 1", "loss 2", "Epoch 2", "loss 2"] + ["x"] * 20
    tail = ["loss 2", "Epoch 90", "loss 2"]
    series = Series("loss", "test", SOURCE, NOWHERE)
    for line in (2, 4, 100, 102):
        series.append(math.nan, 2.0, line)
    series.settle()
    observed = Observed(
        series=[series],
        heads={SOURCE: "".join(f"{line}\n" for line in lines)},
        tails={SOURCE: (99, "\n".join(["cut", *tail]))},
    )
    found = build_epoch_series(observed, [series], (SOURCE, NOWHERE))
    assert [value for one in found for value in one.values] == [1.0, 2.0, 90.0]


def vision(accuracy: Callable[[int], float]) -> str:
    """A heading, then the summary of an evaluation."""
    return "".join(f"Epoch: [{n}]\n * Acc@1 {accuracy(n):.3f} Acc@5 50.0\n" for n in range(9))


def counted(accuracy: Callable[[int], float]) -> str:
    """A heading, then right answers of all."""
    return "".join(
        f"=> Epoch {n}\nTest set: Average loss: {2.6 + 0.1 * (n % 3):.4f},"
        f" Accuracy: {int(100 * accuracy(n))}/10000 ({accuracy(n):.0f}%)\n"
        for n in range(9)
    )


def spelled(accuracy: Callable[[int], float]) -> str:
    """A heading, then a line for each score."""
    return "".join(
        f"Epoch {n}/30\nTrain accuracy: {accuracy(n) + 0.01 * n:.2f}%\n"
        f"Test accuracy: {accuracy(n):.2f}%\n\n"
        for n in range(9)
    )


def beside(accuracy: Callable[[int], float]) -> str:
    """A heading, then a loss that moves by noise and an accuracy."""
    return "".join(
        f"Epoch {n}/30\n----------\ntrain Loss: {3.9 + 0.1 * (n % 3):.4f}"
        f" Acc: {accuracy(n) / 100:.4f}\n"
        for n in range(9)
    )


@pytest.mark.parametrize("log", [vision, counted, spelled, beside])
@pytest.mark.parametrize(
    ("accuracy", "is_level"),
    [
        pytest.param(lambda n: 10.0 + 0.1 * (n % 2), True, id="one in ten"),
        pytest.param(lambda n: 50.0 + 0.3 * (n % 3), True, id="one in two"),
        pytest.param(lambda n: 10.0 + 1.5 * n, False, id="it rises"),
        pytest.param(lambda n: 91.0 + 0.1 * (n % 2), False, id="level and high"),
        pytest.param(lambda n: 20.0 + 9.0 * (n % 2), False, id="it moves"),
    ],
)
def test_an_accuracy_that_never_gets_better(
    log: Callable[[Callable[[int], float]], str],
    accuracy: Callable[[int], float],
    *,
    is_level: bool,
) -> None:
    """In whatever dress, below a heading for each pass over the data."""
    verdict = analyze(log(accuracy).encode()).verdict
    assert (verdict.cause == "learning.plateau") == is_level


def test_few_passes_tell_nothing() -> None:
    """Four may be too early."""
    text = "".join(f"Epoch: [{n}]\n * Acc@1 {10 + n % 2 / 10:.3f}\n" for n in range(4))
    assert analyze(text.encode()).verdict.cause != "learning.plateau"


def test_a_loss_that_falls_speaks_for_learning() -> None:
    """The accuracy of a rare answer may be level for long."""
    text = "".join(
        f"Epoch {n}\ntrain loss: {4 * 0.9**n:.4f} acc: {0.4 + 0.001 * (n % 2):.3f}\n"
        for n in range(9)
    )
    assert analyze(text.encode()).verdict.cause == "healthy.running"
