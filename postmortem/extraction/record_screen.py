"""Say cheaply that a line holds no figure of a metric, and is no part of a longer record.

In: a cleaned line. Out: whether a reader of figures may make something of it. Not here: what it
makes (`formats.generic`), headings of tables (`formats.grids`).

Prose, code and answers name losses and figures on every other line, and none is the value of the
other. What each way of reading a line begins with is searched for in one go.
"""

import functools
import re
from collections.abc import Callable
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.formats import (
    blocks,
    generic,
    losses,
    metric_pairs,
    positions,
    printed_mappings,
)
from postmortem.extraction.formats.bars import draw
from postmortem.extraction.formats.plain_lines import write_plainly
from postmortem.extraction.formats.spelling import convert_to_ascii, may_hold_figure
from postmortem.extraction.formats.unfinished import BAR, is_unfinished
from postmortem.extraction.line_screen import LineScreen
from postmortem.rules.byte_encoding import CharacterBytes

_WORD_BORDER: Final = compile_lazily(r"\\(.)", re.DOTALL)


_NOT_BEHIND: Final = compile_lazily(r"\(\?!\[((?:\\.|[^\]\\^]){1,200})\](?:\|[^()]{0,200})?\)$")
"""What looks at the signs behind a value: the first of what it excludes is a class."""
_LETTER: Final = 0x4E00
"""A letter beyond ASCII, whose byte is that of all."""


class _WordBytes(CharacterBytes):
    """Bytes of characters as `re` sorts them, to which any digit or number is part of a word."""

    def __missing__(self, code: int) -> int:
        """Choose the byte of a character that has not been met."""
        if code == _LETTER or not chr(code).isalnum():
            return super().__missing__(code)
        self[code] = self[_LETTER]
        return self[code]


def may_be_record(text: str) -> bool:
    """Say whether a line may hold a record, be a part of one, or a bar on its way."""
    if not may_hold_figure(text):
        return False
    plain = write_plainly(convert_to_ascii(text))
    screen, kinds = _build_screen()
    found = {kinds[number] for number in screen.find(plain)}
    if "alone" in found or found >= {"place", "beside"}:
        return True
    if generic.MAY_BE_BAR.search(text) and draw(plain) is not None:
        return True
    return plain is not text and (blocks.parse_entry(text) is not None or is_unfinished(text))


@functools.lru_cache(maxsize=1)
def _build_screen() -> tuple[LineScreen, list[str]]:
    """Give what searches, and what each of its patterns says."""
    patterns = [
        *((_write(one), "alone") for one in (*losses.ALONE, printed_mappings.PRINTED_ITEM, BAR)),
        *((f"^{_write(one)}", "alone") for one in (*blocks.ENTRIES, positions.LEADING)),
        *(("^" + "".join(map(_write, one)), "alone") for one in metric_pairs.FIRST_ENTRIES),
        *((_write(one), "place") for one in (*positions.PLACES, generic.OF_SAMPLES)),
        *((_write(one), "beside") for one in (*losses.BESIDE_PLACE, *metric_pairs.BESIDE_PLACE)),
    ]
    screen = LineScreen([_drop_borders(pattern) for pattern, _ in patterns], _get_encoding)
    return screen, [kind for _, kind in patterns]


def _get_encoding(own: str) -> Callable[[str], bytes]:
    return _WordBytes(own).encode


def _write(pattern: "re.Pattern[str]") -> str:
    """Write a pattern with its flag, and what must not stand behind it as far as one sign tells."""
    text = _NOT_BEHIND.sub(r"(?:[^\1]|$)", pattern.pattern)
    return f"(?i:{text})" if pattern.flags & re.IGNORECASE else f"(?:{text})"


def _drop_borders(pattern: str) -> str:
    r"""Give a pattern without `\b`: to `re` a word may be of any letters."""
    return _WORD_BORDER.sub(lambda found: "" if found[1] in "bB" else found[0], pattern)
