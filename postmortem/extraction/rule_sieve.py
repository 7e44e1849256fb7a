"""Find in one go on which lines of a region the rules that were asked often may hold.

In: a region and its literals. Out: the literals whose lines are worth a look. Not here: the looks
(`extraction.cursor`).

Prose about training is full of literals, and hardly a line of it comes again. Each rule that was
asked about many lines is asked once about all lines of a region that hold one of its literals,
joined: where it finds nothing there, it finds nothing in any of them. A line whose figures no
reader can take is not read for figures either. A rule of which nearly all lines are left is asked
about each.
"""

import bisect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.lines import NOWHERE
from postmortem.extraction.formats import grids
from postmortem.extraction.formats.spelling import MAY_HOLD_VALUE
from postmortem.extraction.literal_filters import Hit
from postmortem.extraction.literals import Matcher, Wanted
from postmortem.extraction.table_rows import TABLE_AHEAD
from postmortem.reading.block_reader import Block
from postmortem.reading.prefixes import Cleaned
from postmortem.reading.windows import LONG, View, ViewContext
from postmortem.rules.engine import Pattern, compile_for_many_lines

OFTEN: Final = 200
"""Looks of a rule after which it is asked about many lines at once."""
FEWEST: Final = 64
"""Lines with literals in a region that are worth it."""
_MOST_LEFT: Final = 0.8
"""Part of its lines that a rule may leave."""


class SelectedHits:
    """The literals of a region that are worth a look, in the order in which they are read."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        """Take them."""
        self._hits = hits
        self.until = 0
        """Where the next literal is wanted."""

    def __iter__(self) -> Iterator[Hit]:
        """Yield (number of the literal, where it starts)."""
        return iter(self._hits)


class RuleSieve:
    """Chooses the literals of one source that are looked at."""

    def __init__(self, machine: Matcher, sight: ViewContext) -> None:
        """Know no rule that was asked often."""
        self._machine, self._sight = machine, sight
        self._looks: dict[Wanted, int] = {}
        self._rules: dict[Wanted, _ManyLineRule | None] = {}
        """Of the rules that were asked often, with the lines that each looks at; None if it is
        better asked about each line."""
        self._data = b""
        self._in_vain: dict[Wanted, set[int]] = {}
        """Where the lines of this data begin on which a rule does not hold."""
        self._under_headings = {
            ("metric", index)
            for index, reader in enumerate(machine.metrics)
            if reader.is_named_above
        }
        """Readers whose figures a heading names, which is read as a line without figures is."""

    def count(self, consumer: Wanted) -> None:
        """Count a look."""
        looks = self._looks[consumer] = self._looks.get(consumer, 0) + 1
        if looks == OFTEN:
            self._rules[consumer] = self._compile(*consumer)

    @property
    def is_of_use(self) -> bool:
        """Whether any rule was asked often."""
        return bool(self._rules)

    def is_in_vain(self, consumer: Wanted, view: View) -> bool:
        """Say whether it is known that a rule does not hold on a line."""
        lines = self._in_vain.get(consumer)
        return lines is not None and view.start in lines and view.data is self._data

    def select(self, block: Block, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Give those of the literals in a region, in order, whose lines are worth a look."""
        self._in_vain, self._data = {}, block.data
        region = _Region(block, hits, self._sight)
        if len(region.lines) < FEWEST or not region.is_plain:
            return hits
        consumers = self._machine.consumers
        wanted: dict[Wanted, list[int]] = {}
        for index, (number, _) in enumerate(hits):
            for consumer in consumers[number]:
                wanted.setdefault(consumer, []).append(region.places[index])
        kept: dict[Wanted, set[int]] = {}
        names_columns = not self._under_headings.isdisjoint(wanted)
        for consumer, places in wanted.items():
            if consumer[0] == "generic" and not names_columns:
                kept[consumer] = region.find_records(sorted(set(places)))
            elif (rule := self._rules.get(consumer)) is not None:
                lines = sorted(set(places))
                left = kept[consumer] = region.find(rule, lines)
                if len(left) > _MOST_LEFT * len(lines) + 8:
                    self._rules[consumer] = None
            if consumer in kept:
                self._in_vain[consumer] = set(places) - kept[consumer]
        return self._drop(hits, region.places, kept)

    def _drop(
        self, hits: Sequence[Hit], places: Sequence[int], kept: Mapping[Wanted, set[int]]
    ) -> list[Hit]:
        """Drop literals that nobody wants; the first of a line stays if another does."""
        consumers, found, line = self._machine.consumers, list[Hit](), -1
        first: Hit | None = None
        for hit, place in zip(hits, places, strict=True):
            if place != line:
                line, first = place, hit
            if any(one not in kept or place in kept[one] for one in consumers[hit[0]]):
                if first is not None and first is not hit:
                    found.append(first)
                first = None
                found.append(hit)
        return found

    def _compile(self, kind: str, index: int) -> "_ManyLineRule | None":
        if kind not in {"signature", "fact"}:
            return None
        machine = self._machine
        rule = machine.signatures[index] if kind == "signature" else machine.facts[index]
        match = compile_for_many_lines(rule.match)
        if match is None:
            return None
        lines, unless = int(rule.raw.get("lines", 1)), rule.raw.get("unless")
        return _ManyLineRule(
            tuple(
                filter(None, [match, *map(compile_for_many_lines, rule.raw.get("beside") or ())])
            ),
            compile_for_many_lines(unless, is_exact=True) if unless and lines == 1 else None,
            lines,
        )


class _ManyLineRule(NamedTuple):
    """A rule as it is asked about many lines."""

    needed: tuple[Pattern, ...]
    """Each matches on a line on which the rule holds, or on one of those behind."""
    unless: Pattern | None
    """Matches on no line on which it holds."""
    lines: int
    """How many lines it looks at from each."""


class _Region:
    """The lines of a region that hold literals."""

    def __init__(self, block: Block, hits: Sequence[Hit], sight: ViewContext) -> None:
        """Find the line of each literal."""
        self._data = data = block.data
        self._clean = sight.view(data, block.lo, 0).clean_at
        self.places: list[int] = []
        """By literal: where its line begins."""
        self._cleaned: dict[int, Cleaned] = {}
        self._ends: dict[int, int] = {}
        begin, end = 0, -1
        for _, start in hits:
            if start > end:
                begin = data.rfind(b"\n", 0, start) + 1
                end = self._find_end(begin)
            self.places.append(begin)
        self.lines = list(self._ends)
        self.is_plain = data.find(b"\r", block.lo, block.hi) < 0 and all(
            end - begin <= LONG for begin, end in self._ends.items()
        )
        """Whether each line ends with a line break, and none is long."""

    def _find_end(self, begin: int) -> int:
        end = self._ends.get(begin)
        if end is None:
            end = self._data.find(b"\n", begin)
            end = self._ends[begin] = len(self._data) if end < 0 else end
        return end

    def _read(self, begin: int) -> Cleaned:
        cleaned = self._cleaned.get(begin)
        if cleaned is None:
            cleaned = self._cleaned[begin] = self._clean(begin, self._find_end(begin))
        return cleaned

    def _list_window(self, begin: int, count: int) -> list[int]:
        """Give where so many lines begin, from one on."""
        window = [begin]
        while len(window) < count and (end := self._find_end(window[-1])) < len(self._data):
            window.append(end + 1)
        return window

    def find(self, rule: _ManyLineRule, lines: Sequence[int]) -> set[int]:
        """Give the lines on which a rule may hold."""
        left = lines
        for pattern in rule.needed:
            left = self._find_near(pattern, rule.lines, left)
        if rule.unless is not None and left:
            found = self._search(rule.unless, left)
            excluded = {left[first] for first, last in found if first == last}
            left = [begin for begin in left if begin not in excluded]
        return {*left, *(begin for begin in lines if self._must_be_read(begin, rule.lines))}

    def _find_near(self, pattern: Pattern, count: int, lines: Sequence[int]) -> list[int]:
        """Give those of some lines on which, or on one of those behind, a pattern matches."""
        windows = {begin: self._list_window(begin, count) for begin in lines}
        every = sorted(set(itertools.chain.from_iterable(windows.values())))
        hit = set[int]()
        for first, last in self._search(pattern, every):
            hit.update(every[first : last + 1])
        return [begin for begin, window in windows.items() if not hit.isdisjoint(window)]

    def _search(self, pattern: Pattern, lines: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the first and the last line of each match in some lines, as their numbers."""
        texts = [self._read(begin).text for begin in lines]
        starts = list(itertools.accumulate((len(text) + 1 for text in texts), initial=0))
        for match in pattern.finditer("\n".join(texts)):
            first, last = (bisect.bisect_right(starts, at) - 1 for at in match.span())
            yield first, min(last, len(texts) - 1)

    def _must_be_read(self, begin: int, count: int) -> bool:
        """Say whether what is searched is more than the lines from one on."""
        cleaned = self._read(begin)
        is_apart = count > 1 and cleaned.where is not NOWHERE
        return is_apart or cleaned.text.lstrip().startswith("raise ")

    def find_records(self, lines: Sequence[int]) -> set[int]:
        """Give the lines that may hold the value of a metric, or be the heading of a table."""
        may_hold, read = MAY_HOLD_VALUE.search, self._read
        return {one for one in lines if may_hold(read(one).text) or self._is_heading(one)}

    def _is_heading(self, begin: int) -> bool:
        if not grids.may_be_heading(self._read(begin).text):
            return False
        behind = self._list_window(begin, TABLE_AHEAD)[1:]
        return grids.find_first_row(self._read(line).text for line in behind) is not None
