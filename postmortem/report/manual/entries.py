"""Look an id up among all rules: causes, signatures, conditions, shapes, fixes, stacks.

In: compiled rules, an id. Out: `Explained`. Not here: what its page says (`manual.articles`).
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core.errors import UsageError
from postmortem.report.manual.headings import TEXT_MODEL

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
    "shape": "anomalies",
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
    causes = {cause["id"]: cause for cause in rules["causes"]}
    for name, definition in rules["taxonomy"]["causes"].items():
        yield Explained("cause", name, {**causes.get(name, {}), **definition})
    for kind, plural in _PLURALS.items():
        for rule in rules[plural]:
            yield Explained(kind, rule["id"], rule)
    for rule in (*rules["exceptions"], *_signatures_with_fixes(rules)):
        yield from _iter_advice(rule)
    yield Explained("classifier", "text-model", {"title": TEXT_MODEL.by_language()})


def _signatures_with_fixes(rules: Rules) -> Iterator[Mapping[str, Any]]:
    return (rule for rule in rules["signatures"] if rule.get("fixes"))


def _iter_advice(rule: Mapping[str, Any]) -> Iterator[Explained]:
    """Yield the rule of an exception and each of its fixes; a signature stands for itself."""
    if "exception" in rule or "suggests" not in rule:
        title = rule.get("meaning") or rule["fixes"][0]["title"]
        yield Explained("exception", rule["id"], {**rule, "title": title})
    defaults = {"kind": "change", "safety": "safe", "why": rule.get("meaning")}
    causes = tuple(rule.get("causes") or rule.get("suggests") or ())
    for number, fix in enumerate(rule.get("fixes") or (), 1):
        own = {"snippets": {"python": fix["snippet"]}} if fix.get("snippet") else {}
        raw = {**defaults, "causes": causes, "rule": rule["id"], **fix, **own}
        yield Explained("fix", f"{rule['id']}.fix-{number}", raw)


def find_entry(rules: Rules, name: str) -> Explained:
    """Find the entry with an id; causes are searched first.

    Raises:
        UsageError: nothing has it; similar ids are listed.
    """
    all_of_it = list(iter_entries(rules))
    found = next((entry for entry in all_of_it if entry.id == name), None)
    if found is None:
        raise UsageError(f"nothing has the id {name!r}", "", _format_hint(all_of_it, name))
    return found


def _format_hint(all_of_it: Sequence[Explained], name: str) -> str:
    """Say which ids were meant, or where they are listed."""
    ids = [entry.id for entry in all_of_it]
    within = [id_ for id_ in ids if name.lower() in id_][:_NEAR] if len(name) > 2 else []
    near = within or difflib.get_close_matches(name.lower(), ids, _NEAR, 0.6)
    return f"did you mean {', '.join(near)}?" if near else "see: postmortem patterns list"
