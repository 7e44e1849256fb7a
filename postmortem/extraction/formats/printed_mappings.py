"""Mappings of names to figures as Python prints them.

In: a line. Out: what stands before such a mapping, and its items. Not here: what the items are
(`formats.generic`), dictionaries that a framework logs, which have rules of their own.
"""

import re
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.formats.positions import parse_step_and_epoch
from postmortem.extraction.formats.spelling import FIGURE, parse_value

_PRINTED_ITEM: Final = rf"['\"][A-Za-z][\w ./@-]{{0,60}}['\"]: (?:{FIGURE}|None|null)"
PRINTED_ITEM: Final = compile_lazily(rf"\{{{_PRINTED_ITEM}")
"""How such a mapping begins."""
_ITEM: Final = compile_lazily(rf"['\"](?P<name>[^'\"]+)['\"]: (?P<value>{FIGURE})")
_ITEMS: Final = compile_lazily(
    r"(?P<label>[^{}\n]{0,80}?)\s?[:=]?\s?"
    rf"\{{(?P<items>(?:{_PRINTED_ITEM}(?:, )?){{1,40}})\}}\s*$"
)
"""A printed mapping of names to figures and nothing else, behind words or alone."""
PLACE_ITEM: Final = compile_lazily(
    r"(?:(?:global|train(?:ing)?|total|env)[ _]?)?"
    r"(?:(?P<epoch>epochs?)|(?:time)?steps?|iter(?:ation)?s?|episodes?|updates?)"
    r"(?:[ _](?:num|number|count|idx))?$",
    re.IGNORECASE,
)
"""The item of a printed mapping that tells its place."""


def split_printed_items(text: str) -> tuple[str, dict[str, float]]:
    """Give what stands before a printed mapping that ends a line, and its figures; else none."""
    found = _ITEMS.match(text) if "{" in text else None
    if found is None or parse_step_and_epoch(found["label"]):
        return "", {}
    items = ((item["name"], parse_value(item["value"])) for item in _ITEM.finditer(found["items"]))
    return found["label"], {name: value for name, value in items if value is not None}
