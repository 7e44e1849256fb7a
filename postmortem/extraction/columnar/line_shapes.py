"""The line shapes that were learnt from one source, and how one is made from a line.

In: lines that were read the slow way. Out: `LineShape`s, found by what their lines have in common;
of a line without a shape none. Not here: what rules do on a line (`trials`), taking the figures of
a line (`shaped_lines`), many lines at once (`row_cutter`).

Learning must be paid for, as that of templates is (`extraction.template_reader`): lines that are
never the same again cost no more than reading them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE
from postmortem.extraction.columnar.number_columns import (
    OpenLine,
    add_capture_group,
    exclude_first_sign,
    fill,
    open_template_numbers,
    restrict_digit_count,
    restrict_to_digits,
)
from postmortem.extraction.columnar.rule_verdicts import NOTHING_KNOWN, RuleVerdict
from postmortem.extraction.columnar.trials import RuleTrials
from postmortem.extraction.formats.templates import (
    LONGEST_LINE,
    MOST_NUMBERS,
    Span,
    Template,
    build_skeleton,
    find_numbers,
    find_prefix_spans,
    locate_in_line,
)
from postmortem.extraction.template_reader import LearntTemplates, TemplateUse, build_path
from postmortem.reading.prefixes import has_gaps
from postmortem.reading.windows import View, end_of_lines_behind

_END: Final = rb"(?=[\r\n])"


def _get_no_line(_: int) -> int:
    """Know of no line."""
    return 0


class LineShape(NamedTuple):
    """A line with its numbers left open, and what follows from each such line."""

    line: bytes
    """The pattern of the line."""
    pattern: re.Pattern[bytes]
    """The same, with what stands behind a line."""
    path: TemplateUse
    """Who takes the figures and tells the process; nobody takes any if it has no reader."""
    reader: TemplateUse
    """The same for findings, whose process the prefix alone tells."""
    verdict: RuleVerdict
    taken: tuple[int, ...]
    """The groups that the path takes."""
    groups: tuple[int, ...]
    """By figure of the machine: the group of its number, -1 if it has none."""

    def known_at(
        self, data: bytes, begin: int, end: int, known_until: Callable[[int], int] = _get_no_line
    ) -> RuleVerdict:
        """Give what is known of the line from `begin` to `end`, and of what stands behind it.

        `known_until` gives the end of a line in which no match begins, by an offset in that line.
        """
        behind, reader = self.verdict.behind, self.reader
        if behind is None:
            return self.verdict
        is_alone = not reader.places and reader.template.where == NOWHERE
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


class ShapeMaker:
    """Makes the shapes of one source."""

    def __init__(self, trials: RuleTrials, paths: LearntTemplates, *, srun: bool) -> None:
        """Take who asks the rules, and whose templates take figures."""
        self._trials, self._paths, self._srun = trials, paths, srun

    def shape(self, opening: int, data: bytes, begin: int, end: int) -> LineShape | None:
        """Make the shape of a line with this first literal; None if it has none.

        Raises:
            TimeoutError: a search took too long, or the budget is spent.
            UnicodeDecodeError: the line is no UTF-8.
        """
        found = self._paths.find(opening, data, begin, end) if self._paths.knows(opening) else None
        if found is None:
            return self._make_without_figures(data[begin:end])
        (path, _), raw = found, data[begin:end]
        for is_plain in (False, True):
            line = open_template_numbers(path.template, raw, is_plain=is_plain)
            shape = None if line is None else self._make_shape(line, path, is_read=True)
            if line is not None and shape is not None:
                return self._make_with_closed_numbers(line, path, shape, raw) or shape
        return None

    def _make_with_closed_numbers(
        self, line: OpenLine, path: TemplateUse, shape: LineShape, raw: bytes
    ) -> LineShape | None:
        """Close the numbers on which a literal of a line hangs, if its rules are known then.

        Such a number may be the same on every line, and its rules would be asked about each.
        """
        literals = self._trials.literals
        places = literals.find_unknown(shape.verdict.literals, line.raw.encode())
        if not places or not literals.find_unknown(shape.verdict.literals, raw):
            return None
        narrower = self._make_shape(line.closed(places), path, is_read=True)
        if narrower is None or not re.fullmatch(narrower.line, raw):
            return None  # the line that its template was learnt from has another figure there
        return None if literals.find_unknown(narrower.verdict.literals, raw) else narrower

    def _make_without_figures(self, raw: bytes) -> LineShape | None:
        """Make the shape of a line of which no figure is read.

        If not all rules are known that want such lines, one of those that are.
        """
        line = _open_all_numbers(raw, srun=self._srun)
        own = self._trials.verdict([(raw, ())], is_read=False) if line is not None else None
        if line is None or own is NOTHING_KNOWN:
            return None
        literals, in_part = self._trials.literals.of(raw), None
        for narrower in _iter_narrower_lines(line, self._close_significant_numbers):
            shape = self._make_shape(
                narrower, _build_path_without_metrics(narrower, srun=self._srun), is_read=False
            )
            if shape is None:
                continue
            if shape.verdict.is_sure and literals <= shape.verdict.literals:
                return shape
            in_part = in_part or shape._replace(verdict=shape.verdict._replace(is_sure=False))
        return in_part

    def _close_significant_numbers(self, line: OpenLine) -> OpenLine:
        """Close the numbers with which what rules do changes, but for those of few digits."""
        kept = []
        for span in line.spans:
            few = restrict_digit_count(span)
            for variant in [span] if few == span else [span, few]:
                if not self._is_significant(line._replace(spans=(variant,))):
                    kept.append(variant)
                    break
        return line._replace(spans=tuple(kept))

    def _is_significant(self, line: OpenLine) -> bool:
        """Say whether what rules do changes with the only number that is open."""
        own = line.raw.encode()
        others = [(own, ()), *((raw, ()) for raw in line.changed(0))]
        verdict = self._trials.verdict(others, is_read=False)
        return not verdict.is_sure or not self._trials.literals.of(own) <= verdict.literals

    def _make_shape(self, line: OpenLine, path: TemplateUse, *, is_read: bool) -> LineShape | None:
        """Make a shape if it is certain what the rules do on its lines."""
        verdict = self._trials.verdict(line.variants(), is_read=is_read)
        reader = self._find_reader(line, path)
        if not verdict.is_usable or (verdict.found and reader is None):
            return None
        wanted = {figure.span for figure in verdict.figures}
        spans = tuple(
            add_capture_group(span) if index in wanted else span
            for index, span in enumerate(line.spans)
        )
        numbers_ = _group_numbers(spans)
        own = [
            (number, span) for number, span in zip(numbers_, line.spans, strict=True) if span.name
        ]
        pattern = line._replace(spans=spans).pattern()
        return LineShape(
            pattern,
            re.compile(pattern + _END),
            path,
            reader or path,
            verdict,
            tuple(number for number, _ in own),
            tuple(numbers_[figure.span] if figure.span >= 0 else -1 for figure in verdict.figures),
        )

    def _find_reader(self, line: OpenLine, path: TemplateUse) -> TemplateUse | None:
        """Give the path that reads the process from the prefix alone, or None.

        So it is where the text of a line tells another process than its prefix.
        """
        own = [span for span in line.spans if span.name]
        prefix_spans = {
            span[:3]
            for span in find_prefix_spans(line.raw, line.length, srun=self._srun)
            if span.name
        }
        if not prefix_spans <= {span[:3] for span in own}:
            return None
        names = tuple(span.name if span[:3] in prefix_spans else "" for span in own)
        where = View(line.raw.encode(), 0, 0, srun=self._srun).cleaned.where
        return build_path(path.template._replace(names=names, where=where), None)


def _iter_narrower_lines(
    line: OpenLine, narrowest: Callable[[OpenLine], OpenLine]
) -> Iterator[OpenLine]:
    """Give a line with its numbers left open, in ever fewer spellings."""
    yield line
    alike = restrict_to_digits(line)
    yield alike
    yield narrowest(alike)


def _build_path_without_metrics(line: OpenLine, *, srun: bool) -> TemplateUse:
    where = View(line.raw.encode(), 0, 0, srun=srun).cleaned.where
    names = tuple(span.name for span in line.spans if span.name)
    pattern = re.compile(line.pattern() + _END)
    return build_path(Template(pattern, names, where, line.raw, line.length, line.spans), None)


def _group_numbers(spans: Sequence[Span]) -> list[int]:
    """Give the index of each span's group; -1 where it has none."""
    found, count = [], 0
    for span in spans:
        has_group = re.compile(span.pattern).groups > 0
        found.append(count if has_group else -1)
        count += has_group
    return found


def _open_all_numbers(raw: bytes, *, srun: bool) -> OpenLine | None:
    """Leave all numbers of a line open that its prefix and its text hold."""
    text, shown = View(raw, 0, 0, srun=srun).cleaned.text, raw.decode()
    line, graph = locate_in_line(shown, text), fill(text)
    if line is None:
        return None
    own = [] if graph is None else [graph]
    for number in find_numbers(text):
        if graph is None or number.end <= graph.start or graph.end <= number.start:
            pattern = b"(?:" + number.pattern(is_plain=False) + b")"
            own.append(Span(number.start, number.end, "", pattern))
    placed = line.spans(sorted(own))
    if placed is None:
        return None
    before = [
        exclude_first_sign(shown, span) for span in find_prefix_spans(shown, line.start, srun=srun)
    ]
    spans = (*before, *placed)
    return OpenLine(shown, line.start, spans) if len(spans) <= MOST_NUMBERS else None


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


class LineShapes:
    """The shapes of one source."""

    def __init__(self, trials: RuleTrials, paths: LearntTemplates, *, srun: bool) -> None:
        """Know none; figures are taken by `paths`."""
        self._trials, self._maker = trials, ShapeMaker(trials, paths, srun=srun)
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
        for shape in self._known.get(build_skeleton(data, begin, end), ()):
            match = shape.pattern.match(data, begin)
            if match is not None and match.end() == end:
                if shape.verdict.is_sure:
                    key = id(shape)
                    self.used[key] = (shape, self.used.get(key, (shape, 0))[1] + 1)
                return shape, match
        return None

    def clear(self) -> None:
        """Drop all shapes."""
        self._known.clear()
        self._seen.clear()
        self.used.clear()

    def forget(self, shape: LineShape) -> None:
        """Drop a shape to which some line did not keep."""
        for known in self._known.values():
            known[:] = [known_shape for known_shape in known if known_shape is not shape]

    def is_so(self, shape: LineShape, raw: bytes) -> bool:
        """Say whether a line keeps to what its shape states."""
        match = shape.pattern.match(raw + b"\n")
        if match is None:
            return False
        try:
            return self._trials.is_so(shape.verdict, shape.groups, raw, match.groups())
        except TimeoutError:
            return False

    def is_vain(self, shape: LineShape, number: int, raw: bytes) -> bool:
        """Say whether a literal that the shape does not account for has no effect on a line."""
        return self._trials.is_vain(shape.verdict, number, raw)

    def learn(self, opening: int, data: bytes, begin: int, end: int) -> None:
        """Learn from a line that was read the slow way, by its first literal."""
        self._credit = min(CREDIT, self._credit + _PAID)
        if end - begin > LONGEST_LINE:
            return
        common = build_skeleton(data, begin, end)
        if any(shape.pattern.match(data, begin) for shape in self._known.get(common, ())):
            return  # its findings are not yet so many that they are only counted
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        count, tried = self._seen.get(common, (0, FIRST_TRY))
        is_due = count + 1 >= tried
        self._seen[common] = (count + 1, NEXT_TRY * tried if is_due else tried)
        if is_due and self._credit >= 0 and self._count < _MOST_SHAPES:
            spent = self._trials.trial_count
            try:
                shape = self._maker.shape(opening, data, begin, end)
            except (TimeoutError, UnicodeDecodeError):
                shape = None
            self._credit -= self._trials.trial_count - spent
            if shape is not None:
                self._keep(common, shape)

    def _keep(self, common: bytes, shape: LineShape) -> None:
        """Keep a shape, before others of its skeleton."""
        self._seen.pop(common, None)
        known = self._known.setdefault(common, [])
        known.insert(0, shape)
        self._count += len(known) <= _MOST_OF_ONE
        del known[_MOST_OF_ONE:]
