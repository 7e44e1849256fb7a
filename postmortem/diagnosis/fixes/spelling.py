"""A name that was not found and is a slip of the pen away from one that exists.

In: the messages of a failure, the rules, text of the log. Out: the `Fix` that puts the name right.
Not here: names that are merely close (`fixes.close_names`), names that a version has renamed.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Final

from postmortem.core.answer import Fix
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import NOTHING, Message, say
from postmortem.rules.base import KnowledgeBase

_MISSING: Final = compile_lazily(
    r"(?:no module named '?(?:[\w.]+\.)?(?P<module>\w+)'?$"
    r"|has no attribute '(?P<attribute>\w+)'|unexpected keyword argument '(?P<argument>\w+)'"
    r"|cannot import name '(?P<import>\w+)'|^name '(?P<name>\w+)' is not defined"
    r"|unrecognized arguments: --(?P<option>[\w-]+)|^'(?P<key>\w+)'$)"
    r"(?:[^\n]{0,200}Did you mean: '(?P<meant>\w+)')?",
    re.IGNORECASE,
)
_IDENTIFIER: Final = compile_lazily(r"[A-Za-z_]\w{4,59}")
_SHORTEST: Final = 5
_SHORTEST_CHANGED: Final = 6
"""A letter more, less or another in a shorter name makes another word: `model`, `modes`."""
_MOST_TEXT: Final = 8000


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
            known = _list_modules(knowledge)
            shown: set[str] = set()
        else:
            known = set(_list_known_names(stacks, knowledge))
            shown = set(_IDENTIFIER.findall(text[-_MOST_TEXT:]))
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


def _list_modules(knowledge: KnowledgeBase) -> set[str]:
    packages = (name.replace("-", "_") for one in knowledge.stacks for name in one.packages)
    return {*packages, *sys.stdlib_module_names}


def _list_known_names(stacks: Iterable[str], knowledge: KnowledgeBase) -> Iterator[str]:
    """Yield the names in the code of all fixes and of these stacks, and those that were renamed."""
    for rule in knowledge.exceptions:
        yield from rule.renamed
    for fix in knowledge.fixes:
        for snippet in fix.snippets.values():
            yield from _IDENTIFIER.findall(snippet.code)
    for stack in stacks:
        for snippet in knowledge.stacks.get(stack).snippets.values():
            yield from _IDENTIFIER.findall(snippet.code)


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
