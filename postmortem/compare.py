"""Two runs side by side.

What was set and installed otherwise, where their curves part, which lines only one of them prints.

In: the paths of a good and of a bad run. Out: `Comparison`. Not here: rendering it
(`report.side_by_side`), judging one run (`pipeline`).

Curves are compared at equal steps; runs differ by their seeds from the first step on, so they part
where their distance leaves what it was before and stays there. Lines are compared by their wording:
numbers, addresses and paths are taken out.
"""

import math
import re
import statistics
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Final

from postmortem import names
from postmortem.errors import InputError
from postmortem.model.comparison import Comparison, Differing, Parting, Wording
from postmortem.model.diagnosis import Analysis, Environment, SeriesView
from postmortem.model.said import Said
from postmortem.model.visible import ANSI
from postmortem.pipeline import analyze
from postmortem.reading.block_reader import blocks
from postmortem.reading.decode import Text
from postmortem.reading.opener import open_log
from postmortem.reading.prefixes import clean
from postmortem.reading.sources import STDIN

_LONGEST: Final = 400
_MOST_WORDINGS: Final = 200_000
_FEWEST: Final = 6
_TIMES: Final = 5.0
"""Times the usual distance of the curves before."""
_SHARE: Final = 0.15
"""Share of the value below which curves are taken to be together."""
_STAYS: Final = 3
_VARIABLE: Final = re.compile(
    r"0x[0-9a-fA-F]+|(?:/[\w.@%+=:-]+){2,}/?|\b[0-9a-f]{8,}\b|[-+]?\d[\d.,:/e+-]*"
)
_BAR: Final = re.compile(r"\d%\||it/s|s/it")
_SPACE: Final = re.compile(r"\s+")


def compare_runs(
    good: Sequence[str | Path],
    bad: Sequence[str | Path],
    *,
    good_env: Sequence[str | Path] = (),
    bad_env: Sequence[str | Path] = (),
    patterns: Sequence[str | Path] = (),
) -> Comparison[Said]:
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
    return compared(
        analyze(good, env_files=good_env, patterns=patterns),
        analyze(bad, env_files=bad_env, patterns=patterns),
    )


def compared(good: Analysis, bad: Analysis) -> Comparison[Said]:
    """Compare two analyses whose sources can be read again."""
    known, told = _wordings(good), _wordings(bad)
    return Comparison(
        good,
        bad,
        settings=tuple(_differing(_settings(good), _settings(bad))),
        environment=tuple(_differing(_facts(good.environment), _facts(bad.environment))),
        curves=tuple(_curves(good.series, bad.series)),
        only_good=_only(known, told),
        only_bad=_only(told, known),
    )


def _only(wordings: Mapping[str, Wording], others: Container[str]) -> tuple[Wording, ...]:
    """Give the wordings that the other run does not have, in the order of their first places."""
    own = (wording for key, wording in wordings.items() if key not in others)
    return tuple(sorted(own, key=lambda wording: (wording.source, wording.line)))


def _settings(analysis: Analysis) -> dict[str, str]:
    return {name: str(setting.value) for name, setting in analysis.settings.items()}


def _differing(good: Mapping[str, str], bad: Mapping[str, str]) -> Iterator[Differing]:
    """Yield what both tell otherwise, then what only one of them tells."""
    both = sorted(name for name in good.keys() & bad.keys() if good[name] != bad[name])
    yield from (Differing(name, good[name], bad[name]) for name in both)
    yield from (
        Differing(name, good.get(name), bad.get(name)) for name in sorted(good.keys() ^ bad.keys())
    )


def _facts(environment: Environment) -> dict[str, str]:
    found = {name: str(version) for name, version in environment.packages.items()}
    for field in fields(environment):
        value = getattr(environment, field.name)
        if field.name == "gpus" and value:
            found["gpus"] = ", ".join(f"{gpu.count} × {gpu.name}" for gpu in value)
        elif field.name != "packages" and value not in (None, ()):
            found[field.name] = str(value)
    return found


def _curves(good: Sequence[SeriesView], bad: Sequence[SeriesView]) -> Iterator[Parting]:
    """Yield the series that both have, the training loss first."""
    known, told = _longest(good), _longest(bad)
    order = (names.LOSS, names.EVAL_LOSS, names.GRAD_NORM, names.LEARNING_RATE)
    for name in sorted(
        known.keys() & told.keys(),
        key=lambda name: (order.index(name) if name in order else len(order), name),
    ):
        parting = parted(known[name], told[name])
        if parting is not None:
            yield parting


def _longest(series: Sequence[SeriesView]) -> dict[str, SeriesView]:
    """Give one series of each name: the longest, of the first process that has it."""
    found: dict[str, SeriesView] = {}
    for curve in series:
        if curve.name not in found or curve.points > found[curve.name].points:
            found[curve.name] = curve
    return found


def parted(good: SeriesView, bad: SeriesView) -> Parting | None:
    """Find where two series part.

    Their distance leaves what it was before and stays away, or one of them stops being finite.
    """
    mine, its = _by_step(good), _by_step(bad)
    steps = sorted(mine.keys() & its.keys())
    if not steps:
        return None
    begin = _beginning([(mine[step][0], its[step][0]) for step in steps])
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


def _beginning(pairs: Sequence[tuple[float, float]]) -> int | None:
    """Give the number of the first pair of values that are apart for good; None if none are."""
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


def _by_step(series: SeriesView) -> dict[float, tuple[float, int]]:
    """Give values and lines by step.

    Where no step is known, by number of the record, if every record is there.
    """
    if all(step is None for step, _, _ in series.samples) and series.points == len(series.samples):
        return {
            float(index): (value, line) for index, (_, value, line) in enumerate(series.samples, 1)
        }
    return {float(step): (value, line) for step, value, line in series.samples if step is not None}


def _wordings(analysis: Analysis) -> dict[str, Wording]:
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
            yield from (
                line.decode("utf-8", "replace").rstrip("\r").split("\r")[-1] for line in whole
            )
        if rest:
            yield rest.decode("utf-8", "replace").split("\r")[-1]
    finally:
        opened.close()
