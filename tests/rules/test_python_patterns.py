"""Words that every match of a pattern holds: without one of them it need not be searched."""

import pytest

from postmortem.rules.pattern_syntax import find_required_words


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        pytest.param(r"got (\d+) but expected", (" but expected",), id="the longest"),
        pytest.param(
            r"no such file|is missing (\w+)", ("no such file", "is missing "), id="either"
        ),
        pytest.param(r"no such file|\w+", (), id="a choice without a word"),
        pytest.param(r"a (?P<kind>first|second) of", ("first", "second"), id="within a group"),
        pytest.param(r"x(?:first )?y", (), id="what may be missing"),
        pytest.param(r"x(?:first )+y", ("first ",), id="what stands once or more"),
        pytest.param(r"(?i)no such file", (), id="any case"),
        pytest.param(r"a (?i:no such file) of", (), id="any case in a part"),
        pytest.param(r"\d+abc", (), id="too short"),
        pytest.param(r"(?<!no )such file", ("such file",), id="what stands before"),
        pytest.param(r"\p{L}+ no such file", (), id="no pattern of Python"),
    ],
)
def test_words(pattern: str, words: tuple[str, ...]) -> None:
    """One of them is in each text that the pattern matches."""
    assert find_required_words(pattern) == words
