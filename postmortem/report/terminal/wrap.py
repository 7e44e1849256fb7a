"""Break paragraphs into lines.

Lines break at blanks and between Chinese characters, never in a Latin word that fits on a line.

In: text of one paragraph and a width in terminal cells. Out: the lines as (start, end) positions in
the text. Not here: colours, indents (`report.terminal`). The rules are those of CLREQ and UAX #14,
as far as a report needs them.
"""

import re
from typing import Final

from rich.cells import cell_len

from postmortem.core.lazy_regex import compile_lazily

_CLOSING: Final = "）》」』】〕〉”’，。、；：！？…—·％～ー々)]},.;:!?%"
"""Never at the start of a line."""
_OPENING: Final = "（《「『【〔〈“‘([{"
"""Never at the end of a line."""
_WIDE: Final = compile_lazily(
    r"[\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)


def wrap_paragraph(text: str, width: int) -> list[tuple[int, int]]:
    """Break a paragraph into lines of at most `width` cells.

    Blanks at a break belong to no line.
    """
    lines: list[tuple[int, int]] = []
    start = end = 0
    for first, last in _split_pieces(text):
        if cell_len(text[start:last]) <= width:
            end = last
            continue
        if end > start:
            lines.append((start, end))
        start = first
        folds = _split_long_piece(text, first, last, width)
        lines += folds[:-1]
        start, end = folds[-1]
    return [*lines, (start, end)]


def _split_pieces(text: str) -> list[tuple[int, int]]:
    """Give what may stand on one line with the next piece or on another.

    Words, and Chinese characters with their punctuation.
    """
    pieces: list[tuple[int, int]] = []
    for word in re.finditer(r"\S+", text):
        start = word.start()
        if pieces and _is_glued(text[pieces[-1][1] - 1], text[start], is_spaced=True):
            start = pieces.pop()[0]
        for index in range(word.start() + 1, word.end()):
            if _may_part(text[index - 1], text[index]):
                pieces.append((start, index))
                start = index
        pieces.append((start, word.end()))
    if pieces:
        pieces[0] = (0, pieces[0][1])  # an indent within the text is kept
    return pieces


def _may_part(before: str, after: str) -> bool:
    """Say whether a line may end between two characters that no blank parts."""
    return bool(_WIDE.match(before) or _WIDE.match(after)) and not _is_glued(before, after)


def _is_glued(before: str, after: str, *, is_spaced: bool = False) -> bool:
    """Say whether punctuation holds two characters together.

    Behind a blank only that of full width does.
    """
    if is_spaced:
        return (after in _CLOSING and bool(_WIDE.match(after))) or (
            before in _OPENING and bool(_WIDE.match(before))
        )
    return after in _CLOSING or before in _OPENING


def _split_long_piece(text: str, first: int, last: int, width: int) -> list[tuple[int, int]]:
    """Cut a piece longer than a line where the line is full, but not before a closing mark."""
    folds = []
    while cell_len(text[first:last]) > width:
        cut = first + 1
        while cell_len(text[first : cut + 1]) <= width:
            cut += 1
        while cut > first + 1 and text[cut] in _CLOSING and not text[cut].isascii():
            cut -= 1
        folds.append((first, cut))
        first = cut
    return [*folds, (first, last)]
