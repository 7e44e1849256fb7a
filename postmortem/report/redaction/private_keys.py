"""Private keys in a text.

Whole ones, cut ones, and those whose every line a launcher or a logger has prefixed.

In: text. Out: the places of their bodies, one group for each key. Not here: keys on one line behind
a name (`assignments`), pseudonyms (`pseudonyms`).

An excerpt may begin or end within a key, so neither of the two marks is needed: a body is told by
its lines, which all have the same length.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.report.redaction.hiding import HidingPattern, Span
from postmortem.report.redaction.secret_names import count_switches

HINT: Final = r"PRIVATE KEY|[A-Za-z0-9+/]{63}"
_BREAK: Final = HidingPattern(r"\n|(?:\\{1,4}r)?\\{1,4}n")
_BEGIN: Final = HidingPattern(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END: Final = HidingPattern(r"-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BODY: Final = HidingPattern(r"[A-Za-z0-9+/=]{1,4096}")
_HEADER: Final = HidingPattern(
    r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Private-[A-Za-z]{2,9}): [^\n]{1,200}"
)
_WIDTHS: Final = frozenset({64, 70, 76})
_SHORTEST: Final = 25
"""Characters of a line with one of the marks, or of a body."""
_MOST_BETWEEN: Final = 8
"""Lines of other processes that may stand between two of a key."""
_MOST_LINES: Final = 2000
_TRAIL: Final = "'\"`, \t\r\\│|"


class _KeyLine(NamedTuple):
    r"""A line, or a part of one that a written `\\n` ends."""

    start: int
    text: str


def find_private_keys(text: str) -> Iterator[list[Span]]:
    """Give the pieces of every private key."""
    lines = list(_split_lines(text))
    hidden: set[int] = set()
    for number, line in enumerate(lines):
        if number in hidden or len(line.text) < _SHORTEST:
            continue
        if begin := _BEGIN.search(line.text):
            pieces = list(_find_after_begin_mark(lines, number, begin.end(), hidden))
        elif _END.search(line.text):
            pieces = list(_find_before_end_mark(lines, number, hidden))[::-1]
        elif (piece := _find_last_word(line)) is not None and _is_body(text[slice(*piece)]):
            pieces = [piece, *_find_following_lines(lines, number, hidden)]
        else:
            continue
        if pieces:
            yield sorted(set(pieces))


def _split_lines(text: str) -> Iterator[_KeyLine]:
    start = 0
    for found in _BREAK.finditer(text):
        yield _KeyLine(start, text[start : found.start()])
        start = found.end()
    yield _KeyLine(start, text[start:])


def _find_after_begin_mark(
    lines: list[_KeyLine], number: int, end: int, hidden: set[int]
) -> Iterator[Span]:
    """Give what follows the mark of a beginning.

    Up to that of the end, or where no more of it comes.
    """
    first = lines[number]
    close = _END.compiled.search(first.text, end)
    yield from _find_between(first, end, close.start() if close else len(first.text))
    if close:
        return
    between = 0
    for index in range(number + 1, min(len(lines), number + _MOST_LINES)):
        line = lines[index]
        if found := _END.search(line.text):
            hidden.add(index)
            yield from _find_last_partial_line(lines, index, found.start())
            return
        piece = _find_header(line) or _find_last_word(line, least=16)
        if piece is None:
            between += bool(line.text.strip())
            if between > _MOST_BETWEEN:
                return
            continue
        between = 0
        hidden.add(index)
        yield piece


def _find_last_partial_line(lines: list[_KeyLine], number: int, end: int) -> Iterator[Span]:
    """Give the shorter line before the mark of an end, and what stands on the same line with it."""
    before = lines[number].text[:end].rstrip(_TRAIL)
    word = next(reversed(before.split()), "")
    if _BODY.fullmatch(word) and len(word) >= 16:
        yield lines[number].start + len(before) - len(word), lines[number].start + len(before)
    piece = _find_last_word(lines[number - 1], least=1) if number else None
    if piece is not None:
        yield piece


def _find_before_end_mark(lines: list[_KeyLine], number: int, hidden: set[int]) -> Iterator[Span]:
    """Give what stands before the mark of an end whose beginning was cut off."""
    found = _END.search(lines[number].text)
    yield from _find_last_partial_line(lines, number, found.start() if found else 0)
    between = 0
    for index in range(number - 1, max(-1, number - _MOST_LINES), -1):
        piece = _find_last_word(lines[index])
        if index in hidden or piece is None:
            between += 1
            if between > _MOST_BETWEEN:
                return
            continue
        between = 0
        yield piece


def _find_following_lines(lines: list[_KeyLine], number: int, hidden: set[int]) -> Iterator[Span]:
    """Give the lines behind one of a key's body."""
    for index in range(number + 1, min(len(lines), number + _MOST_LINES)):
        piece = _find_last_word(lines[index])
        if piece is None or _END.search(lines[index].text):
            return
        hidden.add(index)
        yield piece


def _find_header(line: _KeyLine) -> Span | None:
    found = _HEADER.search(line.text)
    return (line.start + found.start(), line.start + found.end()) if found else None


def _find_last_word(line: _KeyLine, *, least: int = 0) -> Span | None:
    """Give the last word of a line if it may be a key's.

    Drawn by lot, or of at least so many characters.
    """
    text = line.text.rstrip(_TRAIL)
    word = next(reversed(text.split()), "").lstrip("'\"`│|[(")
    if not _BODY.fullmatch(word) or not (
        len(word) >= least
        if least
        else len(word) >= 12 and (word.endswith("=") or count_switches(word) * 3 >= len(word))
    ):
        return None
    return line.start + len(text) - len(word), line.start + len(text)


def _find_between(line: _KeyLine, start: int, end: int) -> Iterator[Span]:
    """Give everything of a line between two places."""
    shown = line.text[start:end]
    bare = shown.strip(_TRAIL)
    if bare:
        begin = line.start + start + shown.index(bare)
        yield begin, begin + len(bare)


def _is_body(word: str) -> bool:
    """Say whether a word drawn by lot has the length of a key's lines.

    No hash in hexadecimal digits, no path, no mangled name.
    """
    return (
        len(word) in _WIDTHS
        and count_switches(word) >= len(word) // 3
        and any(char.isupper() for char in word)
        and any(char.islower() for char in word)
        and not word.startswith("/")
    )
