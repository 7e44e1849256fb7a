"""What a run prints, by its wording: numbers, addresses and paths are taken out.

In: an `Analysis` whose sources can be read again. Out: `Wording`s with their first places. Not
here: which of them another run prints too (`compare.two_runs`).
"""

import re
from collections.abc import Iterator
from typing import Final

from postmortem.model.comparison import Wording
from postmortem.model.diagnosis import Analysis
from postmortem.model.visible import ANSI, last_draw
from postmortem.reading.block_reader import blocks
from postmortem.reading.decode import Text
from postmortem.reading.opener import open_log
from postmortem.reading.prefixes import clean

_LONGEST: Final = 400
_MOST_WORDINGS: Final = 200_000
_VARIABLE: Final = re.compile(
    r"0x[0-9a-fA-F]+|(?:/[\w.@%+=:-]+){2,}/?|\b[0-9a-f]{8,}\b|[-+]?\d[\d.,:/e+-]*"
)
_BAR: Final = re.compile(r"\d%\||it/s|s/it")
_SPACE: Final = re.compile(r"\s+")


def wordings_of(analysis: Analysis) -> dict[str, Wording]:
    """Give every wording of the logs with its first place and how often it comes."""
    found: dict[str, Wording] = {}
    for path, line, text in _told(analysis):
        key = _SPACE.sub(" ", _VARIABLE.sub("#", text))
        if key in found:
            found[key] = found[key]._replace(times=found[key].times + 1)
        elif len(found) < _MOST_WORDINGS and any(letter.isalpha() for letter in key):
            found[key] = Wording(ANSI.sub("", text), path, line, 1)
    return found


def _told(analysis: Analysis) -> Iterator[tuple[str, int, str]]:
    """Yield path, raw line and text of what the logs say; metric records and bars are left out."""
    metrics = {(curve.source, line) for curve in analysis.series for _, _, line in curve.samples}
    for index, source in enumerate(analysis.sources):
        if source.kind in {"ignored", "environment", "metrics"}:
            continue
        for line, raw in enumerate(_lines(source.path), 1):
            text = clean(raw[:_LONGEST]).text.strip() if raw.strip() else ""
            if text and (index, line) not in metrics and not _BAR.search(text):
                yield source.path, line, text


def _lines(path: str) -> Iterator[str]:
    opened = open_log(path)
    try:
        text = Text(opened)
        mark, rest = (b"\r" if text.breaks_by_return else b"\n"), b""
        for block in blocks(text):
            *whole, rest = (rest + block.data[block.lo : block.hi]).split(mark)
            yield from (last_draw(line.decode("utf-8", "replace")) for line in whole)
        if rest:
            yield rest.decode("utf-8", "replace").split("\r")[-1]
    finally:
        opened.close()
