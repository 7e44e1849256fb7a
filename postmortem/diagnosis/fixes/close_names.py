"""Find names close to one that was not found, and put right one that is a slip of the pen.

In: a name, the messages of a failure, the rules, text of the log around the failure. Out: the
closest name, and the lists of names that the log prints (`dict_keys`, `Namespace`, columns); the
`Fix` that puts a misspelt name right. Not here: advice that names a close one
(`fixes.exception_advice`), names that a version has renamed.
"""

import difflib
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Final

from postmortem.core.answer import Fix
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import NOTHING, Message, say
from postmortem.rules.base import KnowledgeBase

_LIST: Final = compile_lazily(
    r"(?P<head>dict_keys|odict_keys|KeysView|Index|Namespace|[Cc]olumns?|[Kk]eys|[Ff]ields|[Ff]eatures"
    r"|[Aa]vailable[^\n:(\[]{0,40}|[Cc]onfig\w{0,30}|[Cc]fg|[Aa]rgs)[^\n\[({]{0,20}[\[({]{1,2}"
    r"(?P<inner>[^\n\])}]{1,800})"
)
_QUOTED: Final = compile_lazily(r"['\"]([\w./ -]{1,60})['\"]")
_NAMED: Final = compile_lazily(r"\b([A-Za-z_]\w{0,59})=")
_SHOWN_NAME: Final = compile_lazily(r"[A-Za-z_]\w{2,59}")
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
    words = [one for one in dict.fromkeys(_SHOWN_NAME.findall(text[-_MOST_TEXT:])) if one != name]
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


_MISSING: Final = compile_lazily(
    r"(?:no module named '?(?:[\w.]+\.)?(?P<module>\w+)'?$"
    r"|has no attribute '(?P<attribute>\w+)'|unexpected keyword argument '(?P<argument>\w+)'"
    r"|cannot import name '(?P<import>\w+)'|^name '(?P<name>\w+)' is not defined"
    r"|unrecognized arguments: --(?P<option>[\w-]+)|^'(?P<key>\w+)'$)"
    r"(?:[^\n]{0,200}Did you mean: '(?P<meant>\w+)')?",
    re.IGNORECASE,
)
_KNOWN_NAME: Final = compile_lazily(r"[A-Za-z_]\w{4,59}")
_SHORTEST: Final = 5
_SHORTEST_CHANGED: Final = 6
"""A letter more, less or another in a shorter name makes another word: `model`, `modes`."""


def find_spelling_fix(
    messages: Iterable[str], text: str, stacks: Iterable[str], knowledge: KnowledgeBase
) -> tuple[Fix[Message], tuple[str, str]] | None:
    """Give the fix for the first name of the messages that is misspelt, with both names in quotes.

    `text` stands around the failure, `stacks` are those of the job. Python's own suggestion counts
    first, then names that the rules know, then names elsewhere in the text.
    """
    for match in filter(None, map(_MISSING.search, messages)):
        name = next(value for value in match.groups() if value).replace("-", "_")
        if len(name) < _SHORTEST:
            continue
        if match["module"]:
            packages = (name.replace("-", "_") for one in knowledge.stacks for name in one.packages)
            known = {*packages, *sys.stdlib_module_names}
            shown: set[str] = set()
        else:
            known = set(_list_known_names(stacks, knowledge))
            shown = set(_KNOWN_NAME.findall(text[-_MOST_TEXT:]))
        if name in known:
            continue
        for candidates in ({match["meant"]} - {None}, known, shown):
            found = min((one for one in candidates if is_slip(name, one)), default="")
            if found:
                return _build_fix(name, found), (f"`{name}`", f"`{found}`")
    return None


def is_slip(name: str, other: str) -> bool:
    """Say whether two names differ by one letter, two letters in turn, or capitals only.

    A longer form of a name (a plural, another ending) and another number are no slips.
    """
    first, second = sorted((name, other), key=len)
    if len(first) < _SHORTEST or name == other or second.startswith(first):
        return False
    if first.lower() == second.lower():
        return True
    start = next(at for at, letter in enumerate(second) if first[at : at + 1] != letter)
    left, right = first[start:], second[start:]
    if left[:2] == right[1::-1] and left[2:] == right[2:]:
        return True
    is_one_letter = right[1:] in (left, left[1:]) and f"{left[:1]}{right[0]}".isalpha()
    is_within = 0 < start < len(first) - 1  # another end is another form: `compiler`, `compiled`
    return is_one_letter and is_within and len(first) >= _SHORTEST_CHANGED


def _list_known_names(stacks: Iterable[str], knowledge: KnowledgeBase) -> Iterator[str]:
    """Yield the names in the code of all fixes and of these stacks, and those that were renamed."""
    for rule in knowledge.exceptions:
        yield from rule.renamed
    for fix in knowledge.fixes:
        for snippet in fix.snippets.values():
            yield from _KNOWN_NAME.findall(snippet.code)
    for stack in stacks:
        for snippet in knowledge.stacks.get(stack).snippets.values():
            yield from _KNOWN_NAME.findall(snippet.code)


def _build_fix(name: str, meant: str) -> Fix[Message]:
    return Fix(
        id="spelling",
        kind="change",
        title=say(
            "Correct the spelling: `{name}` → `{meant}`",
            name=name,
            meant=meant,
        ).settled(),
        why=NOTHING,
        snippet=NOTHING,
        language="",
        safety="safe",
    )
