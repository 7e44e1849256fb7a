"""Lines that count up where no record is read."""

import pytest

from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.progress_lines import detect_counting_lines


def is_counting(text: str) -> bool:
    """Say whether a log of these lines shows a run that goes on."""
    return bool(
        list(detect_counting_lines(Observed(heads={0: text + "\n"}, processes={0: NOWHERE})))
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "Evaluation [10/90] eta 0:10\nEvaluation [20/90] eta 0:09\nEvaluation [30/90] eta 0:08",
            id="an evaluation",
        ),
        pytest.param(
            " 1% (4 of 90) |#   | Elapsed 0:01\n 2% (6 of 90) |##  | Elapsed 0:02\n"
            " 9% (8 of 90) |### | Elapsed 0:03",
            id="a bar of another make",
        ),
        pytest.param(
            "End of epoch 7, took 4.5 s\nEnd of epoch 8, took 4.4 s\nEnd of epoch 9, took 4.6 s",
            id="ends of epochs",
        ),
        pytest.param(
            "\n".join(
                f"tick {n}  kimg {n}.5  sec/tick 88.{n}  augment 0.{n}" for n in range(1, 12)
            ),
            id="rows of names and figures",
        ),
    ],
)
def test_a_run_that_goes_on(text: str) -> None:
    """Three lines of one kind with a number that only rises."""
    assert is_counting(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("step 3\nstep 3\nstep 3", id="it stands still"),
        pytest.param("epoch 1 starts\nepoch 2 starts", id="two only"),
        pytest.param(
            '  File "train.py", line 3\n  File "train.py", line 5\n  File "train.py", line 9',
            id="frames",
        ),
        pytest.param("warning 1\nwarning 2\nwarning 3", id="of no work"),
        pytest.param(
            "\n".join(f"core {n}  mhz {n}.5  cache 88.{n}  temp 0.{n}" for n in range(0, 22, 2)),
            id="rows that do not count one by one",
        ),
    ],
)
def test_other_lines(text: str) -> None:
    """Nothing counts that no run prints to show how far it has come."""
    assert not is_counting(text)
