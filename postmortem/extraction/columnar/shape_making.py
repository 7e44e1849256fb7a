"""Make the shape of a line.

In: a line that was read the slow way. Out: its `LineShape`, or None if it has none. Not here: when
one is looked for, and the shapes that are known (`line_shapes`), what rules do on a line
(`rule_trials`).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.lines import NOWHERE
from postmortem.extraction.columnar.number_variants import (
    OpenLine,
    add_capture_group,
    exclude_first_sign,
    fill,
    open_template_numbers,
    restrict_digit_count,
    restrict_to_digits,
)
from postmortem.extraction.columnar.rule_trials import RuleTrials
from postmortem.extraction.columnar.rule_verdicts import NOTHING_KNOWN, RuleVerdict
from postmortem.extraction.formats.printed_numbers import MOST, find_numbers
from postmortem.extraction.formats.templates import (
    Span,
    Template,
    find_prefix_spans,
    locate_in_line,
)
from postmortem.extraction.learnt_paths import LearntPaths, TemplatePath, build_path
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
    path: TemplatePath
    """Who takes the figures and tells the process; nobody takes any if it has no reader."""
    reader: TemplatePath
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

    def __init__(self, trials: RuleTrials, paths: LearntPaths, *, srun: bool) -> None:
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
        self, line: OpenLine, path: TemplatePath, shape: LineShape, raw: bytes
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

    def _make_shape(self, line: OpenLine, path: TemplatePath, *, is_read: bool) -> LineShape | None:
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

    def _find_reader(self, line: OpenLine, path: TemplatePath) -> TemplatePath | None:
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


def _build_path_without_metrics(line: OpenLine, *, srun: bool) -> TemplatePath:
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
    return OpenLine(shown, line.start, spans) if len(spans) <= MOST else None
