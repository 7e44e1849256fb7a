"""That a run is through with the last epoch that it plans."""

import pytest

from postmortem.diagnosis.case.outcomes import find_reached_plan
from postmortem.extraction.job import read
from postmortem.pipeline import get_matcher


def is_through(*lines: str, ends: tuple[float, ...] = ()) -> bool:
    """Say whether a log shows it."""
    extract = read(["\n".join(lines).encode()], get_matcher(()))
    return "last-epoch" in find_reached_plan(extract, ends)


def epochs(count: int, of: int, first: int = 1) -> list[str]:
    """A log of a record an epoch."""
    return [f"Epoch {epoch}/{of} loss: {1 / epoch:.4f}" for epoch in range(first, first + count)]


def test_the_last_epoch_is_reached() -> None:
    """And not before."""
    assert is_through(*epochs(8, 8))
    assert not is_through(*epochs(7, 8))


def test_epochs_may_be_counted_from_zero() -> None:
    """Then the last one is one less than their number; else one is missing."""
    lines = [f"Epoch: [{epoch}/8] loss: {1 / (epoch + 1):.4f}" for epoch in range(8)]
    assert is_through(*lines)
    assert not is_through(*lines[1:])
    assert not is_through(*lines[:-1])


@pytest.mark.parametrize(("count", "expected"), [(5, True), (2, False)])
def test_the_last_epoch_has_as_many_records(count: int, *, expected: bool) -> None:
    """As the one before it."""
    lines = [
        f"epoch {epoch}/4 step {step}/500 loss {1 / (epoch * step):.5f}"
        for epoch in range(1, 5)
        for step in range(100, 501, 100)
    ]
    assert is_through(*lines[: len(lines) - 5 + count]) is expected


@pytest.mark.parametrize("is_evaluated", [True, False])
def test_an_evaluation_is_part_of_an_epoch(*, is_evaluated: bool) -> None:
    """One that every other epoch has is awaited in the last."""
    lines = []
    for epoch in range(1, 7):
        lines += [f"Epoch {epoch}/6", f"train loss: {1 / epoch:.4f}"]
        lines += [f"val loss: {1.1 / epoch:.4f}"] if epoch < 6 or is_evaluated else []
    assert is_through(*lines) is is_evaluated


def test_the_plan_may_stand_in_the_settings() -> None:
    """And a record name its epoch alone."""
    lines = [f"[Epoch {epoch}] training: loss={1 / (epoch + 1):.4f}" for epoch in range(6)]
    assert is_through("Namespace(lr=0.1, num_epochs=6, seed=1)", *lines)
    assert not is_through("Namespace(lr=0.1, num_epochs=9, seed=1)", *lines)


def test_a_sentence_may_name_the_epoch() -> None:
    """And the losses beside it."""
    lines = [
        f"Epoch is [{epoch}/6], mini-batch is [27/27], batch_loss is {1 / epoch:.5f}"
        for epoch in range(1, 7)
    ]
    assert is_through(*lines)
    assert not is_through(*lines[:-1])


def test_the_last_step_of_the_only_epoch() -> None:
    """It has no epoch before it to be compared with."""
    lines = [f"Epoch:[1/1]({step}/500), loss: {9 / step:.4f}" for step in range(10, 501, 10)]
    assert is_through(*lines)
    assert not is_through(*lines[:-1])
    assert not is_through(*(line.replace("1/1", "1/2") for line in lines))


def test_another_attempt_ended_there() -> None:
    """No plan is printed then, and the epoch is as long as those before it."""
    lines = [f"Epoch {epoch} loss: {1 / epoch:.4f}" for epoch in range(1, 13)]
    assert is_through(*lines, ends=(12.0,))
    assert not is_through(*lines, ends=(30.0,))
    assert not is_through(*lines)


def test_few_epochs_tell_nothing() -> None:
    """Two may be whatever else is counted."""
    assert not is_through(*epochs(2, 2))
