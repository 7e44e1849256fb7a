"""Of several training losses of a process one is `loss`."""

import pytest

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.extraction.formats.losses import LossOwners


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
        pytest.param(
            [("part_loss", True), ("average_loss", True), ("part_loss", True)],
            ["loss", "loss", "part_loss"],
            1,
            id="a plain one takes over from a part",
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


def test_who_is_loss_no_more_is_named() -> None:
    """What was taken for the loss so far gets the name under which it is printed."""
    owners, renamed = LossOwners(), list[tuple[str, ProcessId]]()
    owners.rename = lambda name, where: renamed.append((name, where))
    owners.called(("part_loss", True), NOWHERE)
    assert owners.called(("average_loss", True), NOWHERE) == "loss"
    assert renamed == [("part_loss", NOWHERE)]


@pytest.mark.parametrize(
    ("records", "called"),
    [
        pytest.param([("dice", True), ("dice", False)], ["dice", "epoch_dice"], id="of an epoch"),
        pytest.param([("dice", False), ("dice", True)], ["dice", "dice"], id="of an epoch first"),
        pytest.param([("lr", True), ("acc", False)], ["lr", "acc"], id="of different names"),
        pytest.param(
            [("eval_loss", True), ("eval_loss", False)], ["eval_loss"] * 2, id="evaluated"
        ),
        pytest.param([("val_acc", True), ("val_acc", False)], ["val_acc"] * 2, id="of a split"),
    ],
)
def test_figures_of_epochs_are_told_from_those_of_steps(
    records: list[tuple[str, bool]], called: list[str]
) -> None:
    """Only where the steps came first: else nothing tells which is which."""
    owners = LossOwners()
    assert [
        owners.name_figure(name, NOWHERE, has_step=has_step) for name, has_step in records
    ] == called
