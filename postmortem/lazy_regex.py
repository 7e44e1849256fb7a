"""The patterns of the code, each compiled when it is first asked something.

In: a pattern in the syntax of `re`, and its flags. Out: what is used as a `re.Pattern`. Not here:
the patterns of rules (`knowledge.engine`).

There are several hundred of them, and one log asks some: compiling all took a tenth of each start.
"""

import re
from typing import Any, AnyStr, Final, Generic, cast

_ASKED: Final = (
    "search",
    "match",
    "fullmatch",
    "finditer",
    "findall",
    "sub",
    "subn",
    "split",
    "flags",
    "groups",
    "groupindex",
)


class LazyPattern(Generic[AnyStr]):
    """A pattern that is compiled when the first of its methods is called.

    From then on they are those of the `re.Pattern`, and a search costs what it does there.
    """

    __slots__ = ("_with", "pattern", *_ASKED)

    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = pattern
        self._with = flags

    def __getattr__(self, name: str) -> Any:
        """Compile the pattern; this is called for what it does not have yet."""
        compiled = re.compile(self.pattern, self._with)
        for one in _ASKED:
            setattr(self, one, getattr(compiled, one))
        return getattr(compiled, name)


def lazy_compile(pattern: AnyStr, flags: int = 0) -> "re.Pattern[AnyStr]":
    """Give a pattern that is compiled when it is first used, and is faulty only then."""
    return cast("re.Pattern[AnyStr]", LazyPattern(pattern, flags))
