r"""The syntax of patterns: its parser, the words a match must hold, and its translation for re2.

In: a pattern in the syntax of the `regex` module; a text. Out: the parts of the pattern as Python's
own parser tells them, the words that each match holds, whether all digits are alike to it; the
pattern as re2 takes it, or `UnfitError` where re2 cannot hold to its meaning; the text as re2 is to
read it. Not here: searching (`rules.engine`), what else a pattern's parts are asked for
(`rules.attack`).

A pattern to which all digits are alike matches at the same places of all texts that differ in their
digits alone.

For re2 a text is encoded with one byte for each character, so that positions need no conversion:
ASCII as it is, for everything else a stand-in of the same class, for each of the pattern's own
characters one of its own. For `\b` a word is of ASCII: it ends where Chinese begins.
"""

import functools
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from postmortem.core.log_text import compile_lazily

parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
codes: Any = importlib.import_module(
    "re._constants" if sys.version_info >= (3, 11) else "sre_constants"
)
_SHORTEST: Final = 4
"""Characters of a word by which texts are told apart."""


def find_required_words(pattern: str) -> tuple[str, ...]:
    """Give words of which every match of a pattern holds at least one; none if none are known."""
    try:
        nodes = parser.parse(pattern)
    except (re.error, RecursionError):
        return ()  # `regex` knows more than Python does
    return () if nodes.state.flags & re.IGNORECASE else _find_required_words(nodes)


def _find_required_words(nodes: Iterable[tuple[Any, Any]]) -> tuple[str, ...]:
    candidates: list[tuple[str, ...]] = []
    word = ""
    for code, value in [*nodes, (None, None)]:
        if code is codes.LITERAL:
            word += chr(value)
            continue
        candidates += [(word,)] if len(word) >= _SHORTEST else []
        candidates.append(_find_words_of_part(code, value))
        word = ""
    known = [words for words in candidates if words]
    return max(known, key=lambda words: min(map(len, words)), default=())


def _find_words_of_part(code: Any, value: Any) -> tuple[str, ...]:
    """Give the words of a group, of a choice or of what stands once or more."""
    if code is codes.BRANCH:
        choices = [_find_required_words(choice) for choice in value[1]]
        return tuple(word for words in choices for word in words) if all(choices) else ()
    if code is codes.SUBPATTERN and not value[1] & re.IGNORECASE:
        return _find_required_words(value[3])
    if code in {codes.MAX_REPEAT, codes.MIN_REPEAT} and value[0]:
        return _find_required_words(value[2])
    return ()


_ESCAPE: Final = compile_lazily(r"\\([^\d])")
_SET: Final = compile_lazily(r"\[\^?\]?[^\]]{0,60}\]")
_REPEAT: Final = compile_lazily(r"\{\d{0,6},?\d{0,6}\}")
_ANY_DIGIT: Final = compile_lazily(r"\d")
_DIGIT_TOKEN: Final = compile_lazily(r"\\.|\[\^?\]?(?:\\.|[^\]\\]){0,60}\]|\{\d{0,6},?\d{0,6}\}|\d")
_PARTED: Final = compile_lazily(r"\\|\d-[^\]]|-\d")
_MUST_NOT: Final = ("(?!", "(?<!", "(?#")
"""Says what must not stand somewhere, of which less is more."""
_SAME_AGAIN: Final = "(?P="
"""Asks for a text that stood before, whose digits are not any."""
_BY_NAME: Final = frozenset("NgkL")
"""What an escape begins with that names a character or a group."""


@functools.lru_cache(maxsize=512)
def is_digit_agnostic(pattern: str) -> bool:
    """Say whether a pattern names no digit: it has none but in the bounds of its repeats.

    A range of characters that parts the digits begins or ends with one of them.
    """
    if _SAME_AGAIN in pattern or any(escape in _BY_NAME for escape in _ESCAPE.findall(pattern)):
        return False
    bare = _ESCAPE.sub("", pattern)
    sets = _SET.findall(bare)
    return not any(map(_ANY_DIGIT.search, sets)) and not _ANY_DIGIT.search(
        _REPEAT.sub("", _SET.sub("", bare))
    )


@functools.lru_cache(maxsize=512)
def build_any_digit_pattern(pattern: re.Pattern[str]) -> re.Pattern[str] | None:
    """Give a pattern that finds whatever another does, and any other digits in its place.

    None if there is none so simple: a range parts the digits, or something must not stand there.
    """
    if any(construct in pattern.pattern for construct in _MUST_NOT):
        return None
    text = _DIGIT_TOKEN.sub(_replace_digits, pattern.pattern)
    try:
        return re.compile(text, pattern.flags) if is_digit_agnostic(text) else None
    except re.error:  # a digit that is no character: in the name of a group, behind an escape
        return None


def _replace_digits(token: re.Match[str]) -> str:
    """Write a part of a pattern for any digit; one with a digit is left where that may be wrong."""
    text = token[0]
    if text.startswith("["):
        is_plain = not text.startswith("[^") and not _PARTED.search(text)
        return _ANY_DIGIT.sub(r"\\d", text) if is_plain else text
    return r"\d" if text.isdigit() else text


_DIGIT, _LETTER, _BLANK, _OTHER, _OWN = range(0x80, 0x85)
"""Stand-ins for characters beyond ASCII, and the first of those for a pattern's own."""
_LAST: Final = 0xBF
"""The last of them: from there on Latin-1 has upper and lower case, the same to `(?i)`."""
MOST_OWN: Final = _LAST + 1 - _OWN
"""How many characters beyond ASCII a pattern may have of its own."""
_DIGITS: Final = frozenset({*range(0x30, 0x3A), _DIGIT})
_CLASSES: Final[Mapping[str, tuple[frozenset[int], Callable[[str], bool]]]] = {
    "d": (_DIGITS, str.isdecimal),
    "s": (frozenset({*range(0x09, 0x0E), 0x20, _BLANK}), str.isspace),
    "w": (
        _DIGITS | {*range(0x41, 0x5B), 0x5F, *range(0x61, 0x7B), _LETTER},
        lambda char: char.isalpha() or char.isdecimal(),
    ),
}
"""What belongs to a class, without a pattern's own characters, and which of these do."""
_BEYOND: Final = compile_lazily(r"([^\x00-\x7f]+)")
_RARE: Final = 0.1
"""Part of a text beyond ASCII up to which that part alone is looked for and translated."""
_MOST_RUNS: Final = 256


class _EncodedRuns(dict[str, str]):
    """The encoding of runs of characters beyond ASCII, cached since few recur often."""

    def __init__(self, stand_ins: "CharacterBytes") -> None:
        super().__init__()
        self._stand_ins = stand_ins

    def __missing__(self, run: str) -> str:
        if len(self) >= _MOST_RUNS:
            self.clear()
        encoded = self[run] = run.translate(self._stand_ins)
        return encoded


class CharacterBytes(dict[int, int]):
    """The byte that each character is to re2; filled as characters are met."""

    def __init__(self, own: str) -> None:
        """Begin with ASCII and these characters of a pattern's own."""
        super().__init__(
            {code: code for code in range(0x80)}
            | {ord(char): _OWN + index for index, char in enumerate(own)}
        )
        self._runs = _EncodedRuns(self)
        self._last = ("", b"")
        """What was read last: many patterns are searched in one text, one behind the other."""

    def __missing__(self, code: int) -> int:
        """Choose the byte of a character that has not been met."""
        char = chr(code)
        byte = (
            _DIGIT
            if char.isdecimal()
            else _LETTER
            if char.isalpha()
            else _BLANK
            if char.isspace()
            else _OTHER
        )
        if code <= 0xFFFF:
            self[code] = byte
        return byte

    def encode(self, text: str) -> bytes:
        """Give one byte a character."""
        if text is not self._last[0]:
            is_rare = len(text.encode("utf-8", "replace")) < len(text) * (1 + _RARE)
            self._last = (
                text,
                (self._encode_runs(text) if is_rare else text.translate(self)).encode("latin-1"),
            )
        return self._last[1]

    def _encode_runs(self, text: str) -> str:
        """Translate a text of which little is beyond ASCII."""
        pieces = _BEYOND.split(text)
        pieces[1::2] = map(self._runs.__getitem__, pieces[1::2])
        return "".join(pieces)


@functools.lru_cache(maxsize=128)
def get_byte_encoding(own: str) -> CharacterBytes:
    """Give the stand-ins for all patterns that have the same characters of their own."""
    return CharacterBytes(own)


@functools.lru_cache(maxsize=512)
def get_class_members(name: str, own: str) -> str:
    r"""Give the byte ranges of \d, \w, \s and their opposites.

    Nothing for another escape.
    """
    if name.lower() not in _CLASSES:
        return ""
    members, is_own = _CLASSES[name.lower()]
    chosen = {*members, *(_OWN + index for index, char in enumerate(own) if is_own(char))}
    marks = [False, *((byte in chosen) == name.islower() for byte in range(0x100)), False]
    edges = [byte for byte in range(0x101) if marks[byte] != marks[byte + 1]]
    return "".join(
        rf"\x{low:02x}-\x{high - 1:02x}" for low, high in zip(edges[::2], edges[1::2], strict=True)
    )


_PORTABLE: Final = frozenset("AbBnrtfvax")
"""Letters that mean the same in both engines behind a backslash."""
_RE2_TOKEN: Final = compile_lazily(
    r"\\x..|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]?|\{,(?=\d+\})|\(\?[a-zA-Z]+\)", re.DOTALL
)
"""What re2 may read otherwise; every other character means the same to it."""
_IN_CLASS: Final = compile_lazily(r"\\x..|\\.|.", re.DOTALL)
_RE2_PART: Final = compile_lazily(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*(?:\]|\\?$)|\(\?(?:<?[=!]|>)|.", re.DOTALL
)
_LOOK_AROUND: Final = frozenset({"(?=", "(?!", "(?<=", "(?<!"})
_GROUP_NAME: Final = compile_lazily(r"\(\?P?<(\w+)>")


class UnfitError(Exception):
    """Something in a pattern that re2 lacks or reads otherwise."""


def find_non_ascii(pattern: str) -> str:
    """Give the characters beyond ASCII in a pattern, each of which has a stand-in of its own."""
    if pattern.isascii():
        return ""
    own = "".join(sorted({char for char in pattern if not char.isascii()}))
    if len(own) > MOST_OWN:
        raise UnfitError
    return own


def convert_to_re2(pattern: str, own: str) -> bytes:
    """Write a pattern as re2 reads it, in bytes."""
    names = _GROUP_NAME.findall(pattern)
    if len(names) > len(set(names)):
        raise UnfitError  # re2 gives the first group of a name only
    written = _RE2_TOKEN.sub(
        lambda found: _convert_token(found[0], own, is_first=found.start() == 0), pattern
    )
    return get_byte_encoding(own).encode(written)


def drop_look_around(pattern: str) -> str:
    """Give a pattern without its look-around and atomic groups, which matches wherever it does."""
    kept, depth, dropped = list[str](), 0, 0
    for found in _RE2_PART.finditer(pattern):
        part = found[0]
        if part.startswith("("):
            depth += 1
            if not dropped and part in _LOOK_AROUND:
                dropped = depth
        if not dropped:
            kept.append("(?:" if part == "(?>" else part)
        if part == ")":
            if depth == dropped:
                dropped = 0
            depth -= 1
    return "".join(kept)


def _convert_token(token: str, own: str, *, is_first: bool) -> str:
    """Write a part of a pattern as re2 reads it."""
    if len(token) > 1 and token[0] == "[":
        return _convert_class(token, own)
    if token[0] == "\\":
        return f"[{members}]" if (members := get_class_members(token[1], own)) else _escape(token)
    if token.startswith("(?") and not is_first:
        # such a flag holds from here on in re2, for the whole pattern in `regex`
        raise UnfitError
    return token.replace("{,", "{0,")


def _convert_class(token: str, own: str) -> str:
    """Write [...] as re2 reads it, which takes a dash beside a class for a range."""
    begin = next(opening for opening in ("[^]", "[^", "[]", "[") if token.startswith(opening))
    tokens = _IN_CLASS.findall(token[len(begin) : -1])
    if not token.endswith("]") or "\\" in tokens or ("[" in tokens and "[:" in token[1:]):
        raise UnfitError  # a class that does not end; or [[:alpha:]], which is of ASCII in re2
    members = [get_class_members(token[1], own) if token[0] == "\\" else "" for token in tokens]
    written = [
        shown
        or _convert_class_member(
            token, is_next_to_class=any(members[max(0, index - 1) : index + 2])
        )
        for index, (token, shown) in enumerate(zip(tokens, members, strict=True))
    ]
    return "".join([begin, *written, "]"])


def _convert_class_member(part: str, *, is_next_to_class: bool) -> str:
    """Write one character or escape within [...], and escape what re2 would take for more."""
    if part == "[" or (part == "-" and is_next_to_class):
        return f"\\{part}"
    return _escape(part) if part[0] == "\\" else part


def _escape(token: str) -> str:
    """Give any other escape as re2 writes it."""
    name = token[1]
    if name == "Z":
        return r"\z"
    if (
        (name.isalnum() and name not in _PORTABLE)
        or name == "_"
        or not name.isascii()
        or (name == "x" and token[2] not in "01234567")
    ):
        raise UnfitError
    return token
