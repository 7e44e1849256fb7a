"""Look an id up among all rules: causes, signatures, conditions, shapes, fixes, stacks.

In: compiled rules, an id. Out: `Explained`. Not here: what its page says
(`manual.articles`).
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core.errors import UsageError
from postmortem.report.manual.headings import TEXT_MODEL
from postmortem.rules.catalogue import CATALOGUE

Rules = Mapping[str, Any]
"""Compiled rules, as `rules.compile` describes them."""
KINDS: Final = (
    "cause",
    "signature",
    "condition",
    "shape",
    "fix",
    "exception",
    "stack",
    "advisory",
    "classifier",
)
_PLURALS: Final[Mapping[str, str]] = {
    "signature": "signatures",
    "condition": "conditions",
    "fix": "fixes",
    "stack": "stacks",
    "advisory": "advisories",
}
_NEAR: Final = 5


class Explained(NamedTuple):
    """A rule with its kind; of a cause, what the taxonomy says is among its keys."""

    kind: str
    """One of KINDS."""
    id: str
    raw: Mapping[str, Any]


def iter_entries(rules: Rules) -> Iterator[Explained]:
    """Yield all that can be explained."""
    causes = {one["id"]: one for one in rules["causes"]}
    for name, told in rules["taxonomy"]["causes"].items():
        yield Explained("cause", name, {**causes.get(name, {}), **told})
    for kind, plural in _PLURALS.items():
        for one in rules[plural]:
            yield Explained(kind, one["id"], one)
    for one in (*rules["exceptions"], *_signatures_with_fixes(rules)):
        yield from _iter_advice(one)
    for shape in CATALOGUE.values():
        meaning = {"en": shape.meaning.en, "zh": shape.meaning.zh}
        yield Explained("shape", shape.id, {"meaning": meaning})
    yield Explained("classifier", "text-model", {"title": TEXT_MODEL._asdict()})


def _signatures_with_fixes(rules: Rules) -> Iterator[Mapping[str, Any]]:
    return (one for one in rules["signatures"] if one.get("fixes"))


def _iter_advice(rule: Mapping[str, Any]) -> Iterator[Explained]:
    """Yield the rule of an exception and each of its fixes; a signature stands for itself."""
    if "exception" in rule or "suggests" not in rule:
        title = rule.get("meaning") or rule["fixes"][0]["title"]
        yield Explained("exception", rule["id"], {**rule, "title": title})
    told = {"kind": "change", "safety": "safe", "why": rule.get("meaning")}
    causes = tuple(rule.get("causes") or rule.get("suggests") or ())
    for number, one in enumerate(rule.get("fixes") or (), 1):
        own = {"snippets": {"python": one["snippet"]}} if one.get("snippet") else {}
        raw = {**told, "causes": causes, "rule": rule["id"], **one, **own}
        yield Explained("fix", f"{rule['id']}.fix-{number}", raw)


def find_entry(rules: Rules, name: str) -> Explained:
    """Find what has an id; a cause before all else.

    Raises:
        UsageError: nothing has it; ids that look like it are told.
    """
    all_of_it = list(iter_entries(rules))
    found = next((one for one in all_of_it if one.id == name), None)
    if found is None:
        raise UsageError(f"nothing has the id {name!r}", "", _format_hint(all_of_it, name))
    return found


def _format_hint(all_of_it: Sequence[Explained], name: str) -> str:
    """Say which ids were meant, or where they are listed."""
    ids = [one.id for one in all_of_it]
    within = [one for one in ids if name.lower() in one][:_NEAR] if len(name) > 2 else []
    near = within or difflib.get_close_matches(name.lower(), ids, _NEAR, 0.6)
    return f"did you mean {', '.join(near)}?" if near else "see: postmortem patterns list"
