"""The shapes of lines that one source has taught.

In: lines that were read the slow way. Out: `LineShape`s, found by what their lines have in common.
Not here: what rules do on a line (`rule_trials`), taking the figures of a line
(`gathering.quick`), many lines at once (`row_cutter`).

Learning must be paid for, as that of templates is (`gathering.learnt_paths`): lines that are never
the same again cost no more than reading them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.formats.printed_numbers import MOST, numbers
from postmortem.formats.templates import LONGEST, Span, Template, prefix, skeleton
from postmortem.gathering.columnar.other_numbers import (
    OpenLine,
    but_for_first,
    captured,
    narrowed,
    of_few_digits,
    spelled_alike,
)
from postmortem.gathering.columnar.rule_trials import RuleTrials
from postmortem.gathering.columnar.rule_verdicts import NOTHING_KNOWN, RuleVerdict
from postmortem.gathering.learnt_paths import LearntPaths, Path, path_of
from postmortem.model.lines import NOWHERE
from postmortem.reading.prefixes import has_gaps
from postmortem.reading.windows import View, end_of_lines_behind

_END: Final = rb"(?=[\r\n])"
FIRST_TRY, NEXT_TRY = 12, 4
"""Appearances of a line that is like others at which its shape is looked for, and how many times
more at which it is looked for again."""
_MOST_SEEN: Final = 4096
_MOST_SHAPES: Final = 2048
_MOST_OF_ONE: Final = 8
"""Shapes of lines that have as much in common."""
CREDIT: Final = 1500.0
"""Lines that the rules may be asked about in advance."""
_PAID: Final = 1 / 16
"""What each line that is read slowly pays for learning, in such lines."""


def _nothing_known(_: int) -> int:
    """Know of no line."""
    return 0


class LineShape(NamedTuple):
    """A line with its numbers left open, and what follows from each such line."""

    line: bytes
    """The pattern of the line."""
    pattern: re.Pattern[bytes]
    """The same, with what stands behind a line."""
    path: Path
    """Who takes the figures and tells the process; nobody takes any if it has no reader."""
    teller: Path
    """The same for findings, whose process the prefix alone tells."""
    verdict: RuleVerdict
    taken: tuple[int, ...]
    """The groups that the path takes."""
    groups: tuple[int, ...]
    """By figure of the machine: the group of its number, -1 if it has none."""

    def known_at(
        self, data: bytes, begin: int, end: int, known_until: Callable[[int], int] = _nothing_known
    ) -> RuleVerdict:
        """Give what is known of the line from `begin` to `end`, and of what stands behind it.

        `known_until` gives the end of a line in which no match begins, by an offset in that line.
        """
        behind, teller = self.verdict.behind, self.teller
        if behind is None:
            return self.verdict
        is_alone = not teller.places and teller.template.where == NOWHERE
        stop = end_of_lines_behind(data, begin, end, behind.lines if is_alone else None)
        if has_gaps(data, end, stop):
            return behind.known
        for word in behind.words:
            at = data.find(word, end, stop)
            while at >= 0:
                if (until := known_until(at)) <= at:
                    return behind.known
                at = data.find(word, until, stop)
        return self.verdict


class LineShapes:
    """The shapes of one source."""

    def __init__(self, trials: RuleTrials, paths: LearntPaths, *, srun: bool) -> None:
        """Know none; figures are taken by `paths`."""
        self._trials, self._paths, self._srun = trials, paths, srun
        self._known: dict[bytes, list[LineShape]] = {}
        self._seen: dict[bytes, tuple[int, int]] = {}
        """How often a line came, by what it has in common with others, and when it is tried."""
        self._credit = CREDIT
        self._count = 0
        self.used: dict[int, tuple[LineShape, int]] = {}
        """By identity: shapes and how many lines of them were read since somebody last asked."""

    def find(self, data: bytes, begin: int, end: int) -> tuple[LineShape, "re.Match[bytes]"] | None:
        """Find the shape of the line from `begin` to `end`."""
        if not self._known:
            return None
        for shape in self._known.get(skeleton(data, begin, end), ()):
            match = shape.pattern.match(data, begin)
            if match is not None and match.end() == end:
                if shape.verdict.is_sure:
                    key = id(shape)
                    self.used[key] = (shape, self.used.get(key, (shape, 0))[1] + 1)
                return shape, match
        return None

    def forget(self, shape: LineShape) -> None:
        """Forget a shape that some line does not keep to."""
        for known in self._known.values():
            known[:] = [one for one in known if one is not shape]

    def is_so(self, shape: LineShape, raw: bytes) -> bool:
        """Say whether a line of a shape is what the shape says."""
        match = shape.pattern.match(raw + b"\n")
        if match is None:
            return False
        try:
            return self._trials.is_so(shape.verdict, shape.groups, raw, match.groups())
        except TimeoutError:
            return False

    def is_vain(self, shape: LineShape, number: int, raw: bytes) -> bool:
        """Say whether a literal that a shape does not account for tells nothing on a line of it."""
        return self._trials.is_vain(shape.verdict, number, raw)

    def learn(self, opening: int, data: bytes, begin: int, end: int) -> None:
        """Learn from a line that was read the slow way, by its first literal."""
        self._credit = min(CREDIT, self._credit + _PAID)
        if end - begin > LONGEST:
            return
        common = skeleton(data, begin, end)
        if any(shape.pattern.match(data, begin) for shape in self._known.get(common, ())):
            return  # its findings are not yet so many that they are only counted
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        count, tried = self._seen.get(common, (0, FIRST_TRY))
        is_due = count + 1 >= tried
        self._seen[common] = (count + 1, NEXT_TRY * tried if is_due else tried)
        if is_due and self._credit >= 0 and self._count < _MOST_SHAPES:
            asked = self._trials.asked
            try:
                shape = self._shape(opening, data, begin, end)
            except (TimeoutError, UnicodeDecodeError):
                shape = None
            self._credit -= self._trials.asked - asked
            if shape is not None:
                self._keep(common, shape)

    def _keep(self, common: bytes, shape: LineShape) -> None:
        """Keep a shape, before others of its skeleton."""
        self._seen.pop(common, None)
        known = self._known.setdefault(common, [])
        known.insert(0, shape)
        self._count += len(known) <= _MOST_OF_ONE
        del known[_MOST_OF_ONE:]

    def _shape(self, opening: int, data: bytes, begin: int, end: int) -> LineShape | None:
        found = self._paths.find(opening, data, begin, end) if self._paths.knows(opening) else None
        if found is None:
            return self._of_no_figures(data[begin:end])
        path, _ = found
        for is_plain in (False, True):
            line = narrowed(path.template, data[begin:end], is_plain=is_plain)
            shape = None if line is None else self._made(line, path, is_read=True)
            if shape is not None:
                return shape
        return None

    def _of_no_figures(self, raw: bytes) -> LineShape | None:
        """Make the shape of a line of which nobody takes a figure.

        If not all rules are known that want such lines, one of those that are.
        """
        line = _all_open(raw, srun=self._srun)
        if line is None or self._trials.verdict([(raw, ())], is_read=False) is NOTHING_KNOWN:
            return None
        literals, in_part = self._trials.literals(raw), None
        for one in _ever_narrower(line, self._but_for_what_matters):
            shape = self._made(one, _path_of_no_figures(one, srun=self._srun), is_read=False)
            if shape is None:
                continue
            if shape.verdict.is_sure and literals <= shape.verdict.literals:
                return shape
            in_part = in_part or shape._replace(verdict=shape.verdict._replace(is_sure=False))
        return in_part

    def _but_for_what_matters(self, line: OpenLine) -> OpenLine:
        """Close the numbers with which what rules do changes, but for those of few digits."""
        kept = []
        for span in line.spans:
            few = of_few_digits(span)
            for one in [span] if few == span else [span, few]:
                if not self._matters(line._replace(spans=(one,))):
                    kept.append(one)
                    break
        return line._replace(spans=tuple(kept))

    def _matters(self, line: OpenLine) -> bool:
        """Say whether what rules do changes with the only number that is open."""
        own = line.raw.encode()
        others = [(own, ()), *((raw, ()) for raw in line.changed(0))]
        verdict = self._trials.verdict(others, is_read=False)
        return not verdict.is_sure or not self._trials.literals(own) <= verdict.literals

    def _made(self, line: OpenLine, path: Path, *, is_read: bool) -> LineShape | None:
        """Make a shape if it is sure what the rules do; without figures, what some of them do."""
        verdict = self._trials.verdict(line.variants(), is_read=is_read)
        if not verdict.is_usable:
            return None
        wanted = {figure.span for figure in verdict.figures}
        spans = tuple(
            captured(span) if index in wanted else span for index, span in enumerate(line.spans)
        )
        numbers_ = _group_numbers(spans)
        own = [
            (number, span) for number, span in zip(numbers_, line.spans, strict=True) if span.name
        ]
        names = tuple(span.name if span.end <= line.length else "" for _, span in own)
        pattern = line._replace(spans=spans).pattern()
        return LineShape(
            pattern,
            re.compile(pattern + _END),
            path,
            path_of(path.template._replace(names=names), None),
            verdict,
            tuple(number for number, _ in own),
            tuple(numbers_[figure.span] if figure.span >= 0 else -1 for figure in verdict.figures),
        )


def _ever_narrower(line: OpenLine, narrowest: Callable[[OpenLine], OpenLine]) -> Iterator[OpenLine]:
    """Give a line with its numbers left open, in ever fewer spellings."""
    yield line
    alike = spelled_alike(line)
    yield alike
    yield narrowest(alike)


def _path_of_no_figures(line: OpenLine, *, srun: bool) -> Path:
    where = View(line.raw.encode(), 0, 0, srun=srun).cleaned.where
    names = tuple(span.name for span in line.spans if span.name)
    pattern = re.compile(line.pattern() + _END)
    return path_of(Template(pattern, names, where, line.raw, line.length, line.spans), None)


def _group_numbers(spans: Sequence[Span]) -> list[int]:
    """Give the index of each span's group; -1 where it has none."""
    found, count = [], 0
    for span in spans:
        has_group = re.compile(span.pattern).groups > 0
        found.append(count if has_group else -1)
        count += has_group
    return found


def _all_open(raw: bytes, *, srun: bool) -> OpenLine | None:
    """Leave all numbers of a line open that its prefix and its text hold."""
    text, shown = View(raw, 0, 0, srun=srun).cleaned.text, raw.decode()
    if not shown.endswith(text):
        return None
    shift = len(shown) - len(text)
    spans = [but_for_first(shown, span) for span in prefix(shown, shift, srun=srun)]
    for number in numbers(text):
        pattern = b"(?:" + number.pattern(is_plain=False) + b")"
        spans.append(Span(number.start + shift, number.end + shift, "", pattern))
    return OpenLine(shown, shift, tuple(spans)) if len(spans) <= MOST else None
