r"""Translate a pattern of the `regex` module into the syntax of re2.

In: a pattern. Out: the pattern in bytes of `rules.byte_encoding`, which means the same to re2, or
`UnfitError` where re2 cannot hold to its meaning. Not here: searching (`rules.engine`).

For `\b` a word is of ASCII: it ends where Chinese begins.
"""

import re
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.rules.byte_encoding import MOST_OWN, get_byte_encoding, get_class_members

_PORTABLE: Final = frozenset("AbBnrtfvax")
"""Letters that mean the same in both engines behind a backslash."""
_TOKEN: Final = compile_lazily(
    r"\\x..|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]?|\{,(?=\d+\})|\(\?[a-zA-Z]+\)", re.DOTALL
)
"""What re2 may read otherwise; every other character means the same to it."""
_IN_CLASS: Final = compile_lazily(r"\\x..|\\.|.", re.DOTALL)
_PART: Final = compile_lazily(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*(?:\]|\\?$)|\(\?(?:<?[=!]|>)|.", re.DOTALL
)
_LOOK_AROUND: Final = frozenset({"(?=", "(?!", "(?<=", "(?<!"})
_NAME: Final = compile_lazily(r"\(\?P?<(\w+)>")


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
    names = _NAME.findall(pattern)
    if len(names) > len(set(names)):
        raise UnfitError  # re2 gives the first group of a name only
    written = _TOKEN.sub(
        lambda found: _convert_token(found[0], own, is_first=found.start() == 0), pattern
    )
    return get_byte_encoding(own).encode(written)


def drop_look_around(pattern: str) -> str:
    """Give a pattern without its look-around and atomic groups, which matches wherever it does."""
    kept, depth, dropped = list[str](), 0, 0
    for found in _PART.finditer(pattern):
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
