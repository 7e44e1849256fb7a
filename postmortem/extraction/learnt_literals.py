"""Learn which names of one source repeat with a figure, though no rule knows them.

In: the blocks of a source. Out: `LearntLiterals`, which finds these names beside the literals of
the rules, so that their lines are read as metric lines may be. Not here: whether they are metric
lines (`formats.acceptance`).

Samples of a block are looked at, never all of it. A name is learnt if it repeats with decimals that
differ, if none of the rules' literals leads to its line, and if the reader of unknown layouts finds
a figure there.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.formats.blocks import parse_entry
from postmortem.extraction.formats.generic import parse_metric_line
from postmortem.extraction.literal_filters import Hit, Prefilter, build_prefilter
from postmortem.extraction.literals import Matcher
from postmortem.reading.block_reader import Block
from postmortem.reading.prefixes import clean

_ENTRY: Final = compile_lazily(
    rb"(?<![\w./@\x80-\xff-])([A-Za-z\x80-\xff][\w./@\x80-\xff-]{0,40}[\"')\]]{0,2}"
    rb"(?: {0,24}[:=|] {0,6}| is | ?-> ?|[ \t]{1,8}(?=[+-]?\d{1,9}\.\d)))"
    rb"([+-]?\d{1,9}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?)(?![\w:/-]|\.\d)"
)
_WINDOW: Final = 32 << 10
_WINDOWS: Final = 4
_FEWEST: Final = 4
"""Times that a name comes with a figure in the samples of a block."""
_MOST_NAMES: Final = 24
_MOST_TRIED: Final = 64
_LONGEST: Final = 1000
_BOX: Final = 4000


class LearntLiterals:
    """Finds the literals of the rules and the names that one source has taught."""

    def __init__(self, machine: Matcher) -> None:
        """Know none."""
        self._machine = machine
        self._names: list[bytes] = []
        self._tried = set[bytes]()
        self._texts: tuple[bytes, ...] = ()
        self._own: Prefilter | None = None
        """Finds them; None while none is known."""

    def hits(self, data: bytes, lo: int, hi: int) -> list[Hit]:
        """Find every literal that starts in data[lo:hi], in the order of their places."""
        found = self._machine.filter.hits(data, lo, hi)
        if self._own is None:
            return found
        own = [(self._machine.learnt, start) for _, start in self._own.hits(data, lo, hi)]
        return sorted([*found, *own], key=itemgetter(1)) if own else found

    def texts(self, number: int) -> bytes | tuple[bytes, ...]:
        """Give what a literal may stand for."""
        return self._texts if number == self._machine.learnt else self._machine.literals[number]

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
            if times >= _FEWEST and len(texts[name]) > 1 and has_decimals:
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
        if len(line) > _LONGEST:
            return False
        text = clean(line.decode("utf-8", "replace").strip("\r"), srun=False).text
        is_row = text.lstrip().startswith("|") and parse_entry(text) is not None
        unit = _get_box(data, start) if is_row else line
        if self._is_led_to(unit) or any(name in unit for name in self._names):
            return False
        return is_row or parse_metric_line(text) is not None

    def _is_led_to(self, line: bytes) -> bool:
        """Say whether a literal of the rules leads a reader of figures that takes it to a line."""
        machine = self._machine
        wanted = {
            consumer
            for number, _ in machine.filter.hits(line, 0, len(line))
            for consumer in machine.consumers[number]
        }
        text = line.decode("utf-8", "replace")
        return any(
            kind == "generic"
            or (kind == "metric" and machine.metrics[index].format.search(text) is not None)
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
