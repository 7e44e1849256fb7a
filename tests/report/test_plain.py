"""Text, numbers and places as people read them."""

from dataclasses import replace
from math import inf, nan

import pytest

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.log_text import format_one_line
from postmortem.core.message import cut
from postmortem.report.display import (
    format_number,
    format_percent,
    format_time,
    format_weight,
    place,
    process,
    shorten_source_path,
)
from postmortem.report.words import Words
from tests.report.samples import rich


def test_a_text_is_brought_onto_one_line() -> None:
    """Breaks become a sign, what is too long is cut and says so."""
    assert format_one_line("a\n\n  b\n", 99) == "a ⏎ b"
    assert format_one_line("x" * 50, 10) == "x" * 9 + "…"
    assert cut("short", 5) == "short"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (412.0, "412"),
        (1e-5, "1e-5"),
        (5e-05, "5e-5"),
        (1.23456789, "1.2346"),
        (65504.0, "65504"),
        (1e7, "1e7"),
        (3e38, "3e38"),
        (nan, "NaN"),
        (inf, "inf"),
        (-inf, "-inf"),
        (None, "?"),
        (0.0, "0"),
    ],
)
def test_numbers_are_short(value: float | None, shown: str) -> None:
    """A number takes few characters and is never a lie about finiteness."""
    assert format_number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0%"), (0.004, "<1%"), (0.93, "93%"), (0.996, ">99%"), (1.0, ">99%")]
)
def test_a_rounded_probability_never_reads_as_certain(value: float, shown: str) -> None:
    """Nothing is 100 %, a probability of 1.0 was rounded; only 0 is 0 %."""
    assert format_percent(value) == shown


@pytest.mark.parametrize(
    ("where", "shown"),
    [
        (NOWHERE, ""),
        (ProcessId(rank=3), "rank 3"),
        (ProcessId(3, 1, "n1", 7), "rank 3 on n1"),
        (ProcessId(local_rank=0), "local rank 0"),
        (ProcessId(pid=7), "pid 7"),
        (ProcessId(node="n1"), "on n1"),
    ],
)
def test_a_process_is_named_as_far_as_it_is_known(where: ProcessId, shown: str) -> None:
    """Rank before local rank before process id."""
    assert process(where, Words("en")) == shown


def test_a_place_names_its_source_by_the_shortest_clear_end() -> None:
    """The file name is enough.

    Of two sources that share it, as much of the folder as tells them apart.
    """
    one = rich()
    words = Words("en")
    assert place(one, 0, (7, None), words) == "train-3.log:7"
    assert place(one, 0, (7, 9), words) == "train-3.log:7-9"
    assert place(one, 99, (None, None), words) == ""
    two = replace(one, sources=(one.sources[0], replace(one.sources[0], path="/other/train-3.log")))
    assert shorten_source_path(two, 1, words) == "other/train-3.log"
    assert (
        shorten_source_path(replace(one, sources=(replace(one.sources[0], path="-"),)), 0, words)
        == "standard input"
    )


def test_a_weight_has_a_sign() -> None:
    """For and against are told apart without colour."""
    assert [format_weight(2), format_weight(-0.5)] == ["+2.0", "-0.5"]


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        pytest.param(None, "", id="none"),
        pytest.param("--11-19T22:04:11", "11-19T22:04:11", id="no year"),
        pytest.param("T22:04:11", "22:04:11", id="no date"),
        pytest.param("+12.5s", "+12.5s", id="uptime"),
    ],
)
def test_a_printed_time(time: str | None, shown: str) -> None:
    """Without the marks for what it lacks."""
    assert format_time(time) == shown
