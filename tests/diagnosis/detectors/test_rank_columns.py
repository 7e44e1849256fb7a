"""Ranks side by side on one line: the one that goes bad alone."""

import math
from collections.abc import Mapping, Sequence

import pytest

from tests.diagnosis.detectors.made_curves import found

NAN = math.nan
GOOD = (2.3, 2.2, 2.1, 2.0)


@pytest.mark.parametrize(
    ("values", "is_alone"),
    [
        pytest.param({"r0": GOOD, "r1": (2.3, NAN, NAN, NAN), "r2": GOOD}, True, id="r1"),
        pytest.param({"loss_rank0": GOOD, "loss_rank1": (2.3, 2.2, NAN, 2.0)}, True, id="words"),
        pytest.param(
            {"gpu0": (2.3, 2.2, NAN, NAN), "gpu1": (2.3, NAN, NAN, NAN)}, True, id="spreads"
        ),
        pytest.param(
            {"gpu0": (2.3, NAN, NAN, NAN), "gpu1": (2.3, NAN, NAN, NAN)}, False, id="at once"
        ),
        pytest.param({"layer0": GOOD, "layer1": (2.3, NAN, NAN, NAN)}, False, id="no ranks"),
        pytest.param({"r0": GOOD, "r1": GOOD}, False, id="all finite"),
        pytest.param({"r1": (2.3, NAN, NAN, NAN)}, False, id="one column"),
    ],
)
def test_one_column_alone(values: Mapping[str, Sequence[float]], *, is_alone: bool) -> None:
    """Only columns of ranks are compared, and only one may be first."""
    assert ("one-rank-first" in found(values)) == is_alone
