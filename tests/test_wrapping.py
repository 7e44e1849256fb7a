"""The verdict does not move when every line of a log is wrapped.

A stamp, a rank, a task number, colours, a logger's prefix, one around the other.

The wrappings, and all samples under all of them, are in `benchmarks/wrapping.py`; here each sample
meets two of them in turn.
"""

import pytest
import samples
import wrapping

FOLDER = samples.ROOT / "sample_logs"
CASES = [samples.input_of(label) for label in samples.labels_in(FOLDER)]
NAMES = list(wrapping.WRAPPINGS)
BATCHES = 12


@pytest.mark.parametrize("batch", range(BATCHES))
def test_no_cause_moves(batch: int) -> None:
    """What says nothing new changes nothing."""
    found = {}
    for number in range(batch, len(CASES), BATCHES):
        name = NAMES[number % len(NAMES)]
        if moved := wrapping.moved(CASES[number], [name])[1]:
            found[CASES[number].name] = moved
    assert found == {}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "case",
    [
        # an exception before the launcher's own lines: where its message ends
        "pytorch/dist-filtered-console-0.log",
        "pytorch/dist-srun-exhausted-0.log",  # task numbers of srun, inside
        "pytorch/hang-queue-0.log",  # the printed clock shows that it stands still
        "pytorch/curve-terminated-stalled-0.log",  # the same, in a few lines
    ],
)
def test_where_the_wrapping_hides_most(case: str, name: str) -> None:
    """Samples whose verdict hangs on clocks, labels or the end of a message, in every wrapping."""
    assert wrapping.moved(FOLDER / case, [name])[1] == []
