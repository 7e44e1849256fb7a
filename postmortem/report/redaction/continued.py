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

from postmortem.report.redaction.hiding import HidingPattern, Span, build_linear_pattern
from postmortem.report.redaction.secret_names import NAME_HINT, count_switches, is_path, is_worded
from postmortem.report.redaction.tokens import BEGINNING

_BOX: Final = "│┃|"
_FRAME: Final = f" \t\r{_BOX}"
_BEGINS: Final = build_linear_pattern(
    rf"{NAME_HINT}|{BEGINNING}|ey[A-Za-z0-9_-]{{6}}|://|(?i:authorization|pass|login|curl|sk-)"
)
"""Without one of these in a line nothing goes on from it that a rule would know."""
_BEGINS_ANOTHER: Final = build_linear_pattern(BEGINNING)
_ENDS_IN_VALUE: Final = HidingPattern(r"[\w+/=.~%:-]{2}$")
_DIGITS: Final = HidingPattern(r"\d")
_PIECE: Final = HidingPattern(r"[^\s'\"`<>\\│┃|,;(){}\[\]]{1,512}")
_OF_VALUE: Final = HidingPattern(r"[A-Za-z0-9_+/.~%-]{2,512}={0,2}")
"""A piece of a value, but no other name with its value, no address, no word of a sentence."""
_CLOSERS: Final = f"'\"`,;:)]}}\\{_FRAME}"
_SHORTEST_MIXED: Final = 8
_FULL: Final = 60
"""Characters of a line that may have been wrapped at the width of a terminal."""
_LONGEST_PREFIX: Final = 160
_MOST_LINES: Final = 40
_LONGEST_LINE: Final = 4096
_QUOTES: Final = "'\""


_LEFT_OVER: Final = 2
"""Characters of a piece that may stand behind a value: a quote, a full stop."""


class Joined(NamedTuple):
    """Lines joined to one, and where its pieces stand in the text."""

    text: str
    pieces: tuple[tuple[int, Span], ...]
    """Of each piece: where it begins in the joined text, and its place in the whole text."""

    def places(self, start: int, end: int) -> list[Span]:
        """Give the places in the whole text of a part of the joined one.

        None of a part that lies in one piece, or that leaves much of its last one.
        """
        found: list[Span] = []
        left_over = 0
        for begin, (first, last) in self.pieces:
            left, right = max(start, begin), min(end, begin + last - first)
            if left < right:
                found.append((first + left - begin, first + right - begin))
                left_over = begin + last - first - right
        return found if len(found) > 1 and left_over <= _LEFT_OVER else []


def iter_joined_lines(text: str) -> Iterator[Joined]:
    """Yield every run of lines in which a value may go on."""
    done = 0
    for match in _BEGINS.finditer(text):
        if match.start() < done:
            continue
        begin = text.rfind("\n", done, match.start()) + 1 or done
        done = text.find("\n", match.end()) + 1
        if not done:
            return
        pieces = _run(text, begin, done)
        if len(pieces) > 1:
            done = pieces[-1][0]
            yield _join(text, pieces)


def _run(text: str, begin: int, behind: int) -> list[Span]:
    """Give the pieces of a line and of those that go on with it.

    Args:
        text: where they stand.
        begin: where the line begins.
        behind: where the next one begins.
    """
    pieces: list[Span] = []
    while behind and len(pieces) < _MOST_LINES and behind - begin <= _LONGEST_LINE:
        line = text[begin : behind - 1]
        end = text.find("\n", behind)
        following = text[behind : end if end >= 0 else len(text)]
        piece = _find_continuation(line, following)
        if piece is None:
            break
        if not pieces:
            pieces.append((begin, begin + len(line.rstrip(_FRAME).rstrip("\\"))))
        pieces.append((behind + piece[0], behind + piece[1]))
        if following[piece[1] :].strip(_FRAME):
            break
        begin, behind = behind, end + 1
    return pieces


def _join(text: str, pieces: list[Span]) -> Joined:
    parts, places, length = [], [], 0
    for start, end in pieces:
        parts.append(text[start:end])
        places.append((length, (start, end)))
        length += end - start
    return Joined("".join(parts), tuple(places))


def _find_continuation(line: str, following: str) -> Span | None:
    """Give the place of what goes on with a line in the one that follows it."""
    head = line.rstrip(_FRAME)
    if not head or not following or len(following) > _LONGEST_LINE:
        return None
    quote, is_slashed = _open_quote(line), head[-1] == "\\"
    if quote and quote in following:
        start = _find_prefix_end(line, following)
        end = following.find(quote, start)
        return (start, end + 1) if end >= 0 else None
    is_full = len(line) >= _FULL
    ends_in_value = bool(quote or _ENDS_IN_VALUE.match(head[-2:]))
    if not (is_slashed or (ends_in_value and (is_full or _may_be_alone(following)))):
        return None
    return _find_piece(line, following, is_slashed=is_slashed, is_full=is_full)


def _find_piece(line: str, following: str, *, is_slashed: bool, is_full: bool) -> Span | None:
    """Give the place of the first word of a line if it goes on with the one above."""
    piece = _PIECE.match(following, _find_prefix_end(line, following))
    if piece is None:
        return None
    is_rest = (is_full or not following[piece.end() :].strip(_CLOSERS)) and _is_drawn(piece[0])
    return (piece.start(), piece.end()) if is_slashed or is_rest else None


def _may_be_alone(following: str) -> bool:
    """Say whether the last word of a line may be a piece of a value, and all that it holds."""
    words = following.rstrip(_CLOSERS).rsplit(None, 1)
    return (
        bool(words)
        and (len(words) == 1 or len(words[0]) <= _LONGEST_PREFIX)
        and (_is_drawn(words[-1]))
    )


def _is_drawn(piece: str) -> bool:
    """Say whether a piece may be one of what was drawn by lot, and is no word or name."""
    is_mixed = len(piece) >= _SHORTEST_MIXED and count_switches(piece) * 3 >= len(piece)
    is_drawn = is_mixed or not is_worded(piece.strip(".-_=%"))
    return (
        is_drawn
        and not _BEGINS_ANOTHER.match(piece)
        and bool(_OF_VALUE.fullmatch(piece))
        and not is_path(piece)
    )


def _find_prefix_end(line: str, following: str) -> int:
    """Say where a line begins behind what stands before the one above too, whatever its digits."""
    most = min(len(line), len(following), _LONGEST_PREFIX)
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
