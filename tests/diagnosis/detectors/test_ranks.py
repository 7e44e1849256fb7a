"""The rank whose curve goes bad before the others', and ranks that have more to do than others."""

import math

import pytest

from postmortem.core.findings import ProcessId
from postmortem.diagnosis.detectors import ranks
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Series


def _series(rank: int, bad_from: int | None, *, name: str = "loss", length: int = 10) -> Series:
    """A loss that is finite up to a step."""
    one = Series(name, "pytorch", rank, ProcessId(rank=rank))
    for step in range(length):
        one.append(step, math.nan if bad_from is not None and step >= bad_from else 1.0, step + 1)
    one.settle()
    return one


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        pytest.param(
            [_series(0, 6), _series(1, 5), _series(2, 6)],
            "rank 1: loss nan at step 5; rank 0, rank 2: from step 6 on",
            id="a step before the others",
        ),
        pytest.param(
            [_series(0, None), _series(1, 5)],
            "rank 1: loss nan at step 5; rank 0: finite throughout",
            id="the others stay finite",
        ),
        pytest.param([_series(0, 5), _series(1, 5)], None, id="all in one step"),
        pytest.param([_series(0, 5)], None, id="one rank alone"),
        pytest.param(
            [_series(0, 6, name="eval_loss"), _series(1, 5, name="eval_loss")],
            None,
            id="evaluation",
        ),
        pytest.param(
            [_series(0, None, length=4), _series(1, 5)], None, id="the others did not come so far"
        ),
    ],
)
def test_the_rank_that_goes_bad_first(series: list[Series], expected: str | None) -> None:
    """Only a rank that is alone at the earliest bad step counts."""
    found = list(ranks.detect_first_nonfinite_process(Observed(series=series)))
    assert [shape.message.text("en") for shape in found] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        pytest.param(
            [
                (0, ProcessId(rank=0), 10, "step 11/12 loss 1\nstep 12/12 loss 1\ndone"),
                (1, ProcessId(rank=1), 10, "step 12/13 loss 1"),
            ],
            ("step counts to 12 on rank 0, 13 on rank 1", 1, 10),
            id="by file",
        ),
        pytest.param(
            [(0, ProcessId(), 1, "[rank0]: batch 4/20 x\n[rank1]: batch 4/13 x")],
            ("batch counts to 13 on rank 1, 20 on rank 0", 0, 1),
            id="by label",
        ),
        pytest.param(
            [(0, ProcessId(rank=0), 1, "step 3/12"), (1, ProcessId(rank=1), 1, "step 3/12")],
            None,
            id="the same",
        ),
        pytest.param(
            [(0, ProcessId(rank=0), 1, "step 3/12"), (1, ProcessId(rank=1), 1, "batch 3/13")],
            None,
            id="of different things",
        ),
        pytest.param(
            [(0, ProcessId(), 1, "step 3/12\nstep 3/13")], None, id="of nobody in particular"
        ),
    ],
)
def test_ranks_with_different_numbers_of_steps(
    ends: list[tuple[int, ProcessId, int, str]], expected: tuple[str, int, int] | None
) -> None:
    """The rank with most to do is named: it is the one that waits."""
    observed = Observed(
        tails={source: (begin, text) for source, _, begin, text in ends},
        processes={source: where for source, where, _, _ in ends},
    )
    found = [
        (shape.message.text("en"), shape.source, shape.line)
        for shape in ranks.detect_uneven_step_counts(observed)
    ]
    assert found == ([expected] if expected else [])
