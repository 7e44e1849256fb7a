"""The comment, read back by a CommonMark parser."""

import re
from dataclasses import replace
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from postmortem.core.answer import Need
from postmortem.pipeline import run_pipeline
from postmortem.report import render
from postmortem.report.markdown import render_markdown
from postmortem.report.markdown_text import (
    LONGEST,
    count_utf16_units,
    escape_prose,
    format_code_block,
    format_inline_code,
)
from tests.report.samples import abstaining, hostile, rich

GITHUB_TAKES = 65_536


def tokens(text: str) -> list[Token]:
    """Parse, inline tokens included."""
    return [
        one
        for block in MarkdownIt("commonmark").enable("table").parse(text)
        for one in (block, *(block.children or ()))
    ]


@pytest.mark.parametrize(
    "text",
    [
        "plain", "```", "`````", "~~~", "a\n```\nb", "# no heading", "- no list", "1. no list", "> no quote", "<b>x</b>", "<!-- x", "[a](javascript:b)", "![a](b)", "*a* _b_ **c**",
        "&lt;", "a | b", "]]>", "line  \nbreak", "http://x", "=====", "\\", "`", "``", "` `", "$x$",
    ],
)  # fmt: skip
def test_no_text_breaks_out(text: str) -> None:
    """Prose stays prose, code stays code, a fence stays one fence."""
    kinds = [one.type for one in tokens(escape_prose(text))]
    assert set(kinds) <= {"paragraph_open", "inline", "text", "paragraph_close", "text_special"}
    assert {one.type for one in tokens(f"x {format_inline_code(text)} y")} <= {
        "paragraph_open",
        "inline",
        "text",
        "code_inline",
        "paragraph_close",
    }
    blocks = tokens(format_code_block(text))
    assert [one.type for one in blocks] == ["fence"]
    assert blocks[0].content.rstrip("\n") == text.rstrip("\n")


def test_prose_shows_what_was_written() -> None:
    """After parsing, the text is the text."""
    text = "a*b_c [d](e) <f> `g` & #1"
    shown = "".join(
        one.content for one in tokens(escape_prose(text)) if one.type in {"text", "text_special"}
    )
    assert shown.replace("\u200b", "") == text


@pytest.mark.parametrize("text", ["@alice", "see #12", "GH-7"])
def test_nobody_is_notified(text: str) -> None:
    """A mention or an issue number of a log is parted by a zero-width space."""
    assert "\u200b" in escape_prose(text)
    assert "\u200b" not in escape_prose("mail@ # GH")


def test_the_language_of_a_fence_is_a_word() -> None:
    """What is no plain word is left out."""
    assert format_code_block("x", "python") == "```python\nx\n```"
    assert format_code_block("x", "py\n<b>") == "```\nx\n```"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_comment_holds_what_matters(language: str) -> None:
    """Cause, evidence with lines, fixes in order with their code, in few lines."""
    text = render_markdown(rich(language))
    fences = [one for one in tokens(text) if one.type == "fence"]
    assert "`numerics.fp16-overflow`" in text
    assert "- **+2.0** `train-3.log:1832` " in text
    assert [one.info for one in fences[:3]] == ["shell", "shell", "python"]
    assert fences[0].content.startswith("python - <<'EOF'\nimport torch\n")
    assert len(re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL).split("\n")) < 90
    assert "alice" not in text


def test_a_chinese_comment_has_chinese_brackets() -> None:
    """The fixed phrases have no bracket or stop of half width.

    Warnings come before the evidence.
    """
    text = render_markdown(rich("zh"))
    assert "**证据**（对数几率；负值表示反证）" in text
    assert "（代价较高）" in text
    assert text.index("> **提醒**：") < text.index("**证据**")


def test_the_comment_that_abstains_asks() -> None:
    """What would decide stands with its command."""
    text = render_markdown(abstaining())
    assert text.startswith("### Failed: The cause cannot be told from this log\n")
    assert "scp login:/runs/42/rank-0.log ." in text


def test_hostile_text_opens_no_html() -> None:
    """The only HTML in a comment is our own."""
    found = tokens(render_markdown(hostile(), redact=False))
    html = [one.content.strip() for one in found if one.type in {"html_block", "html_inline"}]
    assert [
        one
        for one in html
        if not re.fullmatch(r"<details><summary>[\w ,]+</summary>|</details>|</?sub>", one)
    ] == []
    assert [one for one in found if one.type in {"link_open", "image", "table_open", "hr"}] == []
    assert {one.tag for one in found if one.type == "heading_open"} == {"h3"}


@settings(max_examples=15, deadline=None)
@given(
    text=st.sampled_from(["损失溢出", "<&>`*_[]|~$\\", "😀", "a", "`" * 9, "x\n", "@a #1 ", "\u202e", "～。"]), times=st.integers(1, 1_000), count=st.integers(1, 100), language=st.sampled_from(["en", "zh"]),
)  # fmt: skip
def test_a_comment_is_never_too_long(text: str, times: int, count: int, language: str) -> None:
    """However much there is to say, GitHub takes it.

    Counted in characters, in UTF-16 units and in bytes; every fold is closed, the verdict stands
    first, and it says that parts are left out.
    """
    one, long = rich(language), text * times
    cause = one.causes[0]
    evidence = tuple(replace(item, text=long) for item in cause.evidence) * (count // 9 + 1)
    fixes = tuple(replace(fix, title=long, why=long, snippet=long) for fix in cause.fixes) * (
        count // 30 + 1
    )
    big = replace(
        one, causes=(replace(cause, title=long, explanation=long, evidence=evidence, fixes=fixes), *one.causes[1:]), warnings=(long,) * 9, signatures=one.signatures * count, timeline=one.timeline * count,
        verdict=replace(one.verdict, summary=long, status="hypothesis", need=(Need(long, long, long),) * 9, would_change=(long,) * 20, not_checked=(long,) * 20),
    )  # fmt: skip
    comment = render_markdown(big, redact=False)
    assert count_utf16_units(comment) <= LONGEST < GITHUB_TAKES
    assert count_utf16_units(comment) == len(comment.encode("utf-16-le")) // 2
    assert len(comment.encode()) < 4 * GITHUB_TAKES
    assert comment.count("<details>") == comment.count("</details>")
    assert comment.startswith("### ")
    assert comment.rstrip().endswith("</sub>")


def test_what_is_cut_says_so() -> None:
    """Thousands of pieces of evidence end in the note.

    The verdict and the first fix are still there.
    """
    one = rich()
    cause = replace(
        one.causes[0],
        evidence=tuple(
            replace(one.causes[0].evidence[0], line=line, text="损" * 300) for line in range(4_000)
        ),
    )
    comment = render_markdown(replace(one, causes=(cause,)), redact=False)
    assert "_Parts were left out: a comment holds no more." in comment
    assert "register_forward_hook" in comment
    assert count_utf16_units(comment) <= LONGEST


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example/x",
        "http://evil.example",
        "www.evil.example",
        "ftp://evil.example",
        "mailto:a@evil.example",
        "<https://evil.example>",
        "alice@evil.example",
        "![x](https://evil.example/a.png)",
    ],
)
def test_no_address_is_a_link(text: str) -> None:
    """Not by GitHub's own extension either."""
    html = cmarkgfm.github_flavored_markdown_to_html(
        escape_prose(f"see {text} there") + "\n\n- " + format_inline_code(text),
        Options.CMARK_OPT_UNSAFE,
    )
    assert "<a " not in html
    assert "<img" not in html


@pytest.mark.parametrize(
    "text",
    [
        "0c1f9ab4d2e7",
        "GH-12",
        "gh-12",
        "owner/repo#12",
        "@octo/team",
        "a@0c1f9ab4d2e7",
        ":boom:",
        ":100:",
        "group/project!7",
        "$123",
        "%1.2",
        '%"two words"',
        "&12",
        "~bug",
        '~"two words"',
        "^alert#3",
        "*iteration:4",
        "[vulnerability:5]",
        "[[_TOC_]]",
        "[TOC]",
        "::include{file=secret.md}",
        "PROJ-12",
    ],
)
def test_nothing_is_a_reference(text: str) -> None:
    """A commit, another repository's issue, a team or an emoji's name is parted.

    A zero-width space parts it; times and versions are left as they are.
    """
    shown = "".join(
        one.content for one in tokens(escape_prose(text)) if one.type in {"text", "text_special"}
    )
    assert text not in shown
    assert shown.replace("\u200b", "") == text
    assert (
        escape_prose("22:04:11 torch 2.5.1+cu124 65504 1234567")
        == "22:04:11 torch 2.5.1+cu124 65504 1234567"
    )


@pytest.mark.parametrize("order", ["/close", "/label ~bug", "/merge", "  /lgtm cancel", "/CLOSE"])
def test_no_line_is_a_command(order: str) -> None:
    """Whoever reads a comment line by line, as GitLab does, finds none: in fences neither."""
    command = re.compile(r"^[ \t]*/[a-z]", re.IGNORECASE | re.MULTILINE)
    for text in (
        escape_prose(order.strip()),
        format_code_block(f"a\n{order}\nb"),
        format_code_block(order, indent="   "),
    ):
        assert not command.search(text)
    assert format_code_block("/usr/bin/python x.py").count("\u200b") == 0


def test_a_report_on_hostile_lines_commands_nothing(tmp_path: Path) -> None:
    """Not even where a traceback's own lines are commands."""
    log = tmp_path / "run.log"
    log.write_text(
        "step 1 loss nan\nTraceback (most recent call last):\n/close\n/assign @all\n"
        '  File "/close", line 1, in main\n    /label ~bug\nRuntimeError: /close\n/merge\n'
        "---\ntitle: x\n---\n::include{file=a}\n```mermaid\n/close\n```\n>>>\n/close\n>>>\n",
        encoding="utf-8",
    )
    text = render(run_pipeline([str(log)], model=None), "markdown")
    assert not re.search(r"^[ \t]*/[a-z_]+(?:[ \t]|$)", text, re.MULTILINE)
    assert not re.search(r"^(?:---|:::?include|```mermaid|>>>)", text, re.MULTILINE)


def test_a_long_list_keeps_its_code_under_its_numbers() -> None:
    """The tenth item's snippet belongs to it, too."""
    one = rich()
    text = render_markdown(
        replace(one, causes=(replace(one.causes[0], fixes=one.causes[0].fixes * 4),))
    )
    html = cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE)
    assert html.count("<ol") == 2
    assert '<ol start="4">' in html
