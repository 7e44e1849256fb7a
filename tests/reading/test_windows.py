"""Views: the line or frame around a position, and the lines behind it of the same process."""

import pytest

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.reading.sources import MARGIN
from postmortem.reading.windows import LONG_REACH, REACH, View, is_same_process


def view(text: str, needle: str, *, srun: bool = False) -> View:
    """The view of the line with the needle."""
    data = text.encode()
    position = data.index(needle.encode())
    return View(data, position, data.count(b"\n", 0, position) + 1, srun=srun)


@pytest.mark.parametrize(
    ("text", "needle", "expected"),
    [
        pytest.param("one\ntwo here\nthree", "here", "two here", id="a line"),
        pytest.param("here", "here", "here", id="the only line"),
        pytest.param("here\n", "here", "here", id="the first line"),
        pytest.param("one\r\ntwo here\r\nthree", "here", "two here", id="Windows line ends"),
        pytest.param("10%\r20%\rError here\r30%\n", "here", "Error here", id="a frame"),
        pytest.param("[rank3]: \x1b[31mError here\x1b[0m\n", "here", "Error here", id="peeled"),
        pytest.param("错误 here 训练\n", "here", "错误 here 训练", id="Chinese"),
    ],
)
def test_a_view_is_the_line_or_frame(text: str, needle: str, expected: str) -> None:
    """Borders are line breaks and carriage returns; what wraps the text is off."""
    assert view(text, needle).cleaned.text == expected


def test_a_window_is_laid_around_its_anchor() -> None:
    """Of a line without end REACH bytes on either side are seen."""
    seen = view("x" * 50_000 + "here" + "y" * 50_000, "here")
    assert (seen.start, seen.end) == (50_000 - REACH, 50_000 + REACH)


def test_windows_fit_into_the_margin() -> None:
    """Whatever a window may reach lies inside a block's margins."""
    assert max(LONG_REACH, 2 * REACH) < MARGIN


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        pytest.param("one here\ntwo\nthree\nfour", 3, ["one here", "two", "three"], id="lines"),
        pytest.param(
            "one here\r\ntwo\r\nthree\r\n", 3, ["one here", "two", "three"], id="Windows line ends"
        ),
        pytest.param("one here\n\ntwo\n", 3, ["one here", "", "two"], id="a blank line counts"),
        pytest.param("one here", 3, ["one here"], id="the end of the log"),
        pytest.param(
            "[rank1]: one here\n[rank0]: other\n[rank1]: two\n[rank0]: other\n[rank1]: three",
            3,
            ["one here", "two", "three"],
            id="lines of other ranks are passed over",
        ),
        pytest.param(
            "[rank1]: one here\nunlabelled\n[rank1]: two",
            3,
            ["one here", "unlabelled", "two"],
            id="a line without a label may be of any rank",
        ),
        pytest.param("one here\ntwo", 1, ["one here"], id="one line"),
    ],
)
def test_the_lines_that_follow(text: str, count: int, expected: list[str]) -> None:
    """They are cleaned, of the same process, and as many as were asked for."""
    assert view(text, "here").following(count) == expected


def test_asking_twice_gives_the_same() -> None:
    """A view remembers what it has read, also for a rule that wants fewer lines."""
    seen = view("one here\ntwo\nthree\nfour", "here")
    assert seen.following(4) == ["one here", "two", "three", "four"]
    assert seen.following(2) == ["one here", "two"]
    assert seen.following(4) == ["one here", "two", "three", "four"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(NOWHERE, ProcessId(rank=3), True, id="nothing said"),
        pytest.param(ProcessId(rank=3), ProcessId(rank=3), True, id="the same"),
        pytest.param(ProcessId(rank=3), ProcessId(rank=2), False, id="another rank"),
        pytest.param(ProcessId(rank=3), ProcessId(node="n1"), True, id="parts that do not meet"),
        pytest.param(ProcessId(3, 1, "n1", 7), ProcessId(3, 1, "n2", 7), False, id="another node"),
    ],
)
def test_two_labels_of_one_process(one: ProcessId, other: ProcessId, expected: bool) -> None:  # noqa: FBT001 -- a table
    """A missing part says nothing."""
    assert is_same_process(one, other) is expected
