"""Values as bytes, and again the same to the last bit."""

import math
import pickle
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.core.host import helper_process
from postmortem.core.host.helper_process import pack_value, unpack_value

NAN = math.nan


def same(figures: "array[int] | array[float]") -> int:
    """The bytes that an array takes, once it has come back as it was."""
    data = pack_value({"figures": figures})
    again = unpack_value(data)["figures"]
    assert (again.typecode, again.tobytes()) == (figures.typecode, figures.tobytes())
    return len(data)


@pytest.mark.parametrize(
    "figures",
    [
        pytest.param(array("q", range(1, 50_001)), id="lines"),
        pytest.param(array("q", range(10**15, 10**15 + 50_000)), id="far lines"),
        pytest.param(array("d", map(float, range(0, 2_500_000, 50))), id="steps"),
        pytest.param(array("d", [0.0, 25.0, 50.0, 75.0, 100.0] * 10_000), id="a bar"),
        pytest.param(array("d", [NAN] * 50_000), id="no steps"),
        pytest.param(array("d", [0.1] * 50_000), id="a constant"),
    ],
)
def test_what_goes_on_by_little_takes_little_room(figures: "array[int] | array[float]") -> None:
    """A byte or two for each figure in the place of eight."""
    assert same(figures) < 2.1 * len(figures)


@pytest.mark.parametrize(
    "figures",
    [
        pytest.param(array("d", [0.0, -0.0] * 1000), id="zeros of both signs"),
        pytest.param(array("d", [1.0, NAN, math.inf, -math.inf, 5e-324] * 1000), id="not finite"),
        pytest.param(array("d", [1e300, -1e300, 2.0**63, 2.0**53 + 2] * 1000), id="too large"),
        pytest.param(array("q", [-(2**63), 2**63 - 1] * 1000), id="differences that overflow"),
        pytest.param(array("i", range(5000)), id="of another kind"),
        pytest.param(array("d"), id="empty"),
    ],
)
def test_what_does_not_comes_back_as_well(figures: "array[int] | array[float]") -> None:
    """It stands as it is."""
    same(figures)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.floats(), st.integers(-9, 9).map(float)), max_size=30),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30),
)
def test_any_figures_come_back(floats: list[float], whole: list[int]) -> None:
    """Whatever they are, long arrays and short ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(helper_process, "_LONG", 2)
        same(array("d", floats))
        same(array("q", whole))


def test_other_values_stand_as_pickle_writes_them() -> None:
    """Nothing but arrays is looked at."""
    value = {"a": [1, 2.5, None], "b": ("x", b"y")}
    assert bytes(pack_value(value)) == pickle.dumps(value, protocol=5)
