"""A signature's skeleton for a line that no rule knows.

In: the line, cleaned, and the cause that somebody gives it. Out: YAML for `patterns/signatures`,
with places for what only a person can say. Not here: which line of a log it is (`cli`).
"""

import re
from typing import Any, Final

from postmortem.errors import UsageError

_LONGEST: Final = 400
_SHORTEST_ANCHOR: Final = 6
_LONGEST_ANCHOR: Final = 60
_PLACES: Final = re.compile(
    r"(?P<path>(?:[A-Za-z]:\\|\.{0,2}/)[^\s'\",:)]+)"
    r"|(?P<address>\b0x[0-9a-fA-F]+\b|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b)"
    r"|(?P<hash>\b(?=[a-f]*\d)[0-9a-f]{8,}\b)"
    r"|(?P<quoted>'[^'\n]{1,200}'|\"[^\"\n]{1,200}\")"
    r"|(?P<number>(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?)"
)
_WRITTEN: Final = {
    "path": r"\S{1,300}",
    "address": r"[\w.:]{1,60}",
    "hash": r"[0-9a-f]{8,64}",
    "quoted": "['\"][^'\"]{1,200}['\"]",
    "number": r"[-+\d.,e]{1,40}",
}
"""What changes from run to run, and the pattern that stands for it."""
_TODO: Final = "TODO"


def draft(line: str, cause: str | None = None) -> str:
    """Write the skeleton of a signature that fires on a line.

    Raises:
        UsageError: nothing in the line stays the same from run to run.
    """
    import yaml  # noqa: PLC0415 -- a run has no need of it

    text = line.strip()[:_LONGEST]
    fixed, pattern = _parts(text)
    anchor = max((part.strip() for part in fixed), key=len, default="")[:_LONGEST_ANCHOR].rstrip()
    if len(anchor.encode()) < _SHORTEST_ANCHOR:
        raise UsageError(
            "the line holds no words that a rule could go by",
            repr(text),
            "name another with --line",
        )
    name = re.sub(r"[^a-z0-9]+", "-", anchor.lower()).strip("-")[:40].strip("-")
    area = (cause or "unknown.unrecognised").split(".")[0]
    rule: dict[str, Any] = {
        "id": f"{area}.mine.{name or 'line'}",
        "title": {"en": f"{_TODO}: what it means", "zh": f"{_TODO}：含义"},
        "anchors": [anchor],
        "match": pattern,
        "role": "cause" if cause else "context",
        **({"suggests": {cause: "moderate"}} if cause else {}),
        "source": f"{_TODO}: who prints it",
        "examples": {
            "fires": [{"text": text}],
            "silent": [
                {
                    "text": f"{_TODO}: a line that looks like it and means something else",
                    "because": f"{_TODO}: why",
                }
            ],
        },
    }
    return str(yaml.safe_dump(rule, allow_unicode=True, sort_keys=False, width=160))


def _parts(text: str) -> tuple[list[str], str]:
    """Give what stays the same in a line, and the pattern for the whole of it."""
    fixed, pattern, end = [], "", 0
    for place in _PLACES.finditer(text):
        fixed.append(text[end : place.start()])
        pattern += re.escape(fixed[-1]) + _WRITTEN[str(place.lastgroup)]
        end = place.end()
    fixed.append(text[end:])
    return fixed, (pattern + re.escape(fixed[-1])).replace("\\ ", " ")
