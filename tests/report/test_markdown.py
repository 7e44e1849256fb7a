"""The comment, read back by a CommonMark parser."""

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from postmortem.report.markdown import code, fence, prose, render_markdown
from tests.report.samples import abstaining, hostile, rich


def tokens(text: str) -> list[Token]:
    """Parse, inline tokens included."""
    return [one for block in MarkdownIt("commonmark").enable("table").parse(text) for one in (block, *(block.children or ()))]


@pytest.mark.parametrize(
    "text",
    [
        "plain", "```", "`````", "~~~", "a\n```\nb", "# no heading", "- no list", "1. no list", "> no quote", "<b>x</b>", "<!-- x", "[a](javascript:b)", "![a](b)", "*a* _b_ **c**",
        "&lt;", "a | b", "]]>", "line  \nbreak", "http://x", "=====", "\\", "`", "``", "` `", "$x$",
    ],
)  # fmt: skip
def test_no_text_breaks_out(text: str) -> None:
    """Prose stays prose, code stays code, a fence stays one fence."""
    kinds = [one.type for one in tokens(prose(text))]
    assert set(kinds) <= {"paragraph_open", "inline", "text", "paragraph_close", "text_special"}
    assert {one.type for one in tokens(f"x {code(text)} y")} <= {"paragraph_open", "inline", "text", "code_inline", "paragraph_close"}
    blocks = tokens(fence(text))
    assert [one.type for one in blocks] == ["fence"]
    assert blocks[0].content.rstrip("\n") == text.rstrip("\n")


def test_prose_shows_what_was_written() -> None:
    """After parsing, the text is the text."""
    text = "a*b_c [d](e) <f> `g` & #1"
    shown = "".join(one.content for one in tokens(prose(text)) if one.type in {"text", "text_special"})
    assert shown.replace("\u200b", "") == text


@pytest.mark.parametrize("text", ["@alice", "see #12", "GH-7"])
def test_nobody_is_notified(text: str) -> None:
    """A mention or an issue number of a log is parted by a zero-width space."""
    assert "\u200b" in prose(text)
    assert "\u200b" not in prose("mail@ # GH")


def test_the_language_of_a_fence_is_a_word() -> None:
    """What is no plain word is left out."""
    assert fence("x", "python") == "```python\nx\n```"
    assert fence("x", "py\n<b>") == "```\nx\n```"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_comment_holds_what_matters(language: str) -> None:
    """Cause, evidence with lines, fixes in order with their code, in few lines."""
    text = render_markdown(rich(language))
    fences = [one for one in tokens(text) if one.type == "fence"]
    assert "`numerics.fp16-overflow`" in text
    assert "train-3.log:1832" in fences[0].content
    assert [one.info for one in fences[1:4]] == ["shell", "shell", "python"]
    assert fences[1].content.startswith("python - <<'EOF'\nimport torch\n")
    assert len(text.split("\n")) < 90
    assert "alice" not in text


def test_a_chinese_comment_has_chinese_brackets() -> None:
    """The fixed phrases have no bracket or stop of half width, and warnings come before the evidence."""
    text = render_markdown(rich("zh"))
    assert "**证据**（对数几率；负值表示反证）" in text
    assert "（代价较高）。" in text
    assert text.index("> **提醒**：") < text.index("**证据**")


def test_the_comment_that_abstains_asks() -> None:
    """What would decide stands with its command."""
    text = render_markdown(abstaining())
    assert text.startswith("### failed: The cause cannot be told from this log\n")
    assert "scp login:/runs/42/rank-0.log ." in text


def test_hostile_text_opens_no_html() -> None:
    """The only HTML in a comment is our own."""
    found = tokens(render_markdown(hostile(), redact=False))
    html = [one.content.strip() for one in found if one.type in {"html_block", "html_inline"}]
    assert set(html) <= {"<details><summary>Timeline</summary>", "<details><summary>Environment</summary>", "</details>", "<sub>", "</sub>"}
    assert [one for one in found if one.type in {"link_open", "image", "table_open", "hr"}] == []
    assert {one.tag for one in found if one.type == "heading_open"} == {"h3"}
