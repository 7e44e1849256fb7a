"""Split the text of an issue or comment into the author's prose and code blocks.

In: Markdown, as people write it. Out: prose and blocks. Not here: what either means. What is quoted
from others (`> `) is in neither.

markdown-it-py, which Rich brings along, knows where a block begins and ends; only its blocks are
parsed, nothing within a line.
"""

import re
from html import unescape
from typing import Final, NamedTuple

from markdown_it import MarkdownIt

from postmortem.core.lazy_regex import compile_lazily

_MOST: Final = 1 << 20
"""Characters that are looked at: no tracker keeps as many in one text."""
_TAG: Final = compile_lazily(r"</?[A-Za-z][^<>]{0,300}>|<!--.{0,300}?-->", re.DOTALL)
_SPAN: Final = compile_lazily(r"(?<!`)(`{1,3})(?!`)[^`]{1,500}(?<!`)\1(?!`)")
_SUMMARY: Final = compile_lazily(r"<summary>[^<>]{0,300}</summary>", re.IGNORECASE)
_HAN: Final = compile_lazily("[\u3400-\u9fff]")
_WORD: Final = compile_lazily(r"[A-Za-z]{2,}")
_HAN_OF_A_WORD: Final = 2
"""Characters that say about as much as a word of English."""
_ENOUGH: Final = 0.3
"""Share of Chinese from which a text is Chinese: it names much in English."""


class AuthoredText(NamedTuple):
    """A text, taken apart."""

    prose: str
    """Without quotes, tags and blocks of code."""
    blocks: tuple[str, ...]
    """Fenced, indented, or within the tags of a block."""

    @property
    def is_chinese(self) -> bool:
        """Say whether its author writes Chinese."""
        han = len(_HAN.findall(self.prose)) / _HAN_OF_A_WORD
        return han > _ENOUGH * (han + len(_WORD.findall(self.prose)))


def parse_issue_text(text: str) -> AuthoredText:
    """Take a text apart."""
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    prose, blocks, quoted = [], [], 0
    for token in parser.parse(text[:_MOST].replace("\r\n", "\n")):
        quoted += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if quoted:
            continue
        if token.type in {"fence", "code_block"}:
            blocks.append(token.content)
        elif token.type == "html_block":
            blocks.append(unescape(_TAG.sub("", _SUMMARY.sub("", token.content))))
        elif token.type == "inline":
            prose.append(_TAG.sub("", _SPAN.sub(_keep_inline_code, token.content)))
    kept = (block.strip("\n") for block in blocks)
    return AuthoredText("\n\n".join(prose), tuple(block for block in kept if block.strip()))


def _keep_inline_code(span: "re.Match[str]") -> str:
    """Keep code within a line, with its marks; what runs over several lines is no prose."""
    return "" if "\n" in span[0] else span[0]
