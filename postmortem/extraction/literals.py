"""All literals of the knowledge base in one filter, and the rules that each belongs to.

In: the knowledge base. Out: `Matcher`, built once and shared by all sources. Not here: looking at
lines (`extraction`).
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction import pytest_frames, traceback
from postmortem.extraction.formats import table
from postmortem.extraction.formats.metric_names import WORDS
from postmortem.extraction.formats.records import MetricReader
from postmortem.extraction.literal_filters import Hit, Prefilter, build_prefilter
from postmortem.rules.base import Format, KnowledgeBase, Signature

_STRIDE: Final = 1 << 20
"""Bytes that are scanned in one go."""
_LEAST_STRIDE: Final = 1 << 10
"""The same at first, and behind a stretch that was passed over: the next may be, too."""
_LOOSE: Final = compile_lazily(rb"\d|  |nan|inf(?!o)|\|[ #]|[ #]\|", re.IGNORECASE)
FOLLOWED: Final = frozenset({"traceback", "frame"})
"""What is read over the lines that follow."""
_OF_METRICS: Final = frozenset({"metric", "generic"})
_KIND: Final = itemgetter(0)
_LEARNT: Final = b"\x01learnt\x02"

Wanted = tuple[str, int]
"""The kind of whoever wants a line, and the index of its rule among those of the kind."""


class LiteralSubset(NamedTuple):
    """Some of the literals, with a filter of their own."""

    numbers: list[int]
    filter: Prefilter
    """Counts them from 0."""
    once: Prefilter
    """The same, of each the first place."""


class Matcher:
    """Everything that is built once from the knowledge base.

    Literals and who wants to see their lines.
    """

    def __init__(self, knowledge: KnowledgeBase) -> None:
        """Collect the literals of all rules."""
        self.knowledge = knowledge
        self.signatures = knowledge.signatures
        self.facts = [rule for rule in knowledge.formats if rule.kind == "facts"]
        self.metrics = [MetricReader(rule) for rule in knowledge.formats if rule.kind == "metrics"]
        wanted = self._collect_wanted()
        self.is_more_than_metric = [
            not _OF_METRICS.issuperset(map(_KIND, consumers)) for consumers in wanted.values()
        ]
        """By literal: whether a line that a template has read must be looked at all the same."""
        self.is_of_signatures = [
            all(kind == "signature" for kind, _ in consumers) for consumers in wanted.values()
        ]
        """By literal: whether nobody but signatures wants it."""
        self.only_followed = frozenset(
            number
            for number, consumers in enumerate(wanted.values())
            if consumers[0][0] in FOLLOWED and FOLLOWED.issuperset(map(_KIND, consumers))
        )
        """The literals that nothing but a traceback begins with."""
        self.literals = list(wanted)
        self.consumers = list(wanted.values())
        self.learnt = self.literals.index(_LEARNT)
        """Stands for all literals that a source teaches itself."""
        self.filter: Prefilter = build_prefilter(self.literals)
        self.alike = self._group_alike(wanted)
        """By literal: the first of those that differ in the digit of their number alone."""

    def _collect_wanted(self) -> dict[bytes, list[Wanted]]:
        """Give who wants to see the lines of each literal, in the order in which they look."""
        wanted: dict[bytes, list[Wanted]] = {
            traceback.ANCHOR: [("traceback", 0)],
            pytest_frames.ANCHOR: [("traceback", 0)],
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
        for kind, words in (("generic", WORDS), ("table", table.WORDS)):
            for word in words:
                wanted.setdefault(word, []).append((kind, 0))
        wanted[_LEARNT] = [("generic", 0)]
        return wanted

    def _group_alike(self, wanted: Mapping[bytes, Sequence[Wanted]]) -> list[int]:
        first: dict[tuple[bytes, tuple[Wanted, ...]], int] = {}
        bare = [literal.rstrip(b"123456789") for literal in wanted]
        numbered = {
            bare_literal
            for bare_literal, literal in zip(bare, wanted, strict=True)
            if bare_literal != literal
        }
        return [
            first.setdefault((bare_literal, tuple(consumers)), number)
            if bare_literal in numbered
            else number
            for number, (bare_literal, consumers) in enumerate(
                zip(bare, wanted.values(), strict=True)
            )
        ]

    @functools.lru_cache(maxsize=2)  # noqa: B019 -- a machine lives as long as the program
    def loose(self, *, is_more_than_metric: bool) -> "LiteralSubset":
        """Give the literals that hang on figures, on how they are padded, and on how full a bar is.

        Those alone whose lines must be looked at though a template has read them, or all.
        """
        numbers = [
            number
            for number, text in enumerate(self.literals)
            if _LOOSE.search(text) and (self.is_more_than_metric[number] or not is_more_than_metric)
        ]
        literals = [self.literals[number] for number in numbers]
        return LiteralSubset(
            numbers, build_prefilter(literals), build_prefilter(literals, is_once=True)
        )


class Scan:
    """The literals that start in a region of a block, in the order in which they are read.

    Of a log that is full of them few are held at once, and whoever reads them may pass over those
    that nobody will look at: most of them are not even found then.
    """

    def __init__(self, literals: Prefilter, data: bytes, lo: int, hi: int) -> None:
        """Begin at `lo`."""
        self._filter, self._data, self._lo, self._hi = literals, data, lo, hi
        self.until = lo
        """Where the next literal is wanted; what is found already may stand before it."""

    def __iter__(self) -> Iterator[Hit]:
        """Yield (number of the literal, where it starts)."""
        start, stride = max(self._lo, self.until), _LEAST_STRIDE
        while start < self._hi:
            end = min(start + stride, self._hi)
            yield from self._filter.hits(self._data, start, end)
            stride = min(2 * stride, _STRIDE) if self.until <= end else _LEAST_STRIDE
            start = max(end, self.until)
