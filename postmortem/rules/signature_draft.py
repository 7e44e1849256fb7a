"""Write a draft signature for lines that no rule matches.

In: a line or several that fail alike, cleaned, and the cause that somebody gives them. Out: YAML
for `patterns/signatures`, with places for what only a person can say. Not here: which lines of
which logs they are (`cli`), what they have in common (`rules.common_wording`).
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from postmortem.core.errors import UsageError
from postmortem.core.message import say
from postmortem.rules.common_wording import build_pattern, find_common_parts, select_fixed_texts

_LONGEST: Final = 400
_SHORTEST_ANCHOR: Final = 6
_LONGEST_ANCHOR: Final = 60
_MOST_COMPARED: Final = 50
_MOST_EXAMPLES: Final = 5
_TODO: Final = "TODO"


def write_skeleton(line: str, cause: str | None = None) -> str:
    """Write the skeleton of a signature that fires on a line.

    Raises:
        UsageError: nothing in the line stays the same from run to run.
    """
    return write_skeleton_for_lines([line], cause)


def write_skeleton_for_lines(lines: Iterable[str], cause: str | None = None) -> str:
    """Write the skeleton of a signature that fires on all of some lines.

    Fifty of very many lines are looked at, spread over them in the order of their texts.

    Raises:
        UsageError: nothing stays the same in all of them.
    """
    import yaml  # noqa: PLC0415 -- a run has no need of it

    texts = _sample_evenly(
        sorted({line.strip()[:_LONGEST] for line in lines} - {""}), _MOST_COMPARED
    )
    parts = find_common_parts(texts or [""])
    anchor = _select_anchor(select_fixed_texts(parts), texts)
    name = re.sub(r"[^a-z0-9]+", "-", anchor.lower()).strip("-")[:40].strip("-")
    area = cause.split(".")[0] if cause else "unknown"
    rule: dict[str, Any] = {
        "id": f"{area}.mine.{name or 'line'}",
        "title": say("{todo}: what it means", todo=_TODO).by_language(),
        "anchors": [anchor],
        "match": build_pattern(parts),
        "role": "cause" if cause else "context",
        **({"suggests": {cause: "moderate"}} if cause else {}),
        "source": f"{_TODO}: who prints it",
        "examples": {
            "fires": [{"text": text} for text in _sample_evenly(texts, _MOST_EXAMPLES)],
            "silent": [
                {
                    "text": f"{_TODO}: a line that looks like it and means something else",
                    "because": f"{_TODO}: why",
                }
            ],
        },
    }
    return str(yaml.safe_dump(rule, allow_unicode=True, sort_keys=False, width=160))


def _select_anchor(fixed: list[str], texts: list[str]) -> str:
    """Give the longest text that every line has.

    Raises:
        UsageError: there is none that a rule could go by.
    """
    anchor = max((part.strip() for part in fixed), key=len, default="")[:_LONGEST_ANCHOR].rstrip()
    if len(anchor.encode()) >= _SHORTEST_ANCHOR:
        return anchor
    if len(texts) > 1:
        what, mend = "the lines have no words in common", "name fewer, which are more alike"
    else:
        what, mend = "the line holds no words", "name another with --line"
    raise UsageError(f"{what} that a rule could go by", repr(texts[0]) if texts else "", mend)


def _sample_evenly(texts: list[str], most: int) -> list[str]:
    """Give so many of the texts, from the first to the last."""
    if len(texts) <= most:
        return texts
    return [texts[number * (len(texts) - 1) // (most - 1)] for number in range(most)]
