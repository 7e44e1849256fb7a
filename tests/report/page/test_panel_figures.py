"""Figures: legend, table, the numbers for the script."""

import json
from dataclasses import replace
from itertools import pairwise
from math import inf, nan

import pytest

from postmortem.core.answer import Marks, SeriesView
from postmortem.core.findings import NOWHERE
from postmortem.report.page.chart import serialize_panels
from postmortem.report.page.panel_figures import (
    ROWS,
    build_panel_contexts,
    describe_series,
    dump_script_phrases,
)
from postmortem.report.page.panel_layout import build_panels
from postmortem.report.words import WORDS, Words
from tests.report.samples import HOSTILE, a_series, abstaining, rich, series

LONG = a_series(
    "loss",
    [float(step) for step in range(1000)],
    [5.0] * 300 + [0.5] + [2.0] * 399 + [nan] * 2 + [9.0] + [3.0] * 297,
)


def figure(
    *drawn: SeriesView, language: str = "en", marks: tuple[Marks, ...] = ()
) -> dict[str, object]:
    """Give the figure of the first panel."""
    diagnosis = replace(abstaining(), series=drawn, marks=marks, first_failure=None, attempts=())
    return build_panel_contexts(diagnosis, build_panels(diagnosis, drawn), Words(language))[0]


def test_a_table_shows_what_matters_of_a_long_curve() -> None:
    """Ends, extremes, the first non-finite value with its neighbours, evenly spread values.

    At most ROWS.
    """
    table = figure(LONG)["table"]
    assert isinstance(table, dict)
    assert table["head"] == ["step", "loss", "line"]
    rows = {row["place"]: row["values"][0] for row in table["rows"]}
    assert len(table["rows"]) == ROWS
    assert {
        "0": "5",
        "300": "0.5",
        "699": "2",
        "700": "NaN",
        "701": "NaN",
        "702": "9",
        "999": "3",
    }.items() <= rows.items()
    steps = [float(place) for place in rows]
    assert steps == sorted(steps)
    assert max(two - one for one, two in pairwise(steps)) < 60
    assert table["summary"] == "Values as a table (60 of 1,000)"


def test_a_table_of_two_curves_has_a_column_for_each() -> None:
    """Rows are by place; what a series does not have there is empty."""
    loss, evaluated = (
        a_series("loss", [0.0, 1.0, 2.0], [3.0, 2.0, 1.0]),
        a_series("eval_loss", [1.0, 2.0], [2.5, inf]),
    )
    table = figure(loss, replace(evaluated, samples=((1.0, 2.5, 1421), (2.0, inf, 1500))))["table"]
    assert isinstance(table, dict)
    assert [(row["place"], row["values"], row["line"]) for row in table["rows"]] == [
        ("0", ["3", ""], 1420),
        ("1", ["2", "2.5"], 1421),
        ("2", ["1", ""], 1422),
        ("2", ["", "inf"], 1500),
    ]


def test_a_legend_counts_what_it_shows_and_what_it_does_not() -> None:
    """Thinned marks are told with both counts."""
    marks = (
        Marks("overflow", 0, NOWHERE, 1200, ((1421, None), (1425, None))),
        Marks("checkpoint", 0, NOWHERE, 1, ((1430, None),)),
    )
    shown = figure(LONG, marks=marks)["marks"]
    assert isinstance(shown, list)
    assert [(kind, text) for kind, _, _, text in shown] == [
        ("bad", "first non-finite value"), ("overflow", "step skipped (overflow), 1,200 times, at most 2 of them drawn"), ("checkpoint", "checkpoint saved"), ("gap", "NaN or infinite, 2 times"),
    ]  # fmt: skip


def test_a_legend_that_was_given_is_not_given_again() -> None:
    """The second panel of a file shows the marks of the first: one key serves both.

    Another file's has its own.
    """
    norm, other = replace(LONG, name="grad_norm"), replace(LONG, name="memory", source=1)
    diagnosis = replace(abstaining(), series=(LONG, norm, other))
    assert [
        bool(one["marks"])
        for one in build_panel_contexts(
            diagnosis, build_panels(diagnosis, diagnosis.series), Words("en")
        )
    ] == [True, False, True]


def test_the_numbers_are_strict_json_that_cannot_close_its_element() -> None:
    """NaN is null and named beside, names are escaped, shared places stand once."""
    hostile, norm = (
        replace(LONG, name="</script><!--" + HOSTILE),
        a_series("grad_norm", [float(step) for step in range(1000)], [1.0] * 1000),
    )
    diagnosis = replace(abstaining(), series=(hostile, norm))
    text = serialize_panels(build_panels(diagnosis, (hostile, norm)))
    assert not set(text) & set("<>&")
    found = json.loads(text, parse_constant=pytest.fail)
    assert [track["x"] for panel in found["panels"] for track in panel["tracks"]] == [
        0,
        0,
    ] or len(found["pool"]) == 2
    assert found["panels"][0]["tracks"][0]["y"][699:703] == [2, None, None, 9]
    assert found["panels"][0]["tracks"][0]["odd"] == {"700": "NaN", "701": "NaN"}
    assert found["panels"][0]["bad"][1:] == ["NaN", 700, 2120]
    assert found["panels"][0]["group"] == found["panels"][1]["group"]


def test_both_languages_say_all_that_the_script_says() -> None:
    """The script's words are those of the page, in every language."""
    said = {language: json.loads(dump_script_phrases(Words(language))) for language in WORDS}
    assert said["en"].keys() == said["zh"].keys()
    assert [key for key in said["en"] if said["en"][key] == said["zh"][key]] == []


def test_a_curve_is_described_in_words() -> None:
    """Points, ends, range, what is not finite."""
    assert (
        describe_series(series()[0], Words("en"))
        == "43 points, 2.9471 → NaN, range 1.0352 to 2.9964, 2 not finite, first non-finite: step 420, line 1840"
    )
    assert describe_series(
        replace(a_series("memory", [0.0, 1.0], [20.0, 21.65]), unit="GiB"), Words("en")
    ).startswith("2 points, 20 → 21.65 GiB")
    assert describe_series(replace(series()[0], points=40_000), Words("en")).startswith(
        "43 of 40,000 points drawn, "
    )
    assert describe_series(replace(series()[0], points=40_000), Words("zh")).startswith(
        "40,000 个点中画出 43 个，"
    )
    assert all(
        one["texts"]
        for one in build_panel_contexts(rich(), build_panels(rich(), series()), Words("zh"))
    )
