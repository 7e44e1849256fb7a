"""Text, numbers and places as people read them."""

from dataclasses import replace
from math import inf, nan

import pytest

from postmortem.model.lines import NOWHERE, Where
from postmortem.model.said import cut
from postmortem.report.plain import (
    file_name,
    number,
    one_line,
    percent,
    place,
    process,
    safe,
    weight,
    when,
)
from postmortem.report.words import Words
from tests.report.samples import rich


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("\x1b[1;31mred\x1b[0m", "red", id="colour"),
        pytest.param("\x1b]0;title\x07x", "x", id="window title"),
        pytest.param("\x1b[2J\x1b[Hx", "x", id="clear screen"),
        pytest.param("a\x1bPq", "a␛Pq", id="a bare escape"),
        pytest.param("a\x00\x08b\x7f", "a␀␈b␡", id="C0 and DEL"),
        pytest.param("\x9b31mx", r"\u009b31mx", id="C1: the one-byte CSI"),
        pytest.param("\u202egnp.exe\u202c", r"\u202egnp.exe\u202c", id="right-to-left override"),
        pytest.param("10%\r20%", "10%␍20%", id="a frame"),
        pytest.param("a\r\nb\r", "a\nb", id="Windows line ends"),
        pytest.param("\tx", "    x", id="tab"),
        pytest.param("\udc80", r"\udc80", id="an undecodable byte"),
        pytest.param("损失 👩‍🚀 █", "损失 👩‍🚀 █", id="Chinese, emoji and bars stay"),
    ],
)
def test_log_text_cannot_steer_what_shows_it(text: str, shown: str) -> None:
    """Colours go, other controls become visible, everything else stays."""
    assert safe(text) == shown


def test_a_text_is_brought_onto_one_line() -> None:
    """Breaks become a sign, what is too long is cut and says so."""
    assert one_line("a\n\n  b\n", 99) == "a ⏎ b"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"
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
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0%"), (0.004, "<1%"), (0.93, "93%"), (0.996, ">99%"), (1.0, ">99%")]
)
def test_a_rounded_probability_never_reads_as_certain(value: float, shown: str) -> None:
    """Nothing is 100 %, a probability of 1.0 was rounded; only 0 is 0 %."""
    assert percent(value) == shown


@pytest.mark.parametrize(
    ("where", "shown"),
    [
        (NOWHERE, ""),
        (Where(rank=3), "rank 3"),
        (Where(3, 1, "n1", 7), "rank 3 on n1"),
        (Where(local_rank=0), "local rank 0"),
        (Where(pid=7), "pid 7"),
        (Where(node="n1"), "on n1"),
    ],
)
def test_a_process_is_named_as_far_as_it_is_known(where: Where, shown: str) -> None:
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
    assert file_name(two, 1, words) == "other/train-3.log"
    assert (
        file_name(replace(one, sources=(replace(one.sources[0], path="-"),)), 0, words)
        == "standard input"
    )


def test_a_weight_has_a_sign() -> None:
    """For and against are told apart without colour."""
    assert [weight(2), weight(-0.5)] == ["+2.0", "-0.5"]


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
    assert when(time) == shown
