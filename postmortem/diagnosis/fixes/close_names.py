"""Names that the log shows and that are close to one that was not found.

In: a name, text of the log around the failure. Out: the closest name, and the lists of names that
the log prints (`dict_keys`, `Namespace`, columns). Not here: what is done with them.
"""

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Final

from postmortem.core.lazy_regex import compile_lazily

_LIST: Final = compile_lazily(
    r"(?P<head>dict_keys|odict_keys|KeysView|Index|Namespace|[Cc]olumns?|[Kk]eys|[Ff]ields|[Ff]eatures"
    r"|[Aa]vailable[^\n:(\[]{0,40}|[Cc]onfig\w{0,30}|[Cc]fg|[Aa]rgs)[^\n\[({]{0,20}[\[({]{1,2}"
    r"(?P<inner>[^\n\])}]{1,800})"
)
_QUOTED: Final = compile_lazily(r"['\"]([\w./ -]{1,60})['\"]")
_NAMED: Final = compile_lazily(r"\b([A-Za-z_]\w{0,59})=")
_IDENTIFIER: Final = compile_lazily(r"[A-Za-z_]\w{2,59}")
_SHORT_SETTING: Final = compile_lazily(r"['\"]?\b([A-Za-z_]\w?\w?)['\"]?\s?[=:]")
_CLOSE_IN_LIST, _CLOSE_IN_TEXT = 0.6, 0.8
_MOST: Final = 12
_MOST_TEXT: Final = 8000


def shown_names(text: str) -> list[str]:
    """Give the names that the log lists, the last list's first."""
    found: list[str] = []
    for match in reversed(list(_LIST.finditer(text[-_MOST_TEXT:]))):
        inner = match["inner"]
        names = _NAMED.findall(inner) if match["head"] == "Namespace" else _QUOTED.findall(inner)
        found += names or _NAMED.findall(inner)
    return list(dict.fromkeys(found))


def closest(name: str, text: str) -> str:
    """Give the closest name that the log shows, or nothing.

    A name of a list may differ more than a word that stands somewhere in the text.
    """
    listed = [one for one in shown_names(text) if one != name]
    words = [one for one in dict.fromkeys(_IDENTIFIER.findall(text[-_MOST_TEXT:])) if one != name]
    settings = [one for one in _SHORT_SETTING.findall(text[-_MOST_TEXT:]) if one != name]
    for candidates, limit in ((listed, _CLOSE_IN_LIST), (words, _CLOSE_IN_TEXT)):
        best = max(candidates, key=lambda one: _likeness(name, one), default="")
        if best and _likeness(name, best) >= limit:
            return best
    return next(_abbreviations(name, [*listed, *settings]), "")


def listed_names(text: str, but: str) -> str:
    """Give the names of the last list in one line; nothing where the missing one is among them."""
    names = shown_names(text)
    return "" if but in names else ", ".join(names[:_MOST])


def _likeness(name: str, other: str) -> float:
    first, second = _plain(name), _plain(other)
    if first == second:
        return 1.0
    return difflib.SequenceMatcher(None, first, second).ratio()


def _plain(name: str) -> str:
    return re.sub(r"[_\W]", "", name).lower()


def _abbreviations(name: str, others: Iterable[str]) -> Iterator[str]:
    """Yield names of which one is the initials or the beginning of the other: `lr`, `optim`."""
    for other in others:
        short, long = sorted((name, other), key=len)
        initials = "".join(word[0] for word in long.split("_") if word)
        if len(short) > 1 and short.lower() in {initials.lower(), long[: len(short)].lower()}:
            yield other
