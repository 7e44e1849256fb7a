"""Where a paragraph is broken."""

import pytest
from rich.cells import cell_len

from postmortem.report.terminal.paper import wrap_paragraph
from tests.report.samples import rich


def lines(text: str, width: int) -> list[str]:
    """Give the lines themselves."""
    return [text[start:end] for start, end in wrap_paragraph(text, width)]


@pytest.mark.parametrize(
    ("text", "width", "broken"),
    [
        pytest.param("", 10, [""], id="nothing"),
        pytest.param("aaa bbb ccc", 7, ["aaa bbb", "ccc"], id="words"),
        pytest.param("foo    bar", 5, ["foo", "bar"], id="blanks at a break"),
        pytest.param("a  b c", 4, ["a  b", "c"], id="blanks within a line"),
        pytest.param("don’t stop", 5, ["don’t", "stop"], id="an apostrophe"),
        pytest.param(
            "x" * 25, 10, ["x" * 10, "x" * 10, "x" * 5], id="a word that is longer than a line"
        ),
        pytest.param("损失在第三步", 6, ["损失在", "第三步"], id="characters"),
        pytest.param("损失变大，停止", 8, ["损失变", "大，停止"], id="no comma begins a line"),
        pytest.param("停止。”后面", 6, ["停", "止。”", "后面"], id="nor a stop with a quote"),
        pytest.param("损失（很大）", 6, ["损失", "（很", "大）"], id="no bracket ends a line"),
        pytest.param("的float16溢出", 8, ["的", "float16", "溢出"], id="a Latin word stays whole"),
        pytest.param(
            "地址 ：见下", 6, ["地", "址 ：", "见下"], id="nor does a mark behind a blank begin one"
        ),
    ],
)
def test_a_paragraph_is_broken(text: str, width: int, broken: list[str]) -> None:
    """Kinsoku: closing marks stay with what is before them, opening ones with what follows."""
    assert lines(text, width) == broken


@pytest.mark.parametrize("width", [10, 17, 40, 80])
def test_no_chinese_paragraph_offends(width: int) -> None:
    """In the sample texts no line is too long, and none begins with a closing mark.

    Nothing but blanks is lost.
    """
    one = rich("zh")
    for text in (
        one.verdict.summary,
        one.causes[0].explanation.replace("\n", ""),
        *(fix.why for fix in one.causes[0].fixes),
    ):
        broken = lines(text, width)
        assert "".join(broken).replace(" ", "") == text.replace(" ", "")
        assert [
            line
            for line in broken
            if cell_len(line) > width or line[0] in "，。：；、）" or line[-1] in "（“"
        ] == []
