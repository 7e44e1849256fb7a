"""Versions that are printed are compared with ranges of rules as the ecosystem compares them."""

import hypothesis.strategies as st
import pytest
from hypothesis import given
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from postmortem.diagnosis.inference.rule_matching import is_version_match

RELEASES = st.lists(st.integers(0, 12), min_size=1, max_size=4).map(
    lambda parts: ".".join(map(str, parts))
)
COMPARISONS = st.lists(
    st.tuples(st.sampled_from(["==", "!=", ">=", "<=", ">", "<"]), RELEASES), min_size=1, max_size=3
)


@given(RELEASES, COMPARISONS)
def test_ranges_are_those_of_packaging(version: str, comparisons: list[tuple[str, str]]) -> None:
    """For each released version and each range."""
    text = ", ".join(f"{operator} {limit}" for operator, limit in comparisons)
    assert is_version_match(version, text) == SpecifierSet(text).contains(Version(version))


@pytest.mark.parametrize(
    ("version", "condition", "fits"),
    [
        pytest.param("2.6.0+cu124", "== 2.6", True, id="a local part does not count"),
        pytest.param("2.6.0a0+872d972e41.nv24.08", ">= 2.6", True, id="a vendor's build"),
        pytest.param("2.6.0.dev20241112", "< 2.6", False, id="a nightly build"),
        pytest.param(
            "3.10.12 | packaged by conda-forge", ">= 3.10, < 3.11", True, id="words behind"
        ),
        pytest.param("v4.40.1", "4.40", True, id="a beginning"),
        pytest.param("4.4.1", "4.40", False, id="another beginning"),
        pytest.param("535.104.05", "< 535.104.6", True, id="a driver"),
        pytest.param("11.8", ["11.7", "11.8"], True, id="one of a list"),
        pytest.param("12.1", ["11.7", "11.8"], False, id="none of a list"),
        pytest.param("12.1", ["11.7", ">= 12"], True, id="a range in a list"),
        pytest.param("2.5.1", "any", True, id="any"),
        pytest.param("2.5.1", "none", False, id="no version"),
        pytest.param("unknown", "!= 2.5", False, id="not known"),
        pytest.param("9" * 5000, ">= 1", False, id="too many figures"),
    ],
)
def test_what_is_printed_is_compared(version: str, condition: object, *, fits: bool) -> None:
    """Of a printed version the release counts."""
    assert is_version_match(version, condition) == fits
