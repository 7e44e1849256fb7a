"""One output for all samples is told from samples that are alike, or right."""

import pytest

from postmortem.diagnosis.detectors import scores
from postmortem.diagnosis.detectors.observed import Observed


def lines(*pairs: tuple[str, str]) -> Observed:
    """A source that shows samples and nothing else."""
    rows = [f"  - ref: {reference!r}\n  - pred: {output!r}" for reference, output in pairs]
    return Observed(tails={0: (1, "\n".join(rows))})


@pytest.mark.parametrize(
    ("pairs", "is_told"),
    [
        ([("a dog", "the the"), ("two men", "the the"), ("a car", "the the")], True),
        ([("a dog", "e"), ("two men", "e")], True),
        ([("a dog", "the the"), ("two men", "the the")], False),
        ([("a dog", "a dog"), ("two men", "two man"), ("a car", "a car")], False),
        ([("yes", "yes"), ("yes", "yes"), ("yes", "yes")], False),
        ([], False),
    ],
)
def test_all_samples_must_differ_but_not_their_outputs(
    pairs: list[tuple[str, str]], *, is_told: bool
) -> None:
    """Two will do where the output is next to nothing."""
    assert [one.id for one in scores.detect_output_collapse(lines(*pairs))] == [
        "collapse"
    ] * is_told
