"""Make the shortest redacted excerpt of a log with the same verdict, as the text of an issue.

In: the paths of a job that can be read again. Out: `Shared`, Markdown that analyses to the same
verdict. Not here: posting it.

Lines are added from the basis of the verdict outwards (evidence, the first failure, recognised
lines, curves, both ends), until the text has the same verdict as the whole log; then whatever can
be removed is removed again, except the lines at the first failure, its whole traceback with those
chained to it, and the last lines, which people look for. Each text is analysed as its recipient
would analyse it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from postmortem import pipeline
from postmortem.core.answer import Excerpt
from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import InputError
from postmortem.extraction.frames import is_library, match_frame
from postmortem.reading.excerpt import Passage, merge_passages, read_lines_in
from postmortem.reading.prefixes import clean
from postmortem.reading.sources import Stream
from postmortem.report.sharing import IssueText

_HEAD: Final = "Traceback (most recent call last)"
_CHAINED: Final = (
    "During handling of the above exception",
    "The above exception was the direct cause",
)
_BEFORE, _BEHIND = 3200, 200
"""Lines around the first failure in which its traceback is looked for: ranks print into each other,
and a recursion has a thousand frames of three lines."""
_NEAR: Final = 40
"""Lines from a failure that is no exception to the traceback that tells of it."""
_MOST: Final = 160
_FIRST, _LAST = 4, 80
"""Of a longer one so many lines of its beginning and its end are kept, and frames of own code."""
_OWN_FRAMES: Final = 24
_OF_A_FRAME: Final = 3


class _RankLine(NamedTuple):
    """A line of the process that failed."""

    number: int
    text: str


def extract_traceback(analysis: Analysis) -> list[Passage]:
    """Give the lines of the traceback at the first failure; none where there is no traceback."""
    first = analysis.first_failure
    if first is None:
        return []
    lines = _read_process_lines(analysis, first.source, first.line)
    groups = [group for group in _iter_traceback_chains(lines) if group]
    inside = [group for group in groups if group[0].number <= first.line <= group[-1].number]
    near = [group for group in groups if 0 < group[0].number - first.line <= _NEAR]
    chosen = next(iter(inside or near), ())
    return [Passage(first.source, line, line) for line in _truncate_traceback(chosen)]


def _read_process_lines(analysis: Analysis, source: int, line: int) -> list[_RankLine]:
    """Read the lines around a line that its process printed, without what stands before them."""
    window = (max(1, line - _BEFORE), line + _BEHIND)
    try:
        read = read_lines_in(analysis.sources[source].path, [window])
    except (InputError, OSError):
        return []
    cleaned = {number: clean(raw.text) for number, raw in read.items()}
    if line not in cleaned:
        return []
    where = cleaned[line].where
    return [
        _RankLine(number, value.text) for number, value in cleaned.items() if value.where == where
    ]


def _iter_traceback_chains(lines: Sequence[_RankLine]) -> Iterator[list[_RankLine]]:
    """Yield tracebacks up to their exception; those that are chained are one."""
    group: list[_RankLine] = []
    between: list[_RankLine] = []
    is_inside = False
    for line in lines:
        if _HEAD in line.text:
            group, between, is_inside = [*group, *between, line], [], True
        elif is_inside:
            group.append(line)
            is_inside = _is_inner(line.text)
        elif group and (not line.text.strip() or line.text.lstrip().startswith(_CHAINED)):
            between.append(line)
        elif group:
            yield group
            group, between = [], []
    yield group


def _is_inner(text: str) -> bool:
    """Say whether a line stands above the exception of its traceback."""
    return not text.strip() or text[0] in " \t│|╭╰" or match_frame(text) is not None


def _truncate_traceback(group: Sequence[_RankLine]) -> list[int]:
    """Keep of a very long traceback both ends and the frames of the user's own code."""
    if len(group) <= _MOST:
        return [line.number for line in group]
    own = [
        at
        for at, one in enumerate(group)
        if (frame := match_frame(one.text)) is not None and not is_library(frame["file"])
    ][:_OWN_FRAMES]
    kept = {*range(_FIRST), *range(len(group) - _LAST, len(group))}
    for at, after in pairwise([*own, len(group)]):
        kept.update(range(at, min(at + _OF_A_FRAME, after)))
    return [group[at].number for at in sorted(kept)]


_ENDS: Final = (0, 40, 150, 1500)
"""First and last lines of each log, by level."""
_WITH_FINDINGS, _WITH_CURVES = 1, 2
"""The levels from which a text holds what was recognised, and both ends of the curves."""
_LONG: Final = 120
"""Lines of a piece of evidence beyond which only its ends are given."""
_AT_AN_END: Final = 40
"""Points of a curve that count as its end."""
LEVELS: Final = len(_ENDS)


def list_log_indexes(analysis: Analysis) -> list[int]:
    """Give the indexes of the sources that are logs."""
    return [
        index
        for index, source in enumerate(analysis.sources)
        if source.kind not in {"ignored", "environment"}
    ]


def must_stay(analysis: Analysis) -> Iterator[Passage]:
    """Yield what people look for: the first failure, and the last lines of its source."""
    first = analysis.first_failure
    source = first.source if first is not None else next(iter(list_log_indexes(analysis)), 0)
    if first is not None:
        yield Passage(source, first.line - 6, first.line + 2)
    lines = analysis.sources[source].lines
    yield Passage(source, lines - 2, lines)


def iter_passages(analysis: Analysis, level: int) -> Iterator[Passage]:
    """Yield what a text of this level holds, from what the verdict rests on outwards."""
    yield from _iter_verdict_passages(analysis)
    if level >= _WITH_FINDINGS:
        yield from _iter_finding_passages(analysis)
    if level >= _WITH_CURVES:
        yield from _iter_curve_passages(analysis)
    yield from _iter_end_passages(analysis, _ENDS[level])


def _iter_verdict_passages(analysis: Analysis) -> Iterator[Passage]:
    for item in analysis.causes[0].evidence:
        if item.source is not None and item.line is not None:
            last = item.end_line or item.line
            if last - item.line <= _LONG:
                yield Passage(item.source, item.line - 1, last + 1)
            else:  # a traceback without end: the rest of it says the same again
                yield Passage(item.source, item.line - 1, item.line + _LONG // 2)
                yield Passage(item.source, last - _LONG // 2, last + 1)
    first = analysis.first_failure
    if first is not None:
        yield Passage(first.source, first.line - 25, first.line + 10)


def _iter_finding_passages(analysis: Analysis) -> Iterator[Passage]:
    for hit in analysis.signatures:
        yield Passage(hit.source, hit.line, hit.end_line)
    for setting in analysis.settings.values():
        if setting.source is not None and setting.line:
            yield Passage(setting.source, setting.line, setting.line)


def _iter_curve_passages(analysis: Analysis) -> Iterator[Passage]:
    for curve in analysis.series:
        for _, _, line in (*curve.samples[:_AT_AN_END], *curve.samples[-_AT_AN_END:]):
            yield Passage(curve.source, line, line)


def _iter_end_passages(analysis: Analysis, lines: int) -> Iterator[Passage]:
    """Yield so many first and last lines of each log."""
    for index in list_log_indexes(analysis):
        last = analysis.sources[index].lines
        if last and lines:
            yield Passage(index, 1, lines)
            yield Passage(index, last - lines + 1, last)


_UNSHOWN: Final = 6
"""Lines on either side of a passage that are read too: they tell what is a secret in it."""
_TRIES: Final = 10
"""Analyses after which what is left stays, needed or not."""
_Writer = Callable[[Mapping[int, Sequence[Excerpt]]], str]


@dataclass(frozen=True, slots=True)
class Shared:
    """A text to paste."""

    text: str
    lines: int
    """Log lines in it."""
    of: int
    """Log lines there were."""
    is_same: bool
    """Whether it is judged as the whole job was."""


def build_minimal_excerpt(
    paths: Sequence[str | Path],
    *,
    env: Sequence[str | Path] = (),
    patterns: Sequence[str | Path] = (),
    text: Callable[[Analysis], IssueText] = IssueText,
    prompt: bool = False,
    within: Sequence[Path] | None = None,
) -> Shared:
    """Write the smallest text that is judged as the job is.

    Args:
        paths: files or folders of one job; they are read several times, so standard input is none.
        env: environment dumps; they are not part of the text, what they say is written above it.
        patterns: further folders of rules.
        text: makes the writer of the text, of a language, which hides what the log gives away or
            does not.
        prompt: put the question for a language model above the lines.
        within: the only folders that links in a folder may lead to; None for no limit.

    Raises:
        InputError: nothing could be read, or a source cannot be read again.
    """
    if any(str(path) == "-" for path in paths):
        raise InputError(
            "standard input cannot be read a second time", "-", "write it to a file first"
        )
    analysis = pipeline.run_pipeline(paths, env_files=env, patterns=patterns, within=within)

    def judge(written: str) -> Analysis:
        issue = Stream("issue.md", written.encode("utf-8", "replace"))
        return pipeline.run_pipeline(issue, env_files=env, patterns=patterns)

    issue = text(analysis)
    maker = _Maker(analysis, issue.of, judge)
    passages, is_same = _select_passages(maker, analysis)
    return maker.make(passages, issue.asking if prompt else issue.of, is_same=is_same)


def _select_passages(maker: "_Maker", analysis: Analysis) -> tuple[list[Passage], bool]:
    """Choose the fewest passages, and say whether their text is judged as the whole is."""
    looked_for = list(must_stay(analysis))
    passages: list[Passage] = []
    for must in ([*looked_for, *extract_traceback(analysis)], looked_for):
        for level in range(LEVELS):
            passages = maker.join([*iter_passages(analysis, level), *must])
            if maker.is_same(passages):
                return maker.find_smallest(passages, must), True
    return passages, False


def _without_needless(
    kept: list[Passage], is_enough: Callable[[list[Passage]], bool]
) -> list[Passage]:
    """Leave out runs of passages, first all of them, then halves, down to each by itself."""
    size = len(kept)
    while size:
        for first in reversed(range(0, len(kept), size)):
            tried = kept[:first] + kept[first + size :]
            kept = tried if is_enough(tried) else kept
        size //= 2
    return kept


class _Maker:
    """Writes texts of passages and judges them."""

    def __init__(
        self,
        analysis: Analysis,
        write: _Writer,
        judge: Callable[[str], Analysis],
    ) -> None:
        self.analysis, self._write, self._judge = analysis, write, judge
        self._counts = {
            index: analysis.sources[index].lines for index in list_log_indexes(analysis)
        }
        self._lines: dict[tuple[int, int], str] = {}

    def join(self, passages: Iterable[Passage]) -> list[Passage]:
        """Bring passages into order, within the logs of the job."""
        return merge_passages(passages, self._counts)

    def is_same(self, passages: Sequence[Passage]) -> bool:
        """Say whether the text of these passages is judged as the whole is."""
        return self._judge(self.write(passages)).verdict.cause == self.analysis.verdict.cause

    def find_smallest(
        self, passages: Sequence[Passage], looked_for: list[Passage]
    ) -> list[Passage]:
        """Leave out what the verdict does not need: many passages at once, then fewer and fewer.

        What is left is halved. Each try is an analysis, so there are few.
        """
        must, tries = self.join(looked_for), 0
        kept = [piece for passage in passages for piece in passage.without(must)]

        def is_enough(tried: list[Passage]) -> bool:
            nonlocal tries
            tries += 1
            return tries <= _TRIES and self.is_same(self.join([*tried, *must]))

        kept = _without_needless(kept, is_enough)
        for passage in sorted(kept, key=lambda passage: -passage.lines):
            others = [other for other in kept if other != passage]
            halved = ([*others, half] for half in passage.halves())
            kept = next((tried for tried in halved if is_enough(tried)), kept)
        return self.join([*kept, *must])

    def make(self, passages: Sequence[Passage], write: _Writer, *, is_same: bool) -> Shared:
        """Give the text with its counts."""
        return Shared(
            write(self._bodies(passages)),
            sum(passage.lines for passage in passages),
            sum(self._counts.values()),
            is_same,
        )

    def write(self, passages: Sequence[Passage]) -> str:
        """Write verdict and passages."""
        return self._write(self._bodies(passages))

    def _bodies(self, passages: Sequence[Passage]) -> dict[int, list[Excerpt]]:
        """Give the excerpts of passages by their source."""
        by_source: dict[int, list[Passage]] = {}
        for passage in sorted(passages):
            by_source.setdefault(passage.source, []).append(passage)
        return {source: self._body(source, own) for source, own in by_source.items()}

    def _body(self, source: int, passages: Sequence[Passage]) -> list[Excerpt]:
        """Give the lines of passages of one source, with those around them."""
        self._read(source, passages)
        return [
            Excerpt(
                source,
                first,
                self._get_lines(source, first, last),
                before=self._get_lines(source, first - _UNSHOWN, first - 1),
                behind=self._get_lines(source, last + 1, last + _UNSHOWN),
            )
            for _, first, last in passages
        ]

    def _get_lines(self, source: int, first: int, last: int) -> tuple[str, ...]:
        """Give lines as far as there are any."""
        numbers = ((source, number) for number in range(first, last + 1))
        return tuple(self._lines[number] for number in numbers if number in self._lines)

    def _read(self, source: int, passages: Iterable[Passage]) -> None:
        """Read the lines that have not been read yet, and those around them."""
        wanted = merge_passages(
            (Passage(source, first - _UNSHOWN, last + _UNSHOWN) for _, first, last in passages),
            self._counts,
        )
        missing = [
            (first, last)
            for _, first, last in wanted
            if any((source, number) not in self._lines for number in range(first, last + 1))
        ]
        if missing:
            read = read_lines_in(self.analysis.sources[source].path, missing)
            self._lines.update({(source, number): line.text for number, line in read.items()})
