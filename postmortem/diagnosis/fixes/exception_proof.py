"""Prove rules of exceptions on their own examples.

In: compiled rules. Out: faults. An example that fires must be taken by its own rule, whatever the
others are. Not here: the shape of a rule (`rules.check`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from postmortem.core.errors import PatternError
from postmortem.core.findings import Frame
from postmortem.diagnosis.fixes.exception_advice import Explained, word_advice
from postmortem.diagnosis.inference.example_cases import parse_frame
from postmortem.rules.exception_rules import (
    ExceptionRule,
    Raised,
    fitting,
    raised_as,
    type_rules,
)


def faults(entries: Sequence[Mapping[str, Any]]) -> Iterator[PatternError]:
    """Yield a fault for each example that does not do what it says."""
    rules = type_rules(entries)
    by_id = {rule.advice.id: rule for rule in rules}
    for entry in entries:
        for example in entry["examples"]["fires"]:
            for what in _wrong(entry["id"], example, fitting(raised_in(example), rules)):
                yield PatternError(
                    f"{entry['id']} {what} on its own example: {example['raised'][:160]!r}",
                    str(entry.get("file", "")),
                    "correct the rule, its `order` or the example",
                )
        for example in entry["examples"]["silent"]:
            if by_id[entry["id"]].captures(raised_in(example)) is not None:
                yield PatternError(
                    f"{entry['id']} wrongly fires on: {example['raised'][:160]!r}",
                    str(entry.get("file", "")),
                    "make the rule narrower",
                )


def _wrong(
    name: str, example: Mapping[str, Any], fit: tuple[ExceptionRule, dict[str, str]] | None
) -> Iterator[str]:
    if fit is None:
        yield "does not fire"
        return
    rule, captures = fit
    if rule.advice.id != name:
        yield f"yields to {rule.advice.id}"
    for key, value in example.get("captures", {}).items():
        if captures.get(key) != str(value):
            yield f"captures {key}={captures.get(key)!r} and not {value!r}"
    raised = raised_in(example)
    frame = Frame("train.py", 1, "<module>", raised.code, is_library=False) if raised.code else None
    found = Explained(rule.advice, captures, 0, 1, 1, frame, raised.message)
    worded = word_advice(found, example.get("log", ""))
    if rule.advice.meaning is not None and not worded.meaning:
        yield "explains nothing (each sentence has a place that is not filled)"
    if rule.advice.fixes and not worded.fixes:
        yield "has no fix (each title has a place that is not filled)"


def raised_in(example: Mapping[str, Any]) -> Raised:
    """Give the exception that an example describes."""
    exception, mark, message = example["raised"].partition(": ")
    if not mark or " " in exception:
        bare = example["raised"]
        is_class = bare.replace(".", "").replace("_", "").isalnum() and bare[:1] != bare[:1].lower()
        is_class = is_class or ("." in bare and " " not in bare)
        exception, message = (bare, "") if is_class else ("", bare)
    frames = [parse_frame(text) for text in example.get("frames", ())]
    code = example.get("code", "")
    if code and not frames:
        frames = [Frame("/src/train.py", 1, "<module>", code, is_library=False)]
    return raised_as(exception, message, frames)
