"""What lines above figures say of them: the pass that they belong to, and the step they print not.

In: the series of a source, its lines that recur, and its blocks. Out: the same series, those of an
evaluation under names of their own; steps of points that had none. Not here: splits and positions
on the line of a figure itself (`formats.losses`, `formats.figures`), those of bars
(`formats.bars`).

Many programs print both passes of an epoch alike, below `Training` and `Validation`. A heading is a
line that recurs, holds no figure and names one split, or an epoch, with which the training begins
again. It is believed where the sections alternate and no count runs on from one into the next.

`Iteration 200, Testing net` before the figures of a test says where they stand. A kind of such
lines is believed for a series if no two of its points follow the same one and the position grows
from point to point. Blocks are searched only where points have no step. An epoch stands for a step
where nothing else of the source has one. A loss scale without a step is an event between records,
and stays so.
"""

import bisect
import functools
import itertools
import math
import operator
import re
from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.findings import ProcessId
from postmortem.core.log_text import compile_lazily
from postmortem.core.names import EPOCH, LOSS_SCALE, PLAIN_LOOP
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.series import Series
from postmortem.extraction.formats.losses import (
    COMMON,
    find_label_split,
    has_split_name,
    is_of_training,
)
from postmortem.extraction.formats.record_parts import name_of_split
from postmortem.extraction.formats.tables import TABLE_PRODUCER
from postmortem.extraction.kept_lines import RecurringLine
from postmortem.extraction.scanning import Prefilter, build_prefilter
from postmortem.reading.prefixes import clean
from postmortem.reading.sources import Block

_LONGEST_HEADING: Final = 100
"""Characters of a heading."""
_FEWEST_SECTIONS: Final = 2
"""Sections of each kind."""
_RUNS_ON: Final = 0.1
"""Share of the evaluations at which a count may run on."""
_NEAR_HEADING: Final = 4
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
        if sum(bool(heading.split) for heading in headings) >= _FEWEST_SECTIONS:
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
    if len(text) > _LONGEST_HEADING or _NO_HEADING.search(text):
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
    if len(begun) < _FEWEST_SECTIONS or len(starts) - len(begun) < _FEWEST_SECTIONS:
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
        len(places) >= _FEWEST_SECTIONS
        and len(set(places)) == len(places)
        and all(
            line - headings[place].line <= _NEAR_HEADING
            for line, place in zip(curve.lines, places, strict=True)
        )
    )


def _move(extract: Extract, curve: Series, splits: Sequence[str]) -> None:
    """Put the points of evaluations into a series of their own."""
    end = names.OF_BATCH if any(one and other for one, other in itertools.pairwise(splits)) else ""
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


_POSITION_WORDS: Final = (
    *(b"Epoch", b"epoch", b"EPOCH", b"Iter", b"iter", b"ITER", b"Step", b"step", b"STEP"),
    *(b"Round", b"round", b"Episode", b"episode", b"timesteps", b"t_env"),
)
_HEADING: Final = compile_lazily(
    rb"(?:(?<![\w.-])|(?<=--)|(?<=global_)|(?<=total_)|(?<=env_))"
    rb"(?P<kind>[Ee]poch|EPOCH|[Ii]ter(?:ation)?|ITER(?:ATION)?|[Ss]tep|STEP|[Rr]ound|[Ee]pisode"
    rb"|timesteps|t_env)"
    rb"(?: num(?:ber)?)?[ \t]{0,3}[:=#\[(]{0,2}[ \t]{0,12}"
    rb"(?P<value>\d{1,10})(?:st|nd|rd|th)?(?![\d.]|\w)"
)
_BEFORE_POSITION: Final = 64
"""Bytes of a line before its position."""
_BEHIND_EPOCH: Final = compile_lazily(
    rb"[^\n\r]{0,32}?(?<![\w.-])(?:(?:global|total|env)_)?"
    rb"(?P<kind>[Ii]ter(?:ation)?|[Ss]tep|(?:num )?timesteps)"
    rb"[ \t]{0,3}[:=#\[(]{0,2}[ \t]{0,12}(?P<value>\d{1,10})[^\n\r\w]{0,8}(?=[\n\r])"
)
"""A finer position on the line of an epoch, and nothing behind: `Epoch: 2, global_step=102400`."""
_LOOPS: Final = frozenset({PLAIN_LOOP, TABLE_PRODUCER})
"""Producers whose records may tell where they stand by the epoch alone."""
_POSITION_KINDS: Final = (b"timesteps", b"iter", b"step", b"episode", b"round", b"epoch")
"""What is counted, the finest first."""
_FALLS: Final = 0.1
"""The share of points at which a position may begin anew."""


class _Positions(NamedTuple):
    """The lines of one kind in order, and the positions that they print."""

    lines: "array[int]"
    values: "array[float]"


class PositionLines:
    """Fills in the steps of one source."""

    def __init__(self, line_break: bytes) -> None:
        """Begin at the first line."""
        self._break = line_break
        self._done: dict[Hashable, int] = {}
        """How many points of each series have been looked at."""
        self._last: dict[bytes, tuple[int, float]] = {}
        """The last line of each kind in the blocks before."""

    def fill(
        self, every: Mapping[tuple[str, str, int, ProcessId], Series], block: Block, line: int
    ) -> None:
        """Fill in steps of the points of a block, which begins at a raw line."""
        bare, has_steps = list[tuple[Series, int]](), False
        for key, series in every.items():
            start = self._done.get(key, 0)
            self._done[key] = len(series.steps)
            if start >= len(series.steps) or key[0] == LOSS_SCALE:
                continue
            if all(map(math.isnan, series.steps[start:])):
                bare.append((series, start))
            else:
                has_steps |= key[0] != EPOCH
        if not bare:
            return
        positions = self._find(block, line)
        for series, start in bare:
            is_epoch_step = series.producer == PLAIN_LOOP and not has_steps
            for kind in _POSITION_KINDS[: None if is_epoch_step else -1]:
                steps = (
                    _look_up(positions[kind], series.lines[start:]) if kind in positions else None
                )
                if steps is not None:
                    series.steps[start:] = array("d", steps)
                    break

    def _find(self, block: Block, line: int) -> Mapping[bytes, _Positions]:
        """Find the lines with a position in a block."""
        found = {
            kind: _Positions(array("q", [number]), array("d", [value]))
            for kind, (number, value) in self._last.items()
        }
        place, data, begun = block.lo, block.data, -1
        for _, start in _find_words().hits(data, block.lo, block.hi):
            match = _HEADING.match(data, start, block.hi)
            if match is None:
                continue
            low = max(0, start - _BEFORE_POSITION - 1)
            begin = max(data.rfind(b"\n", low, start), data.rfind(b"\r", low, start)) + 1
            if begin <= begun or begin < block.lo or begin < low:
                continue
            line += data.count(self._break, place, start)
            place, begun = start, begin
            finer = _BEHIND_EPOCH.match(data, match.end(), block.hi)
            for position in (match, finer) if finer else (match,):
                kind = _get_kind(position["kind"].lower())
                lines, values = found.setdefault(kind, _Positions(array("q"), array("d")))
                lines.append(line)
                values.append(float(position["value"]))
        self._last.update((kind, (own.lines[-1], own.values[-1])) for kind, own in found.items())
        return found


@functools.lru_cache(maxsize=1)
def _find_words() -> Prefilter:
    return build_prefilter(_POSITION_WORDS)


def fill_from_records(every: Mapping[tuple[str, str, int, ProcessId], Series]) -> None:
    """Give series of a plain loop that have no steps those of its records on the lines above.

    A record of several lines prints its position on the first: each of its figures follows another
    position.
    """
    epochs = [series for series in every.values() if series.name == EPOCH]
    has_steps = {s.source for s in every.values() if s.name != EPOCH and not _has_no_step(s)}
    for group in _group_by_process(every.values()):
        if group[0].source not in has_steps:
            place_in_epochs(group, epochs)
            continue
        bare = _select_bare(group, [one for one in epochs if one.source == group[0].source])
        if 0 < len(bare) < len(group):
            _fill(bare, _collect_positions(group))


def _select_bare(group: Sequence[Series], epochs: Sequence[Series]) -> list[Series]:
    """Select the series without steps that stand on no line with an epoch."""
    placed = {line for series in epochs for line in series.lines}
    return [one for one in group if _has_no_step(one) and placed.isdisjoint(one.lines)]


def list_with_epochs(every: Sequence[Series]) -> list[Series]:
    """List series of a plain loop that have no step with the epochs that their records print."""
    epochs = [series for series in every if series.name == EPOCH]
    shown = [
        series.copy() if series.producer in _LOOPS and _has_no_step(series) else series
        for series in every
    ]
    bare = (own for own, series in zip(shown, every, strict=True) if own is not series)
    place_in_epochs((series for series in bare if series.name not in {EPOCH, LOSS_SCALE}), epochs)
    return shown


def place_in_epochs(bare: Iterable[Series], epochs: Iterable[Series]) -> None:
    """Give series without a step the epochs of their own records, where these tell them apart."""
    printed = {
        (curve.source, curve.where, curve.producer): dict(
            zip(curve.lines, curve.values, strict=True)
        )
        for curve in epochs
        if curve.producer in _LOOPS
    }
    for series in bare:
        known = printed.get((series.source, series.where, series.producer), {})
        if len(series.lines) < series.points or not all(map(known.__contains__, series.lines)):
            continue
        steps = [known[line] for line in series.lines]
        if all(before != after for before, after in itertools.pairwise(steps)):
            series.place(steps)


def _group_by_process(every: Iterable[Series]) -> Iterable[list[Series]]:
    """Put together the series of a plain loop, or of a table, that one process has printed."""
    groups: dict[Hashable, list[Series]] = {}
    for series in every:
        if series.producer in _LOOPS and series.name not in {LOSS_SCALE, EPOCH}:
            groups.setdefault((series.source, series.where, series.producer), []).append(series)
    return groups.values()


def _has_no_step(series: Series) -> bool:
    return all(map(math.isnan, series.steps))


def _collect_positions(group: Iterable[Series]) -> _Positions:
    """Collect the steps that the records of some series print, by their lines."""
    known = {
        line: step
        for series in group
        for line, step in zip(series.lines, series.steps, strict=True)
        if not math.isnan(step)
    }
    lines = sorted(known)
    return _Positions(array("q", lines), array("d", map(known.__getitem__, lines)))


def _fill(bare: Iterable[Series], positions: _Positions) -> None:
    """Give series the steps above their lines, where these tell them apart."""
    for series in bare:
        steps = _look_up(positions, series.lines)
        if steps is not None and len(steps) == series.points:
            series.place(steps)


@functools.lru_cache(maxsize=64)
def _get_kind(word: bytes) -> bytes:
    """Give what a word counts."""
    word = b"iter" if word.lower().startswith(b"iter") else word.lower()
    return next((kind for kind in _POSITION_KINDS if word.endswith(kind)), _POSITION_KINDS[0])


def _look_up(positions: _Positions, lines: Sequence[int]) -> list[float] | None:
    """Give the position above each of some lines; None if it does not tell them apart."""
    if not positions.lines or min(lines) < positions.lines[0]:
        return None
    above = functools.partial(bisect.bisect_right, positions.lines)
    known = positions.values
    steps = [known[place - 1] for place in map(above, lines)]
    behind = steps[1:]
    if any(map(operator.eq, behind, steps)):
        return None
    return None if sum(map(operator.lt, behind, steps)) > _FALLS * len(steps) else steps
