"""All literals of the knowledge base in one filter, and who wants to see the lines that hold them.

In: the knowledge base. Out: `Machine`, built once and shared by all sources. Not here: looking at
lines (`gather`).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.formats import table
from postmortem.formats.generic import WORDS
from postmortem.formats.records import MetricReader
from postmortem.knowledge.base import Format, KnowledgeBase, Signature
from postmortem.signatures import traceback
from postmortem.signatures.prefilter import Prefilter, prefilter

_STRIDE: Final = 1 << 20
"""Bytes that are scanned in one go."""
FOLLOWED: Final = frozenset({"traceback", "frame"})
"""What is read over the lines that follow."""


class Machine:
    """Everything that is built once from the knowledge base.

    Literals and who wants to see their lines.
    """

    def __init__(self, knowledge: KnowledgeBase) -> None:
        """Collect the literals of all rules."""
        self.knowledge = knowledge
        self.signatures = knowledge.signatures
        self.facts = [rule for rule in knowledge.formats if rule.kind == "facts"]
        self.metrics = [MetricReader(rule) for rule in knowledge.formats if rule.kind == "metrics"]
        wanted: dict[bytes, list[tuple[str, int]]] = {
            traceback.ANCHOR: [("traceback", 0)],
            traceback.FRAME_ANCHOR: [("frame", 0)],
        }
        rules: Iterable[tuple[str, Sequence[Signature | Format]]] = (
            ("metric", [reader.format for reader in self.metrics]),
            ("fact", self.facts),
            ("signature", self.signatures),
        )
        for kind, entries in rules:
            for index, rule in enumerate(entries):
                for anchor in rule.anchors:
                    wanted.setdefault(anchor, []).append((kind, index))
        for word in WORDS:
            wanted.setdefault(word, []).append(("generic", 0))
        for word in table.WORDS:
            wanted.setdefault(word, []).append(("table", 0))
        self.is_more_than_metric = [
            any(kind not in {"metric", "generic"} for kind, _ in consumers)
            for consumers in wanted.values()
        ]
        """By literal: whether a line that a learnt template has read must be looked at all the same."""
        self.only_followed = frozenset(
            number
            for number, consumers in enumerate(wanted.values())
            if all(kind in FOLLOWED for kind, _ in consumers)
        )
        """The literals that nothing but a traceback begins with."""
        self.literals = list(wanted)
        self.consumers = list(wanted.values())
        self.filter: Prefilter = prefilter(self.literals)

    def hits(self, data: bytes, lo: int, hi: int) -> Iterator[tuple[int, int]]:
        """Yield every literal that starts in data[lo:hi].

        Of a log that is full of them few are held at once.
        """
        for start in range(lo, hi, _STRIDE):
            yield from self.filter.hits(data, start, min(start + _STRIDE, hi))
