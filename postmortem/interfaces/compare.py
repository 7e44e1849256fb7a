"""Compare two runs: settings and versions, where curves diverge, lines that only one prints.

In: the paths of a good and of a bad run, which can be read again. Out: `Comparison`. Not here: what
noise in a line is (`extraction.line_noise`), rendering it (`report.side_by_side`).

Curves are compared at equal steps; runs differ by their seeds from the first step on, so they part
where their distance leaves what it was before and stays there; or they are far apart from the
start. Lines are compared by their wording, without run-specific values.
"""

import math
import statistics
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Final

from postmortem.core import names
from postmortem.core.answer import SeriesView
from postmortem.core.diagnosis import (
    Analysis,
    Comparison,
    Differing,
    PairOfSeries,
    Parting,
    Wording,
)
from postmortem.core.errors import InputError
from postmortem.core.findings import Environment
from postmortem.core.log_text import ANSI, get_last_draw
from postmortem.core.message import Message
from postmortem.extraction.line_noise import (
    FoldedLines,
    is_surrounding,
    is_uninformative,
    normalize_line,
    strip_progress_bar,
)
from postmortem.pipeline import run_pipeline
from postmortem.reading.decode import Text
from postmortem.reading.opener import open_log
from postmortem.reading.prefixes import clean
from postmortem.reading.sources import STDIN, iter_blocks

_FEWEST: Final = 6
_TIMES: Final = 5.0
"""Times the usual distance of the curves before."""
_SHARE: Final = 0.15
"""Share of the value below which curves are taken to be together."""
_STAYS: Final = 3
_FAR: Final = 0.5
"""Share of the value from which curves are apart at their very start."""


def iter_divergences(good: Sequence[SeriesView], bad: Sequence[SeriesView]) -> Iterator[Parting]:
    """Yield where the series that both have part, the training loss first."""
    for good_curve, bad_curve in match_series(good, bad):
        parting = (
            None
            if good_curve is None or bad_curve is None
            else find_divergence(good_curve, bad_curve)
        )
        if parting is not None:
            yield parting


def match_series(good: Sequence[SeriesView], bad: Sequence[SeriesView]) -> Iterator[PairOfSeries]:
    """Yield the series that both have, and the training loss if only one has it, this first."""
    of_good, of_bad = _select_longest_series(good), _select_longest_series(bad)
    shared = (of_good.keys() & of_bad.keys()) | ({names.LOSS} & (of_good.keys() | of_bad.keys()))
    order = (names.LOSS, names.EVAL_LOSS, names.GRAD_NORM, names.LEARNING_RATE)
    for name in sorted(
        shared, key=lambda name: (order.index(name) if name in order else len(order), name)
    ):
        yield PairOfSeries(of_good.get(name), of_bad.get(name))


def _select_longest_series(series: Sequence[SeriesView]) -> dict[str, SeriesView]:
    """Give one series of each name: the longest, of the first process that has it."""
    found: dict[str, SeriesView] = {}
    for curve in series:
        if curve.name not in found or curve.points > found[curve.name].points:
            found[curve.name] = curve
    return found


def find_divergence(good: SeriesView, bad: SeriesView) -> Parting | None:
    """Find where two series part.

    Their distance leaves what it was before and stays away, or one of them stops being finite.
    """
    mine, its = _collect_values_by_step(good), _collect_values_by_step(bad)
    steps = sorted(mine.keys() & its.keys())
    if not steps:
        return None
    begin = _find_first_divergent_pair([(mine[step][0], its[step][0]) for step in steps])
    step = steps[-1 if begin is None else begin]
    return Parting(
        good.name,
        len(steps),
        None if begin is None else step,
        mine[step][0],
        its[step][0],
        mine[step][1],
        its[step][1],
    )


def _find_first_divergent_pair(pairs: Sequence[tuple[float, float]]) -> int | None:
    """Give the number of the first pair of values that are apart for good; None if none are."""
    if len(pairs) >= _FEWEST and all(_is_far_apart(*pair) for pair in pairs[:_STAYS]):
        return 0
    distances: list[float] = []
    away = 0
    for number, (mine, its) in enumerate(pairs):
        if math.isfinite(mine) != math.isfinite(its):
            return number
        if not math.isfinite(mine):
            continue
        distance = abs(mine - its)
        usual = statistics.median(distances) if len(distances) >= _FEWEST else math.inf
        is_away = distance > _TIMES * usual and distance > _SHARE * max(abs(mine), abs(its))
        away = away + 1 if is_away else 0
        if away == _STAYS:
            return number - _STAYS + 1
        if not is_away:
            distances.append(distance)
    return None


def _is_far_apart(mine: float, its: float) -> bool:
    if not (math.isfinite(mine) and math.isfinite(its)):
        return math.isfinite(mine) != math.isfinite(its)
    return abs(mine - its) > _FAR * max(abs(mine), abs(its))


def _collect_values_by_step(series: SeriesView) -> dict[float, tuple[float, int]]:
    """Give values and lines by step.

    Where no step is known, by number of the record, if every record is there.
    """
    if all(step is None for step, _, _ in series.samples) and series.points == len(series.samples):
        return {
            float(index): (value, line) for index, (_, value, line) in enumerate(series.samples, 1)
        }
    return {float(step): (value, line) for step, value, line in series.samples if step is not None}


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


def compare_runs(
    good: Sequence[str | Path],
    bad: Sequence[str | Path],
    *,
    good_env: Sequence[str | Path] = (),
    bad_env: Sequence[str | Path] = (),
    patterns: Sequence[str | Path] = (),
) -> Comparison[Message]:
    """Compare a run that went well with one that did not.

    Args:
        good: files or folders of the one.
        bad: files or folders of the other.
        good_env: environment dumps of the one that are not in its log.
        bad_env: environment dumps of the other.
        patterns: further folders of rules.

    Raises:
        InputError: one of them cannot be read, or is standard input, which cannot be read twice.
    """
    if any(str(path) == STDIN for path in (*good, *bad)):
        raise InputError("standard input cannot be compared", STDIN, "write it to a file first")
    return compare_analyses(
        run_pipeline(good, env_files=good_env, patterns=patterns),
        run_pipeline(bad, env_files=bad_env, patterns=patterns),
    )


def compare_analyses(good: Analysis, bad: Analysis) -> Comparison[Message]:
    """Compare two analyses whose sources can be read again."""
    good_lines, bad_lines = collect_distinct_lines(good), collect_distinct_lines(bad)
    return Comparison(
        good,
        bad,
        settings=tuple(_iter_differences(_format_settings(good), _format_settings(bad))),
        environment=tuple(
            _iter_differences(
                _collect_environment(good.environment), _collect_environment(bad.environment)
            )
        ),
        curves=tuple(iter_divergences(good.series, bad.series)),
        only_good=_select_unique_lines(good_lines, bad_lines),
        only_bad=_select_unique_lines(bad_lines, good_lines),
        drawn=tuple(match_series(good.series, bad.series)),
    )


def _select_unique_lines(
    wordings: Mapping[str, Wording], others: Container[str]
) -> tuple[Wording, ...]:
    """Give the wordings that the other run does not have, in the order of their first places."""
    own = (wording for key, wording in wordings.items() if key not in others)
    return tuple(sorted(own, key=lambda wording: (wording.source, wording.line)))


def _format_settings(analysis: Analysis) -> dict[str, str]:
    return {name: str(setting.value) for name, setting in analysis.settings.items()}


def _iter_differences(good: Mapping[str, str], bad: Mapping[str, str]) -> Iterator[Differing]:
    """Yield values that differ, then values that only one run has."""
    both = sorted(name for name in good.keys() & bad.keys() if good[name] != bad[name])
    yield from (Differing(name, good[name], bad[name]) for name in both)
    yield from (
        Differing(name, good.get(name), bad.get(name)) for name in sorted(good.keys() ^ bad.keys())
    )


def _collect_environment(environment: Environment) -> dict[str, str]:
    found = {name: str(version) for name, version in environment.packages.items()}
    for field in fields(environment):
        value = getattr(environment, field.name)
        if field.name == "gpus" and value:
            found["gpus"] = ", ".join(f"{gpu.count} × {gpu.name}" for gpu in value)
        elif field.name != "packages" and value not in (None, ()):
            found[field.name] = str(value)
    return found
