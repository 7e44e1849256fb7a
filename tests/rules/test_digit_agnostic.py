"""Whether all digits are the same to a pattern."""

import random
import re

import pytest

from postmortem import pipeline
from postmortem.extraction.formats.record_parts import PairReader
from postmortem.reading.prefixes import clean
from postmortem.rules.base import Format
from postmortem.rules.engine import compile_pattern
from postmortem.rules.pattern_syntax import build_any_digit_pattern, is_digit_agnostic

RULES = [rule for rule in pipeline.get_matcher(()).knowledge.formats if rule.kind == "metrics"]
BLIND = [rule for rule in RULES if is_digit_agnostic(rule.match)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        pytest.param(r"loss: (?P<loss>\S+)", True, id="no digit at all"),
        pytest.param(r"step \d{1,9}[eE]?[+-]?\d{2}", True, id="digits of any kind, so many"),
        pytest.param(r"[^{}\n]{1,80}\{", True, id="braces in a set and as a repeat"),
        pytest.param(r"step 1\d", False, id="a digit"),
        pytest.param(r"[1-9]\d*", False, id="some of the digits"),
        pytest.param(r"[+-5]", False, id="a range that parts them"),
        pytest.param(r"\{2}", False, id="a brace that is no repeat"),
        pytest.param(r"[{2}]", False, id="braces and a digit in a set"),
        pytest.param(r"\x31", False, id="a digit by its number"),
        pytest.param(r"(?P<one>\d+)/(?P=one)", False, id="the same digits again, by name"),
        pytest.param(r"(\d+)/\1", False, id="the same digits again"),
        pytest.param(r"\N{DIGIT ONE}", False, id="a digit by its name"),
    ],
)
def test_which_patterns_name_no_digit(pattern: str, *, expected: bool) -> None:
    """In doubt none is taken for blind."""
    assert is_digit_agnostic(pattern) is expected


@pytest.mark.parametrize("rule", BLIND, ids=lambda rule: rule.id)
def test_such_a_format_matches_at_the_same_places_whatever_the_digits(rule: Format) -> None:
    """So do its pairs, on its own examples with digits drawn anew."""
    chance, pairs = random.Random(rule.id), PairReader(rule.raw)
    names = compile_pattern(rule.match).names
    for case in rule.raw["examples"]["fires"]:
        text = clean(case["text"], srun=False).text
        other = "".join(chance.choice("0123456789") if one in "0123456789" else one for one in text)
        found, again = rule.search(text), rule.search(other)
        assert found is not None
        assert again is not None
        assert [found.span(name) for name in names] == [again.span(name) for name in names]
        if is_digit_agnostic(pairs.pattern):
            assert pairs.places(found, None) == pairs.places(again, None)


def test_most_formats_are_blind_to_digits() -> None:
    """What is gained from it would be lost unseen."""
    assert len(BLIND) > 0.7 * len(RULES)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        pytest.param(r"top_?1|f1", r"top_?\d|f\d", id="digits of its own"),
        pytest.param(r"m?AP(?:50|0\.5)?x{2,3}$", r"m?AP(?:\d\d|\d\.\d)?x{2,3}$", id="and repeats"),
        pytest.param(r"acc[_/ .@1-]", r"acc[_/ .@\d-]", id="one in a set"),
        pytest.param(r"\[1]", r"\[\d]", id="behind a bracket that is no set"),
        pytest.param(r"[0-5]", None, id="a range that parts them"),
        pytest.param(r"[a\x31]", None, id="a digit by its number"),
        pytest.param(r"[^1]", None, id="what is not a digit"),
        pytest.param(r"a(?!1)", None, id="what must not stand there"),
        pytest.param(r"(a)\1", None, id="the same again"),
        pytest.param(r"(?P<a1>b)1", None, id="in the name of a group"),
    ],
)
def test_a_pattern_for_any_digit_finds_no_less(pattern: str, expected: str | None) -> None:
    """None is made where it might."""
    made = build_any_digit_pattern(re.compile(pattern))
    assert (made and made.pattern) == expected
