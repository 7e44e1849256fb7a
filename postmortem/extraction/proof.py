"""Test rules on their own examples, with the cleaning and the anchors that a real log meets.

In: rules as plain mappings. Out: a `PatternError` for every example that misbehaves.
Not here: the shape of a rule (`rules.check`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from postmortem.core.errors import PatternError
from postmortem.reading.prefixes import clean
from postmortem.rules.base import Rule
from postmortem.rules.stack_rules import build_file_format


def match_captures(rule: dict[str, Any], text: str) -> dict[str, str] | None:
    """Give the named groups if the rule fires on the text, else None.

    An anchor must be there and the cleaned lines must match.
    """
    lines = text.split("\n")
    searched = Rule(rule["id"], (), rule["match"], rule)
    for index, line in enumerate(lines):
        if any(anchor in line for anchor in rule["anchors"]):
            window = "\n".join(
                clean(line).text for line in lines[index : index + rule.get("lines", 1)]
            )
            if match := searched.search(window):
                return {
                    name: value for name, value in match.groupdict().items() if value is not None
                }
    return None


def find_example_errors(rules: Iterable[dict[str, Any]]) -> Iterator[PatternError]:
    """Yield a fault for each example that does not do what it says."""
    for rule in rules:
        for example in rule["examples"]["fires"]:
            got = match_captures(rule, example["text"])
            if got is None:
                has_anchor = any(anchor in example["text"] for anchor in rule["anchors"])
                hint = "correct `match`" if has_anchor else "none of its anchors is in the example"
                yield PatternError(
                    f"{rule['id']} does not fire on its own example: {example['text'][:160]!r}",
                    rule.get("file", ""),
                    hint,
                )
                continue
            for name, value in example.get("captures", {}).items():
                if got.get(name) != str(value):
                    yield PatternError(
                        f"{rule['id']} captures {name}={got.get(name)!r}, the example says"
                        f" {value!r}",
                        rule.get("file", ""),
                        "correct either",
                    )
        for example in rule["examples"]["silent"]:
            if match_captures(rule, example["text"]) is not None:
                yield PatternError(
                    f"{rule['id']} wrongly fires on: {example['text'][:160]!r}",
                    rule.get("file", ""),
                    "make `match` or `anchors` narrower",
                )


def find_stack_errors(rules: Mapping[str, Sequence[dict[str, Any]]]) -> Iterator[PatternError]:
    """Yield a fault for each stack that is not recognised where it should be, or where not.

    `rules` are compiled; a stack is recognised by its own literals, or by a format that names it,
    as a framework or as the back-end. A system is what a dump says of itself, in many formats.
    """
    for stack in rules["stacks"]:
        if stack.get("kind") == "system":
            continue
        own = [rule for rule in rules["formats"] if stack["id"] in _get_framework_and_backend(rule)]
        seen = build_file_format(stack)
        if seen is not None:
            own.append(seen)
        for kind, is_wanted in (("fires", True), ("silent", False)):
            for example in stack["examples"][kind]:
                found = next(
                    (r["id"] for r in own if match_captures(r, example["text"]) is not None), ""
                )
                if bool(found) != is_wanted:
                    yield PatternError(
                        f"the stack {stack['id']} is {'' if found else 'not '}recognised"
                        f" {f'by {found} ' if found else ''}in: {example['text'][:160]!r}",
                        stack.get("file", ""),
                        "correct `paths`, `packages`, `imports`, or the rule in formats/",
                    )


def _get_framework_and_backend(format_: Mapping[str, Any]) -> tuple[Any, Any]:
    """Name the framework and the back-end that a format shows."""
    return format_.get("framework"), (format_.get("set") or {}).get("env_backend")
