"""Values that go on in the next line: wrapped by a terminal, a box, a logger, a backslash.

In: text of several lines. Out: the same lines joined to what they were before, each with the way
back to its places in the text. Not here: what in a joined line is a secret (the rules), private
keys (`private_keys`).

The next line goes on with a value if it holds nothing else than a piece drawn by lot, or begins
with one behind a line that ends in the value of a telling name; if the line is full, if a quote
stands open, if two literals follow each other or a backslash ends the line. A name may also end its
line, with its value below: `password: >-`. What a launcher, a logger or a box put before both lines
is no part of it.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.core.printed_words import join_words, list_words
from postmortem.report.redaction.hiding import HidingPattern, Span, build_linear_pattern
from postmortem.report.redaction.secret_names import (
    NAME,
    NAME_HINT,
    Named,
    count_switches,
    evaluate_name,
    is_path,
    is_worded,
)
from postmortem.report.redaction.tokens import BEGINNING

_BOX: Final = "│┃║|"
_FRAME: Final = f" \t\r{_BOX}"
_BEGINS: Final = build_linear_pattern(
    rf"{NAME_HINT}|{BEGINNING}|ey[A-Za-z0-9_-]{{6}}|://|(?i:authorization|pass|login|curl|sk-)"
    rf"|\\[ \t{_BOX}]*\n"
)
"""Without one of these in a line nothing goes on from it that a rule would know."""
_BEGINS_ANOTHER: Final = build_linear_pattern(BEGINNING)
_SIGN: Final = (
    r"\\{0,3}['\"]?\]?[ \t]*(?:=>|->|:=|[:=：＝]|"
    + join_words("is")
    + r"|(?:\bis|\bwas)[ \t]*:?)[ \t]*"
)
_NAME_ALONE: Final = build_linear_pattern(rf"(?i)(?P<n>{NAME}){_SIGN}(?P<o>[|>][+-]?|\()?$")
"""A line that ends in a name: its value stands below, as a block or in brackets."""
_NAMED_AT_END: Final = build_linear_pattern(
    rf"(?i)(?:(?P<n>{NAME})(?:{_SIGN}|[ \t]+)|\b(?:bearer|basic|token)[ \t]+)"
    r"['\"]?[^\s'\"=]{4,512}$"
)
_TOKEN_AT_END: Final = build_linear_pattern(rf"(?:^|[^A-Za-z0-9_])(?:{BEGINNING})[\w.-]{{4,512}}$")
_ENDS_IN_VALUE: Final = HidingPattern(r"[\w+/=.~%:-]{2}$")
_DIGITS: Final = HidingPattern(r"\d")
_PIECE: Final = HidingPattern(r"[^\s'\"`<>\\│┃|,;(){}\[\]]{1,512}")
_OF_VALUE: Final = HidingPattern(r"[A-Za-z0-9_+/.~%-]{2,512}={0,2}")
"""A piece of a value, but no other name with its value, no address, no word of a sentence."""
_HEX: Final = HidingPattern(r"[0-9a-f]{4,512}|[0-9A-F]{4,512}")
_HEX_AT_END: Final = HidingPattern(r".*[^0-9A-Za-z][0-9A-Fa-f]{8,512}")
_LITERAL_END: Final = HidingPattern(r"(?P<q>['\"])[ \t]*[+.]?[ \t]*\\?$")
_LITERAL: Final = HidingPattern(
    r"(?:[+.][ \t]*)?[rbufRBUF]{0,2}(?:'(?P<a>[^'\n]{0,512})'|\"(?P<b>[^\"\n]{0,512})\")"
)
_LAUNCHER: Final = HidingPattern(
    r"(?:\[[\w ,.:/-]{1,40}\](?:<std\w{3}>)?:?|\([^()\n]{1,40}pid=\d{1,9}[^()\n]{0,40}\))[ \t]*"
)
"""What a launcher puts before lines, also where the line above goes without."""
_SHELL_GOES_ON: Final = HidingPattern(r"(?:\w{0,16}> ?|\.\.\. )[ \t]*")
"""What a shell puts before a line that goes on with the one above."""
_CUT_URL: Final = HidingPattern(
    r"[a-z][a-z0-9+]{1,20}://[^\s/:@'\"]{1,64}:(?!\d{2,5}$)[^\s/@'\"]{1,128}$"
)
"""A line that ends in the password of an address."""
_URL_GOES_ON: Final = HidingPattern(r"[^\s/@'\"]{1,128}@[\w.-]{1,128}")
_CUT_PASSWORD: Final = build_linear_pattern(
    rf"(?i)(?P<b>[,;?&])?(?P<n>{NAME})=(?P<v>[^\s'\"=,;&]{{2,512}})$"
)
_OPTIONS_GO_ON: Final = HidingPattern(r"(?P<v>[^\s'\"=,;&]{2,512})(?=[,;&]\w|[ \t]*$)")
_JOINS: Final = frozenset("-_.+/&~!@#%^*:")
"""Signs at the end of a piece that cannot end a password in a sentence."""
_PADDED: Final = HidingPattern(r"(?=\D*\d)(?=[^A-Z]*[A-Z])[A-Za-z0-9+/_-]{2,512}={1,2}")
_CLOSERS: Final = f"'\"`,;:)]}}\\{_FRAME}"
_OPENING_ENDS: Final = (*"=:：＝|>(+-", *list_words("is"), " is", " was")
_NO_END_OF_PIECE: Final = ("(", "[", "{", "<")
_PREFIX_ENDS: Final = f" \t{_BOX}:>])"
_SHORTEST_MIXED: Final = 8
_SHORTEST_ALONE: Final = 4
_FULL: Final = 60
"""Characters of a line that may have been wrapped at the width of a terminal."""
_LONGEST_PREFIX: Final = 160
_MOST_LINES: Final = 40
_LONGEST_LINE: Final = 4096
_QUOTES: Final = "'\""
_LEFT_OVER: Final = 2
"""Characters of a piece that may stand behind a value: a quote, a full stop."""
_BEHIND_VALUE: Final = " \t'\"`,;)]}@"


class Joined(NamedTuple):
    """Lines joined to one, and where its pieces stand in the text."""

    text: str
    pieces: tuple[tuple[int, Span], ...]
    """Of each piece: where it begins in the joined text, and its place in the whole text."""

    def places(self, start: int, end: int) -> list[Span]:
        """Give the places in the whole text of a part of the joined one.

        None of a part that lies in the first piece, or that leaves much of a word of its last one.
        """
        found: list[Span] = []
        left_over = ""
        for begin, (first, last) in self.pieces:
            left, right = max(start, begin), min(end, begin + last - first)
            if left < right:
                found.append((first + left - begin, first + right - begin))
                left_over = self.text[right : begin + last - first]
        is_behind = len(self.pieces) > 1 and start >= self.pieces[1][0]
        is_whole = len(left_over) <= _LEFT_OVER or left_over[0] in _BEHIND_VALUE
        return found if is_whole and (is_behind or len(found) > 1) else []


class _Step(NamedTuple):
    """How a line goes on: how much of it stays, and what of the next one follows."""

    kept: int
    piece: Span


def iter_joined_lines(text: str) -> Iterator[Joined]:
    """Yield every run of lines in which a value may go on."""
    done = 0
    for match in _BEGINS.finditer(text):
        if match.start() < done:
            continue
        begin = text.rfind("\n", done, match.start()) + 1 or done
        done = text.find("\n", match.start()) + 1
        if not done:
            return
        opening = _find_opening(text[begin : done - 1])
        pieces = _run(text, begin, done, opening)
        if len(pieces) > 1:
            done = pieces[-1][0]
            yield _join(text, pieces, is_block=opening is not None and opening.is_block)


def _run(text: str, begin: int, behind: int, opening: "_Opening | None") -> list[Span]:
    """Give the pieces of a line and of those that go on with it.

    Args:
        text: where they stand.
        begin: where the line begins.
        behind: where the next one begins.
        opening: how the line opens a value below it.
    """
    pieces: list[Span] = [(begin, begin)]
    first = text[begin : behind - 1]
    while behind and len(pieces) < _MOST_LINES and behind - begin <= _LONGEST_LINE:
        line = text[begin : behind - 1]
        end = text.find("\n", behind)
        following = text[behind : end if end >= 0 else len(text)]
        if not following or len(following) > _LONGEST_LINE:
            break
        if opening is None or (len(pieces) > 1 and not opening.is_block):
            step = _find_continuation(line, following)
        elif len(pieces) == 1:
            step = _find_value_below(line, following, opening)
        else:
            step = _find_block_line(first, line, following)
        if step is None:
            break
        pieces[-1] = (pieces[-1][0], max(pieces[-1][0], begin + step.kept))
        pieces.append((behind + step.piece[0], behind + step.piece[1]))
        if following[step.piece[1] :].strip(_CLOSERS + "+"):
            break
        begin, behind = behind, end + 1
    return pieces


def _join(text: str, pieces: list[Span], *, is_block: bool) -> Joined:
    """Put pieces together; all words of a block belong to its value."""
    parts, places, length = list[str](), list[tuple[int, Span]](), 0
    for start, end in pieces:
        part = text[start:end]
        parts.append(part.replace(" ", "_") if is_block and parts else part)
        places.append((length, (start, end)))
        length += end - start
    return Joined("".join(parts), tuple(places))


class _Opening(NamedTuple):
    """A line that ends in a name whose value stands below."""

    kept: int
    """Characters of the line up to what opens a block or a bracket."""
    is_block: bool
    """Every line that is indented deeper belongs to the value."""


def _find_opening(line: str) -> _Opening | None:
    """Say how a line opens the value of a name that ends it."""
    head = line.rstrip()
    if not head.endswith(_OPENING_ENDS):
        head = line.rstrip(_FRAME)
    if not head.endswith(_OPENING_ENDS):
        return None
    match = _NAME_ALONE.search(head)
    if match is None or evaluate_name(match["n"]) < Named.PERHAPS:
        return None
    opener = match["o"] or ""
    return _Opening(len(head) - len(opener), opener[:1] in ("|", ">") and bool(opener))


def _find_value_below(line: str, following: str, opening: _Opening) -> _Step | None:
    """Give the value right below a name: in quotes, drawn by lot or alone in its line."""
    start = _find_prefix_end(line, following)
    literal = _LITERAL.match(following, start)
    if literal is not None and not following[literal.end() :].lstrip().startswith((":", "=")):
        return _Step(opening.kept, literal.span())
    behind = following[start:].rstrip(_FRAME)
    word = behind.partition(" ")[0].rstrip(_CLOSERS)
    if len(word) < _SHORTEST_ALONE or _is_pair(behind):
        return None
    is_alone = not behind[len(word) :].strip(_CLOSERS)
    if opening.is_block and start <= _find_prefix_end(following, line):
        return None
    if opening.is_block or (is_alone and any(map(str.isdigit, word))) or _is_drawn(word):
        return _Step(opening.kept, (start, start + len(behind if opening.is_block else word)))
    return None


def _find_block_line(first: str, line: str, following: str) -> _Step | None:
    """Give a further line of a block, which is indented deeper than the name above it."""
    start, above = (_find_prefix_end(first, one) for one in (following, line))
    behind = following[start:].rstrip(_FRAME)
    if not behind or start < above or _is_pair(behind):
        return None
    return _Step(len(line.rstrip(_FRAME)), (start, start + len(behind)))


def _is_pair(behind: str) -> bool:
    """Say whether a line below a name is a pair itself, an item or a comment."""
    word, _, _ = behind.partition(" ")
    is_padded = word == behind and _PADDED.fullmatch(word)
    return (word.endswith((":", "=")) and not is_padded) or behind.startswith(("- ", "#", "{", "["))


def _find_continuation(line: str, following: str) -> _Step | None:
    """Say how a line goes on in the one that follows it."""
    head = line.rstrip(_FRAME)
    kept = len(head.rstrip("\\"))
    literal = _LITERAL_END.search(head)
    if literal is not None:
        return _find_next_literal(line, following, literal.start())
    quote, is_slashed = _open_quote(line), head.endswith("\\")
    if quote and quote in following:
        start = _find_prefix_end(line, following)
        end = following.find(quote, start)
        return _Step(kept, (start, end + 1)) if end >= 0 else None
    start = _find_prefix_end(line, following)
    if is_slashed:
        shell = _SHELL_GOES_ON.match(following, start)
        start = shell.end() if shell else start
        return _Step(kept, (start, len(following.rstrip(_FRAME).rstrip("\\"))))
    cut = _find_rest_of_password(head, following, start)
    if cut is not None:
        return _Step(kept, cut)
    is_value = quote or _ENDS_IN_VALUE.match(head[-2:])
    return _find_piece(line, following, head, start) if is_value else None


def _find_rest_of_password(head: str, following: str, start: int) -> Span | None:
    """Find how an address or a list of options goes on whose password ends the line above."""
    tail = head[-_LONGEST_PREFIX * 4 :]
    if "://" in tail and _CUT_URL.search(tail):
        rest = _URL_GOES_ON.match(following, start)
        return rest.span() if rest else None
    return _find_rest_of_options(tail, following, start) if "=" in tail else None


def _find_rest_of_options(tail: str, following: str, start: int) -> Span | None:
    """Find how a list of options goes on whose password ends the line above."""
    match, rest = _CUT_PASSWORD.search(tail), _OPTIONS_GO_ON.match(following, start)
    if match is None or rest is None:
        return None
    is_password = evaluate_name(match["n"]) is Named.PASSWORD or (
        match["b"] and match["n"] == "pass"
    )
    if not is_password:
        return None
    goes_on = tail[-1] in _JOINS or (match["b"] and rest.end() < len(following))
    has_digit = any(map(str.isdigit, rest["v"]))
    found: Span = rest.span("v")
    return found if goes_on and has_digit else None


def _find_piece(line: str, following: str, head: str, start: int) -> _Step | None:
    """Say how a line goes on with the word that begins the next one at a place."""
    piece = _PIECE.match(following, start)
    if piece is None or not (
        _is_drawn(piece[0]) or _is_more_hex(head, piece[0]) or _is_next_part(head, piece[0])
    ):
        return None
    behind = following[piece.end() :]
    if behind.startswith(_NO_END_OF_PIECE) or (piece[0].endswith("=") and behind[:1].strip()):
        return None  # a name with its value, a call
    is_alone = not behind.strip(_CLOSERS)
    if is_alone or len(line) >= _FULL or _ends_in_secret(head):
        return _Step(len(head.rstrip("\\")), piece.span())
    return None


def _find_next_literal(line: str, following: str, kept: int) -> _Step | None:
    """Give the literal that is put together with the one that ends a line."""
    start = _find_prefix_end(line, following)
    literal = _LITERAL.match(following, start)
    if literal is None or following[literal.end() :].lstrip().startswith((":", "=")):
        return None
    group = "a" if literal["a"] is not None else "b"
    return _Step(kept, (literal.start(group), literal.end()))


def _ends_in_secret(head: str) -> bool:
    """Say whether a line ends in the value of a name that says secret, or in a token."""
    tail = head[-_LONGEST_PREFIX * 4 :]
    match = _NAMED_AT_END.search(tail)
    if match is not None and (match["n"] is None or evaluate_name(match["n"]) > Named.LONG):
        return True
    return _TOKEN_AT_END.search(tail) is not None


def _is_more_hex(head: str, piece: str) -> bool:
    """Say whether hexadecimal digits go on."""
    return bool(_HEX.fullmatch(piece) and _HEX_AT_END.fullmatch(head[-100:]))


def _is_next_part(head: str, piece: str) -> bool:
    """Say whether the second part of a JWT follows the first one."""
    return head.endswith(".") and piece.startswith("ey")


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
    while same and following[same - 1] not in _PREFIX_ENDS:
        same -= 1
    launcher = _LAUNCHER.match(following) if not same else None
    same = launcher.end() if launcher else same
    return len(following) - len(following[same:].lstrip(_FRAME))


def _open_quote(line: str) -> str:
    """Give the quote that a value of a line opens and does not close."""
    for quote in _QUOTES:
        if line.count(quote) % 2 and (at := line.rfind(quote)) and line[at - 1] in "= :(,[{brf":
            return quote
    return ""
