"""Tell the figures of an evaluation from those of the training by the headings above them.

In: the series of a source and its lines that recur. Out: the same series, those of an evaluation
under names of their own. Not here: splits that the line of a figure names (`formats.losses`).

Many programs print both passes of an epoch alike, below `Training` and `Validation`. A heading is a
line that recurs, holds no figure and names one split, or an epoch, with which the training begins
again. It is believed where the sections alternate and no count runs on from one into the next.
"""

import bisect
import itertools
import math
import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.series import Series
from postmortem.extraction.formats.loss_owners import COMMON
from postmortem.extraction.formats.losses import find_label_split, has_split_name, is_of_training
from postmortem.extraction.formats.metric_names import name_of_split
from postmortem.extraction.recurring_lines import RecurringLine
from postmortem.reading.prefixes import clean

_LONGEST: Final = 100
"""Characters of a heading."""
_FEWEST: Final = 2
"""Sections of each kind."""
_RUNS_ON: Final = 0.1
"""Share of the evaluations at which a count may run on."""
_NEAR: Final = 4
"""Lines from a heading to the only figures below it."""
_EPOCH: Final = compile_lazily(r"\W{0,20}epoch\W{0,4}\d", re.IGNORECASE)
_NO_HEADING: Final = compile_lazily(
    r"\d\.\d|%\||\b(?:load|sav|best|improv|restor|read|writ|build|creat|prepar|download|number|num|size"
    r"|samples|images|examples|length|path|file|director|finish|done|complet|ended|took|time|class)"
    r"|[\w-]=|[/\\][A-Za-z]",
    re.IGNORECASE,
)
"""What else names a split: figures, settings, files, data, the end of a pass."""


class _Heading(NamedTuple):
    """A line below which the figures of one pass stand."""

    line: int
    split: str
    """Empty for the training."""
    is_named: bool
    """It names the training or the evaluation, not an epoch."""


def name_sections(extract: Extract) -> Extract:
    """Give the figures below the headings of evaluations the names of such."""
    for source, lines in extract.recurring.items():
        every = [curve for curve in extract.series.values() if curve.source == source]
        headings = _list_headings(lines, every) if every else []
        if sum(bool(heading.split) for heading in headings) >= _FEWEST:
            for curve in every:
                _name_evaluations(extract, curve, headings)
    return extract


def _list_headings(lines: Iterable[RecurringLine], every: Iterable[Series]) -> list[_Heading]:
    """List the headings of a source in order."""
    found = [
        heading
        for line in lines
        if not line.is_frequent and (heading := _parse_heading(line)) is not None
    ]
    if not any(heading.split for heading in found):
        return []
    taken = {line for curve in every if curve.name != names.EPOCH for line in curve.lines}
    return [heading for heading in found if heading.line not in taken]


def _parse_heading(line: RecurringLine) -> _Heading | None:
    """Read a line that may be a heading."""
    bare = line.text.rstrip(" .:")
    is_split = has_split_name(bare)
    if not (is_split or "poch" in line.text.lower()):
        return None
    text = clean(bare).text.strip()
    if len(text) > _LONGEST or _NO_HEADING.search(text):
        return None
    if not is_split:
        return _Heading(line.line, "", is_named=False) if _EPOCH.match(text) else None
    split = find_label_split(text, len(text))
    if bool(split) == is_of_training(text):
        return None  # of both
    return _Heading(line.line, split, is_named=True)


def _name_evaluations(extract: Extract, curve: Series, headings: Sequence[_Heading]) -> None:
    """Take the figures of evaluations out of a series, if the headings tell them apart."""
    if curve.name in COMMON or names.OF_SPLIT in curve.name or len(curve.lines) < curve.points:
        return
    places = [bisect.bisect_left(headings, (line,)) - 1 for line in curve.lines]
    splits = [headings[place].split if place >= 0 else "" for place in places]
    is_headed = all(splits) and _stand_below(curve, places, headings)
    if is_headed or (any(splits) and _alternate(curve, places, splits, headings)):
        _move(extract, curve, splits)


def _alternate(
    curve: Series, places: Sequence[int], splits: Sequence[str], headings: Sequence[_Heading]
) -> bool:
    """Say whether sections of both kinds alternate, and no count runs on into an evaluation."""
    starts = [0, *(at for at in range(1, len(splits)) if bool(splits[at]) != bool(splits[at - 1]))]
    begun = [at for at in starts if at and splits[at]]
    if len(begun) < _FEWEST or len(starts) - len(begun) < _FEWEST:
        return False
    rises = [curve.steps[at] - curve.steps[at - 1] for at in begun]
    if not all(map(math.isnan, rises)):
        return sum(rise > 0 for rise in rises) <= _RUNS_ON * len(rises)
    return _names_training(places, splits, headings)


def _names_training(
    places: Sequence[int], splits: Sequence[str], headings: Sequence[_Heading]
) -> bool:
    """Say whether each section of the training has a heading that names it, but the first."""
    trained = {place for place, split in zip(places, splits, strict=True) if not split} - {-1}
    return all(headings[place].is_named for place in trained)


def _stand_below(curve: Series, places: Sequence[int], headings: Sequence[_Heading]) -> bool:
    """Say whether each figure of a series is the only one right below a heading of its own."""
    return (
        len(places) >= _FEWEST
        and len(set(places)) == len(places)
        and all(
            line - headings[place].line <= _NEAR
            for line, place in zip(curve.lines, places, strict=True)
        )
    )


def _move(extract: Extract, curve: Series, splits: Sequence[str]) -> None:
    """Put the points of evaluations into a series of their own."""
    end = names.OF_BATCH if _has_neighbours(splits) else ""
    split = next(filter(None, splits))
    name = f"{name_of_split(curve.name.removeprefix(names.OF_EPOCH), split)}{end}"
    key = (curve.name, curve.producer, curve.source, curve.where)
    target = (name, *key[1:])
    if target in extract.series:
        return
    parts = {
        is_evaluation: Series(called, *key[1:], curve.unit)
        for is_evaluation, called in ((True, name), (False, curve.name))
    }
    for point, own in zip(curve.kept(), splits, strict=True):
        parts[bool(own)].append(*point)
    for part in parts.values():
        part.settle()
    del extract.series[key]
    if parts[False].points:
        extract.series[key] = parts[False]
    extract.series[target] = parts[True]


def _has_neighbours(splits: Sequence[str]) -> bool:
    """Say whether a section of an evaluation holds several figures."""
    return any(one and other for one, other in itertools.pairwise(splits))
