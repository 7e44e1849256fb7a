"""Saved checkpoints: their steps, and which were saved before a given place of the run.

In: facts `checkpoint` as printed (a path, `500 iterations`, a number), with their lines and printed
times. Out: `Saved`, `standing`. Not here: the wordings (`patterns/formats/launch.yaml`), where the
run went wrong (`progress`).

A path that says no step is written over each time it is saved: only its last saving counts.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.facts.fact_store import Fact
from postmortem.reading.prefixes import get_time_basis

_STEP: Final = compile_lazily(
    r"global_?step[-_=]?(\d+)"
    r"|(?<![a-z])(?:step|iter|iteration)s?[-_= ]?(\d+)"
    r"|(?<![a-z])checkpoint-(\d+)(?![\d.]*\.(?:pth|pt|tar)\b)"
    r"|(?<![a-z])checkpoint_\d+_(\d+)\.pt\b"  # fairseq: epoch and updates
    r"|(?<![a-z])model_(\d{7})\.pth\b"  # detectron2
    r"|^(\d+)(?: (?:iterations|iters))?$",
    re.IGNORECASE,
)


class Place(NamedTuple):
    """A place of the run, as far as it is known."""

    source: int
    line: int
    time: str | None
    step: float | None


class Saved(NamedTuple):
    """A checkpoint with the place of its last saving."""

    value: str
    place: Place


def parse_step(value: str) -> float | None:
    """Read the step off a checkpoint's name.

    None for an epoch, an ordinal, or a name without a number.
    """
    found = [next(filter(None, match.groups())) for match in _STEP.finditer(value)]
    return float(found[-1]) if found else None


def list_in_save_order(facts: Iterable[Fact]) -> list[Saved]:
    """Order checkpoints as they were saved, each name once."""
    found: dict[str, Saved] = {}
    for fact in facts:
        step = parse_step(fact.value)
        if step is not None and fact.value in found:  # named again: listed, or loaded
            continue
        found.pop(fact.value, None)
        found[fact.value] = Saved(fact.value, Place(fact.source, fact.line, fact.time, step))
    return list(found.values())


def is_before(first: Place, second: Place) -> bool | None:
    """Say whether a place stands before another.

    By line in one file, else by full printed times, else by steps; None if none of them tells.
    """
    if first.source == second.source:
        return first.line < second.line
    if (
        first.time
        and second.time
        and get_time_basis(first.time) == get_time_basis(second.time) == "full"
    ):
        return first.time < second.time
    return None if first.step is None or second.step is None else first.step < second.step


def find_checkpoint_before(
    checkpoints: Iterable[Saved], limit: Place | None
) -> tuple[str, Saved | None]:
    """Say whether a checkpoint stands before a place of the run (yes, no, unknown).

    And which is the last that does.

    Without a place nothing is bad: the last checkpoint is given, and `unknown`.
    """
    listed = list(checkpoints)
    if not listed or limit is None:
        return "unknown", listed[-1] if listed else None
    known = [(checkpoint, is_before(checkpoint.place, limit)) for checkpoint in listed]
    good = [checkpoint for checkpoint, before in known if before]
    if good:
        return "yes", good[-1]
    return ("unknown" if any(before is None for _, before in known) else "no"), None
