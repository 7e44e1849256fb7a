"""Of several training losses of a process one is `loss`."""

import pytest

from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.extraction.formats.loss_owners import LossOwners


@pytest.mark.parametrize(
    ("printed", "called", "changes"),
    [
        pytest.param(
            [("loss", True), ("avg_loss", False)], ["loss", "avg_loss"], 0, id="the first is it"
        ),
        pytest.param(
            [("avg_loss", True), ("loss", True), ("avg_loss", True)],
            ["loss", "loss", "avg_loss"],
            1,
            id="a plain one with a step takes it over",
        ),
        pytest.param(
            [("loss", True), ("loss", False)], ["loss", "epoch_loss"], 0, id="that of the epoch"
        ),
        pytest.param([("", False), ("loss", True)], ["loss", "loss"], 0, id="no name is printed"),
    ],
)
def test_one_spelling_is_the_loss(
    printed: list[tuple[str, bool]], called: list[str], changes: int
) -> None:
    """The others keep their names."""
    owners = LossOwners()
    assert [owners.called(mine, NOWHERE) for mine in printed] == called
    assert owners.changes == changes


def test_each_process_has_its_own() -> None:
    """What one process calls its loss says nothing of another."""
    owners, other = LossOwners(), ProcessId(rank=1)
    owners.called(("loss", True), NOWHERE)
    assert (owners.is_owned(NOWHERE), owners.is_owned(other)) == (True, False)
    assert owners.called(("avg_loss", False), other) == "loss"
