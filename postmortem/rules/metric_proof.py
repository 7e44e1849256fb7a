"""Proof of the table of metrics: each class takes its own examples and no look-alike.

In: well formed rows. Out: faults. Not here: the shape of a row (`rules.schema`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import regex

from postmortem.core.errors import PatternError
from postmortem.rules import attack, attack_texts
from postmortem.rules.engine import TIMEOUT
from postmortem.rules.metrics import MetricTable


def find_metric_errors(
    rows: Iterable[Mapping[str, Any]], whole: Iterable[Mapping[str, Any]], *, attacks: bool
) -> Iterator[PatternError]:
    """Yield what is wrong with rows: a pattern, a class that they name, an example.

    Args:
        rows: those that are checked.
        whole: all that they may name, themselves among them.
        attacks: whether to time the patterns.
    """
    whole = list(whole)
    ids = {row["id"] for row in whole}
    for row in rows:
        faults = list(_find_pattern_faults(row, ids, attacks=attacks))
        for what, mend in faults or _find_example_faults(row, whole):
            yield PatternError(f"{row['id']}: {what}", "metrics.yaml", mend)


def _find_pattern_faults(
    row: Mapping[str, Any], ids: set[str], *, attacks: bool
) -> Iterator[tuple[str, str]]:
    for other in row.get("not", ()):
        if other not in ids:
            yield f"no class has the id {other!r}", "name a row of metrics.yaml"
    pattern = MetricTable([row])[row["id"]][0].pattern.pattern
    try:
        re.compile(pattern, re.IGNORECASE)
        engine = regex.compile(pattern, regex.IGNORECASE)
    except (re.error, regex.error) as error:
        yield f"not a valid regex: {error}", "correct `names` or `match`"
        return
    if attacks:
        # It backtracks as `re` does, which a run searches names with, and can give up.
        outcome = attack.find_worst_attack(
            lambda text: engine.search(text, timeout=TIMEOUT), attack_texts.build_attacks(pattern)
        )
        if outcome.is_slow:
            yield f"its pattern is slow: {outcome}", "bound what repeats"


def _find_example_faults(
    row: Mapping[str, Any], whole: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield the examples that the row, with the rest of the table beside it, takes wrongly."""
    alone = MetricTable([row, *(other for other in whole if other["id"] != row["id"])])
    for name in row["examples"]["belongs"]:
        if not alone.is_any(name, row["id"]):
            yield f"it does not take {name!r}", "correct the pattern or the example"
    for example in row["examples"]["others"]:
        if alone.is_any(example["name"], row["id"]):
            yield f"it takes {example['name']!r}", "correct the pattern or the example"
