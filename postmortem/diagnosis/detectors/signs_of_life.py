"""Find the last sign of life of a run, apart from lines that a watcher goes on printing.

In: the ends of the sources, their last metric records, what was found in them. Out:
`ActiveSource`s: where a run prints, its last sign of life, where lines about its end begin;
`Heartbeats`: where a watcher's lines begin, how many there are, the time they span. Not here: for
how long a run has been silent, what follows for it (`detectors.standstill`), lines of metrics.

A watcher (a monitor, a keep-alive, a loop that waits) prints one line again and again, and nothing
in it goes forward but the time: clocks, ages and waits rise, loads and shares of a machine waver,
the words are the same. A line in which a step, an epoch or any other count of work goes forward
tells that the run does too.
"""

import dataclasses
import itertools
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.core.log_text import compile_lazily, get_last_draw
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.progress_lines import STEP
from postmortem.extraction.facts.clock import (
    Moment,
    compute_seconds_between,
    find_timestamp,
    iter_timed_lines,
)
from postmortem.reading.prefixes import clean, has_srun_labels
from postmortem.rules.vocabulary import Trait, has_trait

FEWEST: Final = 3
_MOST_TEMPLATES: Final = 8
"""Different lines that a watcher prints in turn."""
_MOST_TEXT: Final = 500
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_AGE: Final = compile_lazily(
    r"(?<![\w.:])(?P<number>\d{1,9}(?:\.\d{1,9})?)\s?(?P<unit>ms|s|secs?|seconds?|m|mins?|minutes?"
    r"|h|hrs?|hours?|days?|milliseconds?)\b(?!/)",
    re.IGNORECASE,
)
_SPAN: Final = compile_lazily(
    r"(?<![\d:])(?:(?P<h>\d{1,4}):)?(?P<m>[0-5]?\d):(?P<s>[0-5]\d)(?![\d:])"
)
_DATE: Final = compile_lazily(r"(?<!\d)(?:19|20)\d\d[-/]\d\d[-/]\d\d(?!\d)")
_WAVERS: Final = compile_lazily(
    r"(?<![\w.])[-+]?\d[\d.,]{0,12}\s?(?:%|(?:[kmgt]i?)?b\b|w\b|°?c\b|mhz\b|/\s?\d[\d.,]{0,12}\s?[kmgt]?i?b\b)",
    re.IGNORECASE,
)
_TURN: Final = compile_lazily(
    r"\b(?P<word>attempts?|tr(?:y|ies)|retr(?:y|ies)|checks?|polls?|probes?|(?:heart)?beats?"
    r"|pings?|ticks?|count(?:er)?|seq|no)\b[ =:#.]{0,3}\d{1,9}(?:/\d{1,9})?",
    re.IGNORECASE,
)
_NUMBER: Final = compile_lazily(r"(?<![A-Za-z_])[-+]?\d[\d.]*(?:e[-+]?\d+)?")
_WATCHES: Final = compile_lazily(
    r"\b(?:monitor|watch(?:er|dog)?|sentinel|keep-?alive|heart-?beat|alive|idle|wait(?:ing|s)?"
    r"|process(?:es)?|procs?|load|cpu|gpus?|util\w*|mem(?:ory)?|rss|pids?|threads?|running|health"
    r"|unchanged|no (?:new )?(?:output|progress|log|update)|last (?:output|line|log|update|write)"
    r"|stuck|stalled|pending|still|nvidia|mi?b|gi?b)\b",
    re.IGNORECASE,
)
_DONE: Final = compile_lazily(
    r"(?:\d{1,12} ?/ ?\d{1,12}|\b(?:global[_ ])?(?:step|iter(?:ation)?|batch|epoch|update|sample"
    r"|token|example|image|item|file|shard|record|row|layer|episode|frame)s?[\"']?\s?[:=#]?\s?"
    r"\d{1,12}|\d{1,12} (?:steps?|iter\w*|batch\w*|epochs?|samples?|tokens?|images?|files?))",
    re.IGNORECASE,
)


class Heartbeats(NamedTuple):
    """The lines of a watcher at the end of a source."""

    line: int
    """Raw line of the first one."""
    times: int
    first: str
    """What the first one tells of the time; empty where it prints none."""
    last: str
    span: float
    """Seconds from the first to the last one, as far as they tell; 0 where nothing does."""
    text: str
    """The last one."""
    aged: float
    """Seconds by which an age that they tell has risen."""


class _HeartbeatLine(NamedTuple):
    number: int
    text: str


def find_heartbeats(lines: Iterable[tuple[int, str]], *, srun: bool = False) -> Heartbeats | None:
    """Find the lines of a watcher that end a text; None where something else does.

    Args:
        lines: raw line numbers with their texts.
        srun: the file carries task numbers of `srun --label`.
    """
    own = [
        _HeartbeatLine(number, drawn[:_MOST_TEXT])
        for number, text in lines
        if (drawn := get_last_draw(text)).strip()
    ]
    run = _list_trailing_beats(own, srun=srun)
    if len(run) < FEWEST:
        return None
    times = [time for line in run if (time := find_timestamp(line.text)) is not None] or [""]
    first, last = times[0], times[-1]
    rounds = max(Counter(_mask_variable_parts(line.text, srun=srun) for line in run).values())
    by_clock = compute_seconds_between(first, last) if first and last else None
    span, text = max(by_clock or 0.0, _compute_age_increase(run)), run[-1].text.strip()
    return Heartbeats(run[0].number, rounds, first, last, span, text, _compute_age_increase(run))


def _list_trailing_beats(lines: Sequence[_HeartbeatLine], *, srun: bool) -> list[_HeartbeatLine]:
    """Give the last lines of a few kinds each of which comes again and again."""
    last: list[str] = []
    seen: Counter[str] = Counter()
    for line in reversed(lines):
        last.append(_mask_variable_parts(line.text, srun=srun))
        if last[-1] not in seen and len(seen) >= _MOST_TEMPLATES:
            break
        seen[last[-1]] += 1
    if max(seen.values(), default=0) < FEWEST:
        return []
    before = lines[: len(lines) - len(last)]
    kinds = [*(_mask_variable_parts(line.text, srun=srun) for line in before), *reversed(last)]
    groups: dict[str, list[_HeartbeatLine]] = {}
    for line, kind in zip(lines, kinds, strict=True):
        groups.setdefault(kind, []).append(line)
    resting = {
        kind for kind, count in seen.items() if count >= FEWEST and not _has_progress(groups[kind])
    }
    count = sum(1 for _ in itertools.takewhile(resting.__contains__, reversed(kinds)))
    run = lines[len(lines) - count :]
    return [*run] if any(_is_heartbeat(groups[kind]) for kind in resting) else []


def _mask_variable_parts(text: str, *, srun: bool) -> str:
    """Give a line without anything that a number may change in."""
    return _NUMBER.sub("#", _TURN.sub("#", _strip_times(text, srun=srun)))


def _strip_times(text: str, *, srun: bool) -> str:
    """Give a line without its clocks, ages and shares."""
    peeled = clean(text, srun=srun).text
    for pattern in (_DATE, _SPAN, _AGE, _WAVERS):
        peeled = pattern.sub("#", peeled)
    return " ".join(peeled.split())


def _has_progress(group: Sequence[_HeartbeatLine]) -> bool:
    """Say whether a count of work rises in lines of one kind."""
    texts = [_normalize_beat(line) for line in group]
    if len(set(texts)) == 1:
        return False
    work = {tuple(_DONE.findall(text)) for text in texts}
    return len(work) > 1 or _WATCHES.search(texts[0]) is None


def _is_heartbeat(group: Sequence[_HeartbeatLine]) -> bool:
    """Say whether lines of one kind show only that time passes or that something waits."""
    return (
        len({line.text for line in group}) > 1
        or _WATCHES.search(_normalize_beat(group[0])) is not None
    )


def _normalize_beat(line: _HeartbeatLine) -> str:
    return _TURN.sub("#", _strip_times(line.text, srun=False))


def _compute_age_increase(run: Sequence[_HeartbeatLine]) -> float:
    """Give the seconds by which an age rises over lines."""
    ages = [age for line in run if (age := _parse_longest_age(line.text)) is not None]
    return ages[-1] - ages[0] if ages and ages == sorted(ages) else 0.0


def _parse_longest_age(text: str) -> float | None:
    """Give the longest duration that a line prints."""
    found = [
        float(match["number"]) * _UNITS["ms" if unit.startswith(("ms", "mil")) else unit[0]]
        for match in _AGE.finditer(text)
        if (unit := match["unit"].lower())
    ]
    return max(found, default=None)


_FEWEST: Final = 5
_FEW_BEHIND: Final = 8
"""Lines without a clock behind the last one that has one: more of them may have taken long."""
_STEPS: Final = 3
_DRAWN: Final = compile_lazily(r"\b\d{1,9}/\d{1,9} \[[=>. -]{1,200}\].{0,200}?\b(?:loss|acc)")
"""A bar of Keras, which shows a loss beside it."""


class ActiveSource(NamedTuple):
    """A source in which the run itself prints."""

    source: int
    last: Moment | None
    """The last sign of life that tells a time."""
    usual: float
    """Seconds between two of its lines; NaN where that is not known."""
    beats: Heartbeats | None


def list_active_sources(job: Observed) -> list[int]:
    """List the sources in which the run itself prints: those with records, else all logs."""
    every = list(job.processes)
    here = [source for source in every if source not in job.snapshots] or every
    return [source for source in here if source in job.last_records] or here


def find_last_activity(observed: Observed, source: int) -> ActiveSource:
    """Find the last sign of life of a source, and the watchers that went on after it."""
    tail, record = observed.tails[source], observed.last_records.get(source, 0)
    lines = list_lines_before(end_of(observed, source), tail)
    srun = has_srun_labels(tail[1])
    watch = find_heartbeats([line for line in lines if line[0] > record], srun=srun)
    if watch is not None:
        lines = [line for line in lines if line[0] < watch.line]
    last_line = lines[-1][0] if lines else 0
    moments = [moment for moment, _ in iter_timed_lines(tail) if moment.line <= last_line]
    last = moments[-1] if moments else None
    if last is not None and not _is_the_end(last, record, lines):
        last = None
    return ActiveSource(source, last, _compute_usual_interval(moments), watch)


def list_lines_before(end: float, tail: tuple[int, str]) -> list[tuple[int, str]]:
    """List the non-empty lines before the one that reports the end."""
    first, text = tail
    return [
        (number, line)
        for number, line in enumerate(text.split("\n"), first)
        if number < end and line.strip()
    ]


def _is_the_end(last: Moment, record: int, lines: Iterable[tuple[int, str]]) -> bool:
    """Say whether hardly anything, and no record, was printed behind the last known time."""
    behind = sum(number > last.line for number, _ in lines)
    return last.line >= record and behind <= _FEW_BEHIND


def add_end_lines(job: Observed) -> Observed:
    """Add for each source the line after its last record that first reports its end."""
    ends: dict[int, float] = {}
    for finding, _ in job.findings:
        source = finding.source
        if (
            job.last_records.get(source, 0) < finding.line < ends.get(source, math.inf)
            and finding.role in {"cause", "consequence"}
            and has_trait(finding.signature, Trait.END_OF_A_SILENT_RUN)
        ):
            ends[source] = finding.line
    return dataclasses.replace(job, ended=ends)


def end_of(observed: Observed, source: int) -> float:
    """Give the line from which a source reports its end; infinity if there is none."""
    return observed.ended.get(source, math.inf)


def _compute_usual_interval(moments: Sequence[Moment]) -> float:
    """Give the seconds between two lines: the median or the mean, whichever is longer."""
    spans = [
        span
        for previous, current in itertools.pairwise(moments)
        if previous.basis() == current.basis()
        and (span := compute_seconds_between(previous.time, current.time)) is not None
    ]
    if len(spans) < _FEWEST - 1:
        return math.nan
    return max(statistics.median(spans), statistics.fmean(spans))


def has_own_failure(job: Observed) -> bool:
    """Say whether a process reports its own failure after the last record."""
    return any(
        finding.role == "cause"
        and finding.source not in job.snapshots
        and finding.line > job.last_records.get(finding.source, 0)
        and not has_trait(finding.signature, Trait.NO_SIGN_OF_LIFE)
        for finding, _ in job.findings
    )


def has_several_steps(text: str) -> bool:
    """Say whether lines name several steps: training goes on, in a form that is not known."""
    steps = {match["step"] for match in STEP.finditer(text)}
    return max(len(steps), len(set(_DRAWN.findall(text)))) >= _STEPS
