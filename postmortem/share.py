"""The smallest part of a log that still tells the same.

Redacted, with the verdict, as the text of an issue.

In: the paths of a job that can be read again. Out: `Shared`, Markdown that analyses to the same
verdict. Not here: posting it.

Lines are taken from what the verdict rests on outwards (evidence, the first failure, what was
recognised, curves, both ends), until the text itself is judged as the whole log was; then whatever
can be left out again is left out, but for the lines at the first failure and the last ones, which
people look for. Nothing is believed: each text is analysed as whoever receives it would.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from postmortem import pipeline
from postmortem.errors import InputError
from postmortem.model.diagnosis import Analysis
from postmortem.reading.excerpt import lines_in
from postmortem.reading.sources import Stream
from postmortem.report.sharing import IssueText

Window = tuple[int, int, int]
"""Source, first and last raw line."""
GAP: Final = "[...]"
_TRIES: Final = 60
_ENDS: Final = (0, 40, 150, 1500)


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


def share(
    paths: Sequence[str | Path],
    *,
    env: Sequence[str | Path] = (),
    patterns: Sequence[str | Path] = (),
    text: Callable[[Analysis], IssueText] = IssueText,
) -> Shared:
    """Write the smallest text that is judged as the job is.

    Args:
        paths: files or folders of one job; they are read several times, so standard input is none.
        env: environment dumps; they are not part of the text, what they say is written above it.
        patterns: further folders of rules.
        text: makes the writer of the text, of a language, which hides what the log gives away or
            does not.

    Raises:
        InputError: nothing could be read, or a source cannot be read again.
    """
    if any(str(path) == "-" for path in paths):
        raise InputError(
            "standard input cannot be read a second time", "-", "write it to a file first"
        )
    analysis = pipeline.analyze(paths, env_files=env, patterns=patterns)

    def judge(written: str) -> Analysis:
        issue = Stream("issue.md", written.encode("utf-8", "replace"))
        return pipeline.analyze(issue, env_files=env, patterns=patterns)

    maker = _Maker(analysis, text(analysis).of, judge)
    windows: list[Window] = []
    for level in range(len(_ENDS)):
        windows = merged(_windows(analysis, level), analysis)
        if maker.is_same(windows):
            break
    else:
        return maker.made(windows, is_same=False)
    return maker.made(maker.smallest(windows), is_same=True)


class _Maker:
    """Writes texts of windows and judges them."""

    def __init__(
        self,
        analysis: Analysis,
        write: Callable[[Mapping[int, Sequence[str]]], str],
        judge: Callable[[str], Analysis],
    ) -> None:
        self.analysis, self._write, self._judge = analysis, write, judge
        self._lines: dict[tuple[int, int], str] = {}

    def is_same(self, windows: Sequence[Window]) -> bool:
        """Say whether the text of these windows is judged as the whole is."""
        return self._judge(self.text(windows)).verdict.cause == self.analysis.verdict.cause

    def smallest(self, windows: Sequence[Window]) -> list[Window]:
        """Leave out windows, then halves of what is left, as long as the verdict stays."""
        must = merged(_must(self.analysis), self.analysis)
        kept, tries = [piece for window in windows for piece in _without(window, must)], 0
        for halves in (False, True):
            for window in sorted(kept, key=lambda one: one[1] - one[2]):
                for smaller in _less(window, halves=halves):
                    tries += 1
                    tried = [one for one in kept if one != window] + smaller
                    if tries <= _TRIES and self.is_same(
                        merged(iter([*tried, *must]), self.analysis)
                    ):
                        kept = tried
                        break
        return merged(iter([*kept, *must]), self.analysis)

    def made(self, windows: Sequence[Window], *, is_same: bool) -> Shared:
        """Give the text with its counts."""
        return Shared(
            self.text(windows),
            sum(last - first + 1 for _, first, last in windows),
            sum(_logs(self.analysis).values()),
            is_same,
        )

    def text(self, windows: Sequence[Window]) -> str:
        """Write verdict and windows."""
        sources = sorted({source for source, _, _ in windows})
        return self._write(
            {
                source: self._body([one for one in sorted(windows) if one[0] == source])
                for source in sources
            }
        )

    def _body(self, windows: Sequence[Window]) -> list[str]:
        body: list[str] = []
        missing = [
            (first, last)
            for source, first, last in windows
            if any((source, number) not in self._lines for number in range(first, last + 1))
        ]
        if missing:
            source = windows[0][0]
            self._lines.update(
                {
                    (source, number): line.text
                    for number, line in lines_in(
                        self.analysis.sources[source].path, missing
                    ).items()
                }
            )
        for source, first, last in windows:
            if body or first > 1:
                body.append(GAP)
            body += [
                self._lines[source, number]
                for number in range(first, last + 1)
                if (source, number) in self._lines
            ]
        return body


def _must(analysis: Analysis) -> Iterator[Window]:
    """Yield what people look for: the lines at the first failure, and the last ones of its source."""
    first = analysis.first_failure
    source = (
        first.source
        if first is not None
        else next(
            (
                index
                for index, one in enumerate(analysis.sources)
                if one.kind not in {"ignored", "environment"}
            ),
            0,
        )
    )
    if first is not None:
        yield source, first.line - 6, first.line + 2
    yield source, analysis.sources[source].lines - 2, analysis.sources[source].lines


def _without(window: Window, must: Sequence[Window]) -> list[Window]:
    """Cut out of a window what must stay anyway."""
    source, first, last = window
    for other, begin, end in must:
        if other == source and begin <= last and end >= first:
            pieces = [(source, first, begin - 1), (source, end + 1, last)]
            return [
                part for piece in pieces if piece[1] <= piece[2] for part in _without(piece, must)
            ]
    return [window]


def _windows(analysis: Analysis, level: int) -> Iterator[Window]:
    """Yield what a text of this level holds, from what the verdict rests on outwards."""
    for item in analysis.causes[0].evidence:
        if item.source is not None and item.line is not None:
            yield item.source, item.line - 1, (item.end_line or item.line) + 1
    first = analysis.first_failure
    if first is not None:
        yield first.source, first.line - 25, first.line + 10
    if level >= 1:
        yield from ((hit.source, hit.line, hit.end_line) for hit in analysis.signatures)
        yield from (
            (one.source, one.line, one.line)
            for one in analysis.settings.values()
            if one.source is not None and one.line
        )
    if level >= 2:
        yield from (
            (one.source, line, line)
            for one in analysis.series
            for _, _, line in (*one.samples[:40], *one.samples[-40:])
        )
    for index, source in enumerate(analysis.sources):
        if source.kind not in {"ignored", "environment"} and source.lines and _ENDS[level]:
            yield index, 1, _ENDS[level]
            yield index, source.lines - _ENDS[level] + 1, source.lines


def _logs(analysis: Analysis) -> Mapping[int, int]:
    """Count the lines of each source that is a log."""
    return {
        index: source.lines
        for index, source in enumerate(analysis.sources)
        if source.kind not in {"ignored", "environment"}
    }


def merged(windows: Iterator[Window], analysis: Analysis) -> list[Window]:
    """Bring windows into order, within their sources, without overlaps."""
    found: list[Window] = []
    counts = _logs(analysis)
    for source, first, last in sorted(window for window in windows if window[0] in counts):
        begin, end = max(1, first), min(last, counts[source])
        if begin > end:
            continue
        if found and found[-1][0] == source and begin <= found[-1][2] + 2:
            found[-1] = (source, found[-1][1], max(found[-1][2], end))
        else:
            found.append((source, begin, end))
    return found


def _less(window: Window, *, halves: bool) -> Iterator[list[Window]]:
    """Yield less than a window: nothing, or one of its halves."""
    if not halves:
        yield []
        return
    source, first, last = window
    middle = (first + last) // 2
    if last - first >= 7:
        yield [(source, middle + 1, last)]
        yield [(source, first, middle)]
