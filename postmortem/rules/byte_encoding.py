"""Encode text for re2 with one byte for each character, so that positions need no conversion.

In: a text, the characters beyond ASCII that a pattern has of its own. Out: as many bytes as
characters: ASCII as it is, for everything else a stand-in of the same class, for each of the
pattern's own characters one of its own; and which bytes belong to a class. Not here: how a pattern
is written for them (`rules.re2_syntax`).
"""

import functools
from collections.abc import Callable, Mapping
from typing import Final

from postmortem.core.lazy_regex import compile_lazily

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
