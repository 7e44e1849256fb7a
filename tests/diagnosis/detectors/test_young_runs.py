"""The first steps of a run are too early to expect anything; the same level later is a plateau."""

import pytest

from tests.diagnosis.detectors.made_curves import found

LEVEL = [6.907, 6.908, 6.909, 6.908, 6.907, 6.909, 6.908, 6.908]


@pytest.mark.parametrize(
    ("steps", "is_young"),
    [
        pytest.param([float(step) for step in range(1, 9)], True, id="each step"),
        pytest.param([14.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0], True, id="one is missing"),
        pytest.param([100.0 * step for step in range(1, 9)], False, id="each hundredth"),
    ],
)
def test_a_level_of_the_first_steps(steps: list[float], *, is_young: bool) -> None:
    """A loss that does not move."""
    assert ("plateau" in found({"loss": LEVEL}, steps=steps)) != is_young
