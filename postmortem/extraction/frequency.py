"""Find anchors that stand in ordinary lines of healthy logs and so slow down every run.

In: rules as plain mappings, a folder of labelled samples. Out: a `PatternError` for every anchor
that is no rare literal. Not here: whether a rule fires wrongly (`extraction.proof`, and the
samples' own labels).

A line with an anchor is cleaned and searched, which costs a hundred times what reading it costs. An
anchor may stand a few times in a log, where a run begins or ends; one that stands in every metric
line slows every run down.
"""

import collections
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from postmortem.core.errors import PatternError
from postmortem.extraction.literal_filters import build_prefilter
from postmortem.reading.windows import View
from postmortem.rules.base import Rule
from postmortem.rules.traits import Trait, has_trait

_PER_LOG: Final = {"metrics": 20}
_ELSEWHERE: Final = 10
"""Lines of a healthy log in which an anchor may stand in vain, where a run begins, saves or ends;
those of a metric format stand in their own program's other lines as well."""
_PER_MEGABYTE: Final = 1
"""Further ones for each megabyte."""


def list_healthy_logs(samples: Path) -> list[Path]:
    """Give the logs whose label says that the run was healthy."""
    found: list[Path] = []
    for label in sorted(samples.rglob("*.yaml")):
        first = label.read_text(encoding="utf-8").partition("\n")[0]
        cause = first.removeprefix("cause:").strip()
        if first != cause and has_trait(cause, Trait.SOUND):
            siblings = [
                label.with_suffix(""),
                *(path for path in sorted(label.parent.glob(f"{label.stem}.*")) if path != label),
            ]
            found += [
                path
                for sibling in siblings
                for path in (
                    [sibling]
                    if sibling.is_file()
                    else sorted(sibling.rglob("*"))
                    if sibling.is_dir()
                    else []
                )
                if path.is_file()
            ]
    return found


def find_frequency_errors(
    rules: Sequence[dict[str, Any]], logs: Iterable[Path]
) -> Iterator[PatternError]:
    """Yield a fault for each anchor that stands too often on lines that its rule does not match."""
    owners: dict[bytes, list[Rule]] = {}
    for raw in rules:
        for anchor in raw["anchors"]:
            owners.setdefault(anchor.encode(), []).append(Rule(raw["id"], (), raw["match"], raw))
    literals = list(owners)
    reported: set[tuple[str, bytes]] = set()
    finder = build_prefilter(literals)
    for log in logs:
        data = log.read_bytes()
        for (name, anchor), lines in _count_unmatched_anchors(
            data,
            [(literals[number], start) for number, start in finder.hits(data, 0, len(data))],
            owners,
        ).items():
            rule = next(rule for rule in owners[anchor] if rule.id == name)
            most = (
                _PER_LOG.get(rule.raw.get("kind", ""), _ELSEWHERE) + _PER_MEGABYTE * len(data) / 1e6
            )
            if lines > most and (name, anchor) not in reported:
                reported.add((name, anchor))
                yield PatternError(
                    f"{name}: the anchor {anchor.decode()!r} stands in vain in {lines} lines of a"
                    f" healthy log, {log.name} ({len(data) / 1e6:.2g} MB)",
                    rule.raw.get("file", ""),
                    "take a literal that ordinary lines lack",
                )


def _count_unmatched_anchors(
    data: bytes, hits: Iterable[tuple[bytes, int]], owners: dict[bytes, list[Rule]]
) -> collections.Counter[tuple[str, bytes]]:
    """Count the lines that hold an anchor and are not what its rule looks for, by both."""
    lines: dict[tuple[int, bytes], View] = {}
    for anchor, start in hits:
        view = View(data, start, 0, srun=False)
        lines.setdefault((view.start, anchor), view)
    return collections.Counter(
        (rule.id, anchor)
        for (_, anchor), view in lines.items()
        for rule in owners[anchor]
        if rule.search("\n".join(view.following(int(rule.raw.get("lines") or 1)))) is None
    )
