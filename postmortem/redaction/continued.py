"""Values that go on in the next line: wrapped by a terminal, a box, a logger, a backslash.

In: text of several lines. Out: the same lines joined to what they were before, each with the way
back to its places in the text. Not here: what in a joined line is a secret (the rules), private
keys (`private_keys`).

The next line goes on with a value if it holds nothing else than a piece drawn by lot, if the line
is full, if a quote stands open or a backslash ends it. What a launcher, a logger or a box put
before both lines is no part of it.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.redaction.hiding import HidingPattern, Span
from postmortem.redaction.secret_names import is_worded, switches

_BOX: Final = "│┃|"
_FRAME: Final = f" \t\r{_BOX}"
_ENDS_IN_VALUE: Final = HidingPattern(rf"[\w+/=.~%:-]{{2}}(?P<slash>\\?)[{_FRAME}]*$|\\[ \t]*$")
_DIGITS: Final = HidingPattern(r"\d")
_PIECE: Final = HidingPattern(r"[^\s'\"`<>\\│┃|,;(){}\[\]]{1,512}")
_CLOSERS: Final = f"'\"`,;:)]}}\\{_FRAME}"
_SHORTEST_MIXED: Final = 8
_FULL: Final = 60
"""Characters of a line that may have been wrapped at the width of a terminal."""
_MOST_LINES: Final = 40
_LONGEST_LINE: Final = 4096
_QUOTES: Final = "'\""


class Joined(NamedTuple):
    """Lines joined to one, and where its pieces stand in the text."""

    text: str
    pieces: tuple[tuple[int, Span], ...]
    """Of each piece: where it begins in the joined text, and its place in the whole text."""

    def places(self, start: int, end: int) -> list[Span]:
        """Give the places in the whole text of a part of the joined one."""
        found = []
        for begin, (first, last) in self.pieces:
            left, right = max(start, begin), min(end, begin + last - first)
            if left < right:
                found.append((first + left - begin, first + right - begin))
        return found


def joined_lines(text: str) -> Iterator[Joined]:
    """Yield every run of lines in which a value may go on."""
    start, lines = 0, []
    for line in text.split("\n"):
        lines.append((start, line))
        start += len(line) + 1
    number = 0
    while number < len(lines) - 1:
        pieces = _run(lines, number)
        if len(pieces) > 1:
            yield _join(text, pieces)
        number += max(len(pieces) - 1, 1)


def _run(lines: list[tuple[int, str]], number: int) -> list[Span]:
    """Give the pieces of a line and of those that go on with it."""
    start, line = lines[number]
    pieces: list[Span] = []
    is_open = ""
    for index in range(number + 1, min(len(lines), number + _MOST_LINES)):
        end = _ENDS_IN_VALUE.search(line[-_FULL:]) if len(line) <= _LONGEST_LINE else None
        if end is None and not is_open:
            is_open = _open_quote(line)
        if end is None and not is_open:
            break
        begin, following = lines[index]
        piece = _continuation(line, following, is_slashed=line.rstrip(_FRAME).endswith("\\"))
        if piece is None:
            break
        if not pieces:
            pieces.append((start, start + len(line.rstrip(_FRAME).rstrip("\\"))))
        pieces.append((begin + piece[0], begin + piece[1]))
        if following[piece[1] :].strip(_FRAME):
            break
        line = following
    return pieces


def _join(text: str, pieces: list[Span]) -> Joined:
    parts, places, length = [], [], 0
    for start, end in pieces:
        parts.append(text[start:end])
        places.append((length, (start, end)))
        length += end - start
    return Joined("".join(parts), tuple(places))


def _continuation(line: str, following: str, *, is_slashed: bool) -> Span | None:
    """Give the place of what goes on with a line in the one that follows it."""
    if not following or len(following) > _LONGEST_LINE:
        return None
    start = _after_prefix(line, following)
    quote = _open_quote(line)
    if quote and quote in following[start:]:
        return start, following.index(quote, start) + 1
    piece = _PIECE.match(following, start)
    if piece is None:
        return None
    if is_slashed:
        return piece.span()
    rest = following[piece.end() :].strip(_CLOSERS)
    return piece.span() if _is_drawn(piece[0]) and (not rest or len(line) >= _FULL) else None


def _is_drawn(piece: str) -> bool:
    """Say whether a piece may be one of what was drawn by lot, and is no word or name."""
    is_mixed = len(piece) >= _SHORTEST_MIXED and switches(piece) * 3 >= len(piece)
    return len(piece) > 1 and (is_mixed or not is_worded(piece.strip(".-_=%")))


def _after_prefix(line: str, following: str) -> int:
    """Say where a line begins behind what stands before the one above too, whatever its digits."""
    most = min(len(line), len(following), 160)
    one, two = (_DIGITS.compiled.sub("0", text[:most]) for text in (line, following))
    same = next((index for index in range(most) if one[index] != two[index]), most)
    while same and following[same - 1] not in f" \t{_BOX}":
        same -= 1
    return len(following) - len(following[same:].lstrip(_FRAME))


def _open_quote(line: str) -> str:
    """Give the quote that a value of a line opens and does not close."""
    for quote in _QUOTES:
        if line.count(quote) % 2 and (at := line.rfind(quote)) and line[at - 1] in "= :(,[{brf":
            return quote
    return ""
