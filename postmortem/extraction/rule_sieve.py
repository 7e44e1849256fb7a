"""Find in one go on which lines of a region rules may hold, or figures be read.

In: a region and its literals; a cleaned line. Out: the literals whose lines are worth a look;
whether a reader of figures may make something of a line. Not here: the looks (`extraction.cursor`),
the search (`extraction.scanning`), what a reader makes of a line (`formats.metric_line_parser`),
headings of tables (`formats.tables`).

Prose about training is full of literals, and hardly a line of it comes again. All rules that were
asked about many lines are asked together, in one search of a line: what it does not find holds in
none of them. A line whose figures no reader can take is not read for figures either.

Prose, code and answers name losses and figures on every other line, and none is the value of the
other. What each way of reading a line begins with is searched for in one go.
"""

import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE
from postmortem.core.log_text import compile_lazily
from postmortem.extraction.formats import (
    blocks,
    figures,
    losses,
    metric_line_parser,
    metric_pairs,
    tables,
)
from postmortem.extraction.formats.bars import KERAS_BAR, draw, is_unfinished
from postmortem.extraction.formats.figures import convert_to_ascii, may_hold_figure
from postmortem.extraction.formats.line_forms import write_plainly
from postmortem.extraction.literals import Matcher, Wanted
from postmortem.extraction.scanning import Hit, LineScreen
from postmortem.extraction.table_rows import TABLE_AHEAD
from postmortem.reading.prefixes import Cleaned, clean
from postmortem.reading.sources import Block
from postmortem.reading.windows import LONG, View, ViewContext
from postmortem.rules.base import Format, Signature
from postmortem.rules.pattern_syntax import CharacterBytes

_WORD_BORDER: Final = compile_lazily(r"\\(.)", re.DOTALL)


_NOT_BEHIND: Final = compile_lazily(r"\(\?!\[((?:\\.|[^\]\\^]){1,200})\](?:\|[^()]{0,200})?\)$")
"""What looks at the signs behind a value: the first of what it excludes is a class."""
_LETTER: Final = 0x4E00
"""A letter beyond ASCII, whose byte is that of all."""


class _WordBytes(CharacterBytes):
    """Bytes of characters as `re` sorts them, to which any digit or number is part of a word."""

    def __missing__(self, code: int) -> int:
        """Choose the byte of a character that has not been met."""
        if code == _LETTER or not chr(code).isalnum():
            return super().__missing__(code)
        self[code] = self[_LETTER]
        return self[code]


def may_be_record(text: str) -> bool:
    """Say whether a line may hold a record, be a part of one, or a bar on its way."""
    if not may_hold_figure(text):
        return False
    plain = write_plainly(convert_to_ascii(text))
    screen, kinds = _build_screen()
    found = {kinds[number] for number in screen.find(plain)}
    if "alone" in found or found >= {"place", "beside"}:
        return True
    if metric_line_parser.MAY_BE_BAR.search(text) and draw(plain) is not None:
        return True
    return plain is not text and (blocks.parse_entry(text) is not None or is_unfinished(text))


@functools.lru_cache(maxsize=1)
def _build_screen() -> tuple[LineScreen, list[str]]:
    """Give what searches, and what each of its patterns says."""
    patterns = [
        *((_write(one), "alone") for one in (*losses.ALONE, figures.PRINTED_ITEM, KERAS_BAR)),
        *((f"^{_write(one)}", "alone") for one in (*blocks.ENTRIES, figures.LEADING)),
        *(("^" + "".join(map(_write, one)), "alone") for one in metric_pairs.FIRST_ENTRIES),
        *((_write(one), "place") for one in (*figures.PLACES, metric_line_parser.OF_SAMPLES)),
        *((_write(one), "beside") for one in (*losses.BESIDE_PLACE, *metric_pairs.BESIDE_PLACE)),
    ]
    screen = LineScreen([_drop_borders(pattern) for pattern, _ in patterns], _get_encoding)
    return screen, [kind for _, kind in patterns]


def _get_encoding(own: str) -> Callable[[str], bytes]:
    return _WordBytes(own).encode


def _write(pattern: "re.Pattern[str]") -> str:
    """Write a pattern with its flag, and what must not stand behind it as far as one sign tells."""
    text = _NOT_BEHIND.sub(r"(?:[^\1]|$)", pattern.pattern)
    return f"(?i:{text})" if pattern.flags & re.IGNORECASE else f"(?:{text})"


def _drop_borders(pattern: str) -> str:
    r"""Give a pattern without `\b`: to `re` a word may be of any letters."""
    return _WORD_BORDER.sub(lambda found: "" if found[1] in "bB" else found[0], pattern)


OFTEN: Final = 200
"""Looks of a rule after which it is asked about many lines at once."""
FEWEST: Final = 64
"""Lines with literals in a region that are worth it."""
LEAST: Final = 48 << 10
"""Bytes of a region for which rules are put together."""
_MOST_SCREENS: Final = 3
"""Searches of a line, beyond which all rules are put into one."""
_CHUNK: Final = 32
"""Lines that rules of several lines are asked about together."""
_REST: Final = compile_lazily(rb"\s*\Z")
_FIGURES: Final = ("generic", 0)
_FOR_FIGURES: Final = frozenset({_FIGURES})
_NONE: Final = frozenset[Wanted]()


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


class _AskedRule(NamedTuple):
    """A rule as it is asked together with others."""

    wanted: Wanted
    patterns: tuple[str, ...]
    """Each matches where the rule holds."""
    lines: int
    """How many lines it looks at."""


class _RuleScreen:
    """Asks some rules, which look at as many lines each, about a text."""

    def __init__(self, rules: Sequence[_AskedRule]) -> None:
        """Put their patterns together."""
        self.rules, self.wanted = rules, frozenset(rule.wanted for rule in rules)
        patterns = [pattern for rule in rules for pattern in rule.patterns]
        self._screen = LineScreen(patterns, of_many_lines=rules[0].lines > 1)
        self._known: dict[frozenset[int], frozenset[Wanted]] = {}

    def find(self, text: str) -> frozenset[Wanted]:
        """Give the rules that may hold."""
        found = frozenset(self._screen.find(text))
        known = self._known.get(found)
        if known is None:
            known = self._known[found] = self._select({*found, *self._screen.unfit})
        return known

    def _select(self, found: Collection[int]) -> frozenset[Wanted]:
        """Give the rules each of whose patterns was found."""
        chosen, first = set[Wanted](), 0
        for rule in self.rules:
            own = range(first, first + len(rule.patterns))
            first = own.stop
            if all(index in found for index in own):
                chosen.add(rule.wanted)
        return frozenset(chosen)


class RuleSieve:
    """Chooses the literals of one source that are looked at."""

    def __init__(self, matcher: Matcher, sight: ViewContext) -> None:
        """Know no rule that was asked often."""
        self._matcher, self._sight = matcher, sight
        self._looks: dict[Wanted, int] = {}
        self._asked: dict[Wanted, int] = {}
        """The rules that are asked together, with the lines that each looks at; 0 for who reads
        figures."""
        self._fresh: list[_AskedRule] = []
        """Rules that were asked often and are in no screen yet."""
        self._screens: dict[int, list[_RuleScreen]] = {}
        """By lines that their rules look at."""
        self._region: _Region | None = None
        """The one that was selected from last."""
        self._under_headings = {
            ("metric", index)
            for index, reader in enumerate(matcher.metrics)
            if reader.is_named_above
        }
        """Readers whose figures a heading names, which is read as a line without figures is."""

    def count(self, consumer: Wanted) -> None:
        """Count a look."""
        looks = self._looks[consumer] = self._looks.get(consumer, 0) + 1
        if looks == OFTEN:
            self._ask(consumer)

    @property
    def is_of_use(self) -> bool:
        """Whether any rule was asked often."""
        return bool(self._asked or self._fresh)

    def is_in_vain(self, consumer: Wanted, view: View) -> bool:
        """Say whether it is known that a rule does not hold on a line."""
        region = self._region
        return region is not None and view.data is region.data and region.is_in_vain(consumer, view)

    def select(self, block: Block, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Give those of the literals in a region, in order, whose lines are worth a look."""
        self._region = None
        if len(hits) < FEWEST or block.data.find(b"\r", block.lo, block.hi) >= 0:
            return hits
        self._compile(block.hi - block.lo)
        consumers, numbers = self._matcher.consumers, {number for number, _ in hits}
        names_columns = any(
            not self._under_headings.isdisjoint(consumers[number]) for number in numbers
        )
        asked = {one: count for one, count in self._asked.items() if count or not names_columns}
        self._region = _Region(block, self._sight, self._screens, asked)
        wanting = {
            number: consumers[number] if asked.keys() >= {*consumers[number]} else None
            for number in numbers
        }
        return self._drop(hits, self._region, wanting)

    def _drop(
        self,
        hits: Sequence[Hit],
        region: "_Region",
        wanting: Mapping[int, Sequence[Wanted] | None],
    ) -> list[Hit]:
        """Drop literals that nobody wants; the first of a line stays if another does.

        `wanting` gives who wants the lines of a literal; None if one of them asks about each.
        """
        found, place, count = list[Hit](), 0, len(hits)
        unions: dict[tuple[int, ...], frozenset[Wanted]] = {}
        while place < count:
            first, begin = hits[place], place
            line, end = region.find_line(first[1])
            while place < count and hits[place][1] <= end:
                place += 1
            numbers = tuple([number for number, _ in hits[begin:place]])
            union = unions.get(numbers)
            if union is None:
                every = (self._matcher.consumers[number] for number in numbers)
                union = unions[numbers] = frozenset(itertools.chain.from_iterable(every))
            held = region.find(line, end, union)
            kept = [
                hit
                for hit in hits[begin:place]
                if (wanted := wanting[hit[0]]) is None or not held.isdisjoint(wanted)
            ]
            if kept and kept[0] is not first:
                found.append(first)
            found += kept
        return found

    def _ask(self, consumer: Wanted) -> None:
        """Ask a rule together with others from now on, if it can be."""
        kind, index = consumer
        matcher = self._matcher
        if consumer == _FIGURES:
            self._asked[consumer] = 0
        if kind not in {"signature", "fact", "metric"}:
            return
        rule: Signature | Format
        if kind == "metric":
            rule = matcher.metrics[index].format
            if not matcher.metrics[index].is_of_one_line:
                return
        else:
            rule = matcher.signatures[index] if kind == "signature" else matcher.facts[index]
        lines = int(rule.raw.get("lines", 1))
        patterns = (rule.match, *(rule.raw.get("beside") or ()))
        self._fresh.append(_AskedRule(consumer, patterns, lines))

    def _compile(self, size: int) -> None:
        """Put the rules that were asked often lately into screens, for a region of some size."""
        if size < LEAST:
            return
        fresh, self._fresh = self._fresh, []
        self._asked.update((rule.wanted, rule.lines) for rule in fresh)
        for lines in {rule.lines for rule in fresh}:
            screens = self._screens.setdefault(lines, [])
            rules = [rule for rule in fresh if rule.lines == lines]
            if len(screens) == _MOST_SCREENS:
                rules = [*(rule for screen in screens for rule in screen.rules), *rules]
                screens.clear()
            screens.append(_RuleScreen(rules))


class _Region:
    """The lines of a region, and the rules that may hold on each."""

    def __init__(
        self,
        block: Block,
        sight: ViewContext,
        screens: Mapping[int, Sequence[_RuleScreen]],
        asked: Mapping[Wanted, int],
    ) -> None:
        """Take what asks the rules, and which are asked."""
        self.data = block.data
        self._has_labels = sight.srun
        self._asked, self._every = asked, frozenset(asked)
        self._of_one = screens.get(1, ())
        self._of_several = {lines: own for lines, own in screens.items() if lines > 1}
        self._asked_of_several = frozenset(one for one, lines in asked.items() if lines > 1)
        self._are_figures_asked = _FIGURES in asked
        self._cleaned: dict[int, Cleaned] = {}
        self._held: dict[int, frozenset[Wanted]] = {}
        """The rules that may hold, by line."""
        self._chunk, self._held_in_chunk = -1, _NONE
        """Where the lines end that were searched together last, and what may hold on them."""
        self._next = 0
        """Where the line begins behind those that were read last."""

    def find_line(self, start: int) -> tuple[int, int]:
        """Give where the line of a literal begins and ends."""
        begin = self.data.rfind(b"\n", 0, start) + 1
        return begin, self._find_end(start)

    def _find_end(self, begin: int) -> int:
        end = self.data.find(b"\n", begin)
        return len(self.data) if end < 0 else end

    def is_in_vain(self, consumer: Wanted, view: View) -> bool:
        """Say whether it is known that a rule does not hold on a line of this data."""
        held = self._held.get(view.start)
        return held is not None and consumer not in held and consumer in self._asked

    def find(self, begin: int, end: int, wanted: frozenset[Wanted]) -> frozenset[Wanted]:
        """Give the rules that may hold on a line, of those that are asked together and wanted."""
        cleaned = self._read(begin, end)
        text = cleaned.text
        is_cut = text.lstrip().startswith("raise ") and _REST.match(self.data, end) is not None
        if is_cut or end - begin > LONG:
            held = self._every
        else:
            held = _NONE
            for screen in self._of_one:
                if not wanted.isdisjoint(screen.wanted):
                    found = screen.find(text)
                    held = held | found if held else found
            if not wanted.isdisjoint(self._asked_of_several):
                held = held | self._find_of_several(begin, cleaned)
            if self._are_figures_asked and _FIGURES in wanted and self._has_figures(end, text):
                held = held | _FOR_FIGURES
        self._held[begin] = held
        return held

    def _find_of_several(self, begin: int, cleaned: Cleaned) -> frozenset[Wanted]:
        """Give the rules of several lines that may hold on one and those behind it."""
        if cleaned.where is not NOWHERE:  # lines of other processes stand between
            return self._asked_of_several
        if begin >= self._chunk:
            texts, held = list[str](), _NONE
            texts.extend(self._iter_texts(begin, _CHUNK))
            self._chunk = self._next
            texts.extend(self._iter_texts(self._next, max(self._of_several) - 1))
            whole = "\n".join(texts)
            for screens in self._of_several.values():
                held = held.union(*(screen.find(whole) for screen in screens))
            self._held_in_chunk = held
        return self._held_in_chunk

    def _read(self, begin: int, end: int) -> Cleaned:
        cleaned = self._cleaned.get(begin)
        if cleaned is None:
            raw = self.data[begin:end].decode("utf-8", "replace")
            cleaned = self._cleaned[begin] = clean(raw, srun=self._has_labels)
        return cleaned

    def _iter_texts(self, begin: int, count: int) -> Iterator[str]:
        """Yield the texts of so many lines, from one on."""
        self._next = begin
        while count and self._next < len(self.data):
            end = self._find_end(self._next)
            yield self._read(self._next, end).text
            self._next, count = end + 1, count - 1

    def _has_figures(self, end: int, text: str) -> bool:
        """Say whether a line may hold figures, or be the heading of some."""
        if may_be_record(text):
            return True
        row = tables.find_first_row(self._iter_texts(end + 1, TABLE_AHEAD - 1))
        return row is not None and tables.may_be_heading(text)
