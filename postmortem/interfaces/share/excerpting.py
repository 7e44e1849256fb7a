"""Make the shortest redacted excerpt with the same verdict, as the text of an issue.

In: the paths of a job that can be read again. Out: `Shared`, Markdown that analyses to the same
verdict. Not here: posting it.

Lines are added from the basis of the verdict outwards (evidence, the first failure, recognised
lines, curves, both ends), until the text has the same verdict as the whole log; then whatever can
be removed is removed again, except the lines at the first failure, its whole traceback and the last
lines, which people look for. Each text is analysed as its recipient would analyse it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from postmortem import pipeline
from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import InputError
from postmortem.core.passages import Passage, merge_passages
from postmortem.core.shown import Excerpt
from postmortem.interfaces.share.chained_tracebacks import extract_traceback
from postmortem.interfaces.share.passage_selection import (
    LEVELS,
    iter_passages,
    list_log_indexes,
    must_stay,
)
from postmortem.reading.excerpt import read_lines_in
from postmortem.reading.sources import Stream
from postmortem.report.sharing import IssueText

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
