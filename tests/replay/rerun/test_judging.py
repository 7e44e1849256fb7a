"""The table of verdicts: well formed, the narrowest first, and silence proves nothing."""

import re

import pytest

from postmortem.replay.rerun.verdicts import CONFIRMED, causes, judge_causes, read_verdict_rows


def confirmed(words: str) -> list[str]:
    """The causes that these words confirm."""
    return [one.cause for one in judge_causes(frozenset(words.split())) if one.verdict == CONFIRMED]


def test_rows_name_known_causes_and_a_condition() -> None:
    """Each asks for something, each but one for a failure that came again."""
    assert {row.cause for row in read_verdict_rows()} <= {cause.id for cause in causes()}
    assert all({"reproduced", "told-unscale"} & {*row.words} for row in read_verdict_rows())


@pytest.mark.parametrize(
    ("words", "causes"),
    [
        pytest.param("", [], id="nothing was seen"),
        pytest.param("reproduced", [], id="a failure alone"),
        pytest.param(
            "reproduced in-float16 float32:finite", [], id="float32 alone proves no range"
        ),
        pytest.param(
            "reproduced in-float16 float32:finite bfloat16:finite not-the-updates no-climb weights-clean",
            ["numerics.fp16-overflow"],
            id="the range",
        ),
        pytest.param(
            "reproduced in-float16 float32:finite bfloat16:finite not-the-updates no-climb weights-clean"
            " scaled scale-1:finite",
            [],
            id="a scale too high is no overflow",
        ),
        pytest.param(
            "reproduced in-float16 float32:finite bfloat16:finite not-the-updates no-climb weights-clean"
            " one-sample culprit-odd without-samples:finite",
            ["numerics.bad-batch"],
            id="an outlier is narrower than the range",
        ),
        pytest.param(
            "reproduced climbs the-updates wide-diverges rate-tenth:finite weights-clean"
            " samples-settled",
            ["numerics.lr-divergence"],
            id="the rate",
        ),
        pytest.param(
            "reproduced climbs the-updates wide-diverges rate-tenth:finite weights-clean",
            [],
            id="the rate, but the samples were not looked at",
        ),
        pytest.param(
            "reproduced climbs the-updates wide-diverges rate-tenth:finite weights-clean"
            " samples-settled without-jump:finite",
            [],
            id="one step brought it about",
        ),
        pytest.param(
            "reproduced climbs the-updates wide-diverges rate-tenth:finite weights-clean"
            " samples-settled short-of-time",
            [],
            id="short of time",
        ),
        pytest.param(
            "reproduced unsafe-operation wide-fails not-the-updates guarded:finite weights-clean"
            " labels-masked",
            [],
            id="0/0 of masked labels is no unstable operation",
        ),
        pytest.param(
            "reproduced rows-odd embeddings-mean:finite not-the-updates",
            [],
            id="rows without a control",
        ),
        pytest.param(
            "reproduced weights-outliers weights-repaired:finite not-the-updates in-float16"
            " float32:finite",
            [],
            id="great weights in float16 may be right",
        ),
    ],
)
def test_what_confirms(words: str, causes: list[str]) -> None:
    """Only all of what a row asks for."""
    assert confirmed(words) == causes


def test_at_most_one_cause_is_confirmed() -> None:
    """However much was seen."""
    everything = {word for row in read_verdict_rows() for word in row.words if word[0] != "!"}
    assert (
        len([one for one in judge_causes(frozenset(everything)) if one.verdict == CONFIRMED]) <= 1
    )


def test_every_row_says_why_in_both_languages() -> None:
    """With Chinese words in the Chinese text."""
    assert all(
        row.because.en and re.search("[\u4e00-\u9fff]", row.because.zh)
        for row in read_verdict_rows()
    )
