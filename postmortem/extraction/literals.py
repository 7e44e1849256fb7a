"""The literals by which lines are found: of the knowledge base, and names learnt from a source.

In: the knowledge base; the blocks of a source. Out: `Matcher`, built once and shared by all
sources, with the rules that each literal belongs to; `LearntLiterals`, which finds names that
repeat with a figure though no rule knows them, so that their lines are read as metric lines may be.
Not here: looking at lines (`extraction`), whether they are metric lines (`formats.acceptance`).

To learn names samples of a block are looked at, never all of it. A name is learnt if it repeats
with decimals that differ, if none of the rules' literals leads to its line, and if the reader of
unknown layouts finds a figure there.
"""

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.extraction import frames, traceback
from postmortem.extraction.formats import tables
from postmortem.extraction.formats.blocks import parse_entry
from postmortem.extraction.formats.metric_line_parser import parse_metric_line
from postmortem.extraction.formats.record_parts import METRIC_WORDS
from postmortem.extraction.formats.records import FormatReader
from postmortem.extraction.scanning import Hit, Prefilter, build_prefilter
from postmortem.reading.prefixes import clean
from postmortem.reading.sources import Block
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
        self.metrics = [FormatReader(rule) for rule in knowledge.formats if rule.kind == "metrics"]
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
            frames.TEST_ANCHOR: [("traceback", 0)],
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
        for kind, words in (("generic", METRIC_WORDS), ("table", tables.HTML_WORDS)):
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


_ENTRY: Final = compile_lazily(
    rb"(?<![\w./@\x80-\xff-])([A-Za-z\x80-\xff][\w./@\x80-\xff-]{0,40}[\"')\]]{0,2}"
    rb"(?: {0,24}[:=|] {0,6}| is | ?-> ?|[ \t]{1,8}(?=[+-]?\d{1,9}\.\d)))"
    rb"([+-]?\d{1,9}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?)(?![\w:/-]|\.\d)"
)
_WINDOW: Final = 32 << 10
_WINDOWS: Final = 4
_FEWEST_TIMES: Final = 4
"""Times that a name comes with a figure in the samples of a block."""
_MOST_NAMES: Final = 24
_MOST_TRIED: Final = 64
_LONGEST_SAMPLE: Final = 1000
_BOX: Final = 4000


class LearntLiterals:
    """Finds the literals of the rules and the names that one source has taught."""

    def __init__(self, matcher: Matcher) -> None:
        """Know none."""
        self._matcher = matcher
        self._names: list[bytes] = []
        self._tried = set[bytes]()
        self._texts: tuple[bytes, ...] = ()
        self._own: Prefilter | None = None
        """Finds them; None while none is known."""

    def hits(self, data: bytes, lo: int, hi: int) -> list[Hit]:
        """Find every literal that starts in data[lo:hi], in the order of their places."""
        found = self._matcher.filter.hits(data, lo, hi)
        if self._own is None:
            return found
        own = [(self._matcher.learnt, start) for _, start in self._own.hits(data, lo, hi)]
        return sorted([*found, *own], key=itemgetter(1)) if own else found

    def texts(self, number: int) -> bytes | tuple[bytes, ...]:
        """Give what a literal may stand for."""
        return self._texts if number == self._matcher.learnt else self._matcher.literals[number]

    def learn(self, block: Block) -> bool:
        """Learn from samples of a block; says whether any name is new."""
        texts, rows = dict[bytes, set[bytes]](), set[bytes]()
        count, places = Counter[bytes](), dict[bytes, list[int]]()
        for lo, hi in _iter_windows(block):
            for entry in _ENTRY.finditer(block.data, lo, hi):
                name, figure = entry.groups()
                if b"|" in name:
                    name = name.rstrip(b" |") + b" "  # whatever the width of the box
                    rows.add(name)
                count[name] += 1
                texts.setdefault(name, set()).add(figure)
                places.setdefault(name, []).append(entry.start())
        known = len(self._names)
        for name, times in count.most_common(_MOST_TRIED):
            has_decimals = name in rows or any(b"." in figure for figure in texts[name])
            if times >= _FEWEST_TIMES and len(texts[name]) > 1 and has_decimals:
                self._try(name, block.data, places[name])
        if len(self._names) == known:
            return False
        self._texts, self._own = tuple(self._names), build_prefilter(self._names)
        return True

    def _try(self, name: bytes, data: bytes, places: Sequence[int]) -> None:
        """Learn a name if nothing leads to one of its lines, and that line has a figure.

        The last one may be a closing sentence, or all that is there of a record.
        """
        if name in self._tried or len(self._tried) >= 2 * _MOST_TRIED:
            return
        self._tried.add(name)
        if len(self._names) < _MOST_NAMES and any(
            self._is_worth(data, place) for place in {places[len(places) // 2], places[-1]}
        ):
            self._names.append(name)

    def _is_worth(self, data: bytes, place: int) -> bool:
        """Say whether a line has a figure that no literal leads to."""
        start, end = data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place)
        line = data[start : len(data) if end < 0 else end]
        if len(line) > _LONGEST_SAMPLE:
            return False
        text = clean(line.decode("utf-8", "replace").strip("\r"), srun=False).text
        is_row = text.lstrip().startswith("|") and parse_entry(text) is not None
        unit = _get_box(data, start) if is_row else line
        if self._is_led_to(unit) or any(name in unit for name in self._names):
            return False
        return is_row or parse_metric_line(text) is not None

    def _is_led_to(self, line: bytes) -> bool:
        """Say whether a literal of the rules leads a reader of figures that takes it to a line."""
        matcher = self._matcher
        wanted = {
            consumer
            for number, _ in matcher.filter.hits(line, 0, len(line))
            for consumer in matcher.consumers[number]
        }
        text = line.decode("utf-8", "replace")
        return any(
            kind == "generic"
            or (kind == "metric" and matcher.metrics[index].format.search(text) is not None)
            for kind, index in wanted
        )


def _iter_windows(block: Block) -> Iterator[tuple[int, int]]:
    """Yield the regions of a block that are looked at: all of a short one."""
    fresh = block.hi - block.lo
    if fresh <= _WINDOW * _WINDOWS:
        yield block.lo, block.hi
        return
    for number in range(_WINDOWS):
        lo = block.lo + (fresh - _WINDOW) * number // (_WINDOWS - 1)
        yield lo, lo + _WINDOW


def _get_box(data: bytes, start: int) -> bytes:
    """Give the rows of a box around a line: they are read as one record."""
    low, end = start, start
    while low > 0 and (above := data.rfind(b"\n", 0, low - 1) + 1) >= start - _BOX:
        if data[above : above + 1] != b"|":
            break
        low = above
    while data[end : end + 1] == b"|" and end < start + _BOX:
        close = data.find(b"\n", end)
        end = len(data) if close < 0 else close + 1
    return data[low:end]
