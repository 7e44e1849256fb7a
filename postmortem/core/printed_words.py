"""Words that logs print and people type in Chinese, for the patterns of the code.

In: the name of a list of them in `patterns/words.json`. Out: the list, or a pattern of any of them.
Not here: the patterns of rules, which hold theirs; what the program itself says (`core.catalogue`).
"""

import functools
import json
from typing import Any

from postmortem.core import resources


def list_words(name: str) -> tuple[Any, ...]:
    """Give the words of a list, each a piece of a pattern; of `figures` the rows of a table."""
    return tuple(_read_table()[name]["zh"])


def join_words(*names: str) -> str:
    """Give a pattern of any word of some lists, without a group around it."""
    return "|".join(word for name in names for word in list_words(name))


@functools.cache
def _read_table() -> dict[str, dict[str, Any]]:
    file = resources.find_folder("patterns") / "words.json"
    table: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return table
