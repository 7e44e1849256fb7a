"""Collect the distinct wordings that a run prints, without run-specific values and noise.

In: an `Analysis` whose sources can be read again. Out: `Wording`s with their first places. Not
here: what noise is (`extraction.line_noise`), which wordings another run prints too
(`compare.two_runs`).
"""

import math
from collections.abc import Iterator
from typing import Final

from postmortem.core.comparison import Wording
from postmortem.core.diagnosis import Analysis
from postmortem.core.visible import ANSI, get_last_draw
from postmortem.extraction.line_noise import (
    FoldedLines,
    is_surrounding,
    is_uninformative,
    normalize_line,
    strip_progress_bar,
)
from postmortem.reading.block_reader import iter_blocks
from postmortem.reading.decode import Text
from postmortem.reading.opener import open_log
from postmortem.reading.prefixes import clean

_LONGEST: Final = 400
_MOST_WORDINGS: Final = 200_000
_NO_LOGS: Final = frozenset({"ignored", "environment", "metrics"})


def collect_distinct_lines(analysis: Analysis) -> dict[str, Wording]:
    """Give every wording of the logs with its first place and how often it comes."""
    found: dict[str, Wording] = {}
    duplicates: set[str] = set()
    known = _KnownLines(analysis)
    for index, source in enumerate(analysis.sources):
        if source.kind in _NO_LOGS:
            continue
        for line, raw, text in _iter_message_lines(source.path):
            key = normalize_line(text)
            if not key or known.is_noise((index, line), raw, text, key):
                continue
            if (index, line) in known.elsewhere:
                duplicates.add(key)
            elif key in found:
                found[key] = found[key]._replace(times=found[key].times + 1)
            elif len(found) < _MOST_WORDINGS:
                found[key] = Wording(ANSI.sub("", text), source.path, line, 1)
    return {key: wording for key, wording in found.items() if key not in duplicates}


def _iter_message_lines(path: str) -> Iterator[tuple[int, str, str]]:
    """Yield number, raw text and text of the lines outside of tracebacks, bars apart."""
    folded = FoldedLines()
    for line, raw in enumerate(_read_lines(path), 1):
        cleaned = clean(raw[:_LONGEST].rstrip() + " ")
        text = strip_progress_bar(cleaned.text)
        text = text if text == cleaned.text else clean(text).text
        if text.strip() and not folded.takes(cleaned.where, text):
            yield line, raw, text.strip()


class _KnownLines:
    """Lines that the analysis has classified."""

    def __init__(self, analysis: Analysis) -> None:
        """Take the places of records, of settings, of what is harmless and of what is not."""
        records = {
            (curve.source, line) for curve in analysis.series for _, _, line in curve.samples
        }
        settings = {
            (setting.source, setting.line)
            for setting in analysis.settings.values()
            if setting.source is not None
        }
        self.elsewhere = records | settings
        """Lines that the comparison of curves and of settings tells of; of a long curve not every
        record is known, so that lines of their wordings are left out too."""
        self._first: dict[int, float] = {}
        for source, line in records:
            self._first[source] = min(line, self._first.get(source, math.inf))
        self._harmless, self._telling = set[tuple[int, int]](), set[tuple[int, int]]()
        for hit in analysis.signatures:
            places = {(hit.source, line) for line in range(hit.line, hit.end_line + 1)}
            if hit.role == "harmless":
                self._harmless |= places
            elif hit.role in {"cause", "warning"}:
                self._telling |= places

    def is_noise(self, place: tuple[int, int], raw: str, text: str, key: str) -> bool:
        """Say whether a line is noise; what a rule takes for a sign of trouble never is."""
        if place in self._telling:
            return False
        source, line = place
        return (
            place in self._harmless
            or is_uninformative(text, key)
            or is_surrounding(raw, text, is_before=line < self._first.get(source, math.inf))
        )


def _read_lines(path: str) -> Iterator[str]:
    opened = open_log(path)
    try:
        text = Text(opened)
        mark, rest = (b"\r" if text.breaks_by_return else b"\n"), b""
        for block in iter_blocks(text):
            *whole, rest = (rest + block.data[block.lo : block.hi]).split(mark)
            yield from (get_last_draw(line.decode("utf-8", "replace")) for line in whole)
        if rest:
            yield rest.decode("utf-8", "replace").split("\r")[-1]
    finally:
        opened.close()
