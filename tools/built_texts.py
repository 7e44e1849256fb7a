"""Text that a regular expression matches, or nearly.

In: a rule's pattern. Out: text. Not here: texts made to be slow (`postmortem patterns check`).
"""

import random
import re
from typing import Any, Final

from corpus import rules
from ingredients import TOKENS

try:
    from re import _constants as codes  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_constants as codes
    import sre_parse as parser


def built(chance: random.Random) -> str:
    """A text that a rule matches, or nearly.

    With one part of its pattern repeated many times, an anchor alone, or cut off before its end.
    """
    match, *anchors = chance.choice(rules())
    if chance.random() < 0.2:
        return (chance.choice(anchors) if anchors else "") + chance.choice(TOKENS)
    try:
        tree = parser.parse(match)
    except (re.error, OverflowError, RecursionError):  # what only the package `regex` understands
        return chance.choice(anchors) if anchors else match
    text = "".join(_of(tree, chance, [chance.choice([1, 3, 300, 2_000])]))
    return text[: chance.randint(0, len(text))] if chance.random() < 0.5 else text


def _of(tree: Any, chance: random.Random, many: list[int]) -> list[str]:  # noqa: C901 -- a pattern has as many kinds of nodes
    """Pieces that the nodes of a pattern match.

    `many` holds how often one of its parts may be repeated yet.
    """
    found: list[str] = []
    for code, value in tree:
        if code is codes.LITERAL:
            found.append(chr(value))
        elif code is codes.NOT_LITERAL:
            found.append(chance.choice("ab1 "))
        elif code is codes.ANY:
            found.append(chance.choice("ab1 .:'\""))
        elif code is codes.IN:
            found.append(_one_of(value, chance))
        elif code is codes.BRANCH:
            found += _of(chance.choice(value[1]), chance, many)
        elif code is codes.SUBPATTERN:
            found += _of(value[3], chance, many)
        elif code in _REPEATS:
            low, high, inner = value
            most = min(int(high), max(low, 3))
            times = chance.randint(low, most)
            if int(high) > 8 and many and chance.random() < 0.4:
                times = min(int(high), many.pop())
            for _ in range(times):
                found += _of(inner, chance, [])
    return found


_REPEATS: Final = {
    codes.MAX_REPEAT,
    codes.MIN_REPEAT,
    getattr(codes, "POSSESSIVE_REPEAT", codes.MAX_REPEAT),
}
_CLASSES: Final = {"DIGIT": "0123456789", "SPACE": " \t", "WORD": "ab1_"}


def _one_of(members: Any, chance: random.Random) -> str:
    code, value = chance.choice(members)
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.RANGE:
        return chr(chance.randint(value[0], value[1]))
    if code is codes.CATEGORY:
        name = str(value).removeprefix("CATEGORY_")
        return chance.choice(_CLASSES.get(name, "x."))
    return chance.choice("xyz.")
