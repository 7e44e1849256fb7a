"""Detect by its lines whether a run goes on: they count up, a bar or a step stays, none comes.

In: both ends of the sources as text, the line of the last metric record. Out: the anomalies
`lines-count` (a run that goes on in a layout that no reader knows), `same-step` (a progress bar
whose own clock runs on, or lines that name the same step again and again), `silence` (no line for
long, by the printed clock). Not here: records (`formats`), output that simply ends (nothing shows
how long it has been still), time-outs of collectives, other clocks than the log's own
(`detectors.standstill`).

Whoever trains prints how far it has come. Lines that are the same but for their numbers, of which
one only rises, say so in any layout. A bar tells the time that has passed since its start. One that
is refreshed by a thread or by whoever sets its figures shows by itself for how long no step was
done.
"""

import itertools
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.log_text import compile_lazily, get_last_draw
from postmortem.core.message import Message, cut, quote, say
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.extraction.facts.clock import parse_time
from postmortem.reading.prefixes import convert_to_seconds

_FEWEST_COUNTING: Final = 3
_MANY, _MANY_FIGURES = 8, 4
"""Lines, and figures on each, that count without a word of the work."""
_MOST_TEXT: Final = 160
_LONGEST: Final = 1000
_NUMBER: Final = compile_lazily(r"\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3}(?!\w))?")
_OF_WORK: Final = compile_lazily(
    r"\b(?:epochs?|steps?|iter(?:ation)?s?|batch(?:es)?|episodes?|rounds?|updates?|loss|acc\w*"
    r"|speed|samples?|images?|rewards?|wer|elapsed|eta|evaluati\w+|train\w*)\b|it/s|s/it|\d ?%",
    re.IGNORECASE,
)
_NO_RUN: Final = compile_lazily(
    r"^\s*(?:File \"|#\d|at |\d+ [│|]|from |\[?NCCL)|NCCL (?:INFO|WARN)|download|\bB/s|line \d"
    r"|MiB, "
    r"|^\s*\d+:\s*0x",
    re.IGNORECASE,
)


def detect_counting_lines(observed: Observed) -> Iterable[Anomaly]:
    """Find lines of one kind that count up in a source without records."""
    if any(observed.records.values()):
        return []
    for source in observed.processes:
        if source in observed.snapshots:
            continue
        for lines in _group_similar_lines(observed.kept_lines(source)):
            if _has_rising_number(lines):
                number, text = lines[-1]
                message = quote(cut(text.strip(), _MOST_TEXT))
                return [Anomaly("lines-count", message, source, NOWHERE, number)]
    return []


def iter_counted_columns(
    job: Observed,
) -> Iterator[tuple[int, ProcessId, Sequence[int], Sequence[float]]]:
    """Yield the figures beside the count of such lines: source, process, lines, a column.

    What only rises, or never falls by its step, is a count or a clock.
    """
    if any(job.records.values()):
        return
    for source, where in job.processes.items():
        if source in job.snapshots:
            continue
        for lines in _group_similar_lines(job.kept_lines(source)):
            numbers = [number for number, _ in lines]
            yield from ((source, where, numbers, column) for column in _iter_value_columns(lines))


def _iter_value_columns(lines: Sequence[tuple[int, str]]) -> Iterator[Sequence[float]]:
    """Yield the columns of lines that count up, but those that only rise by whole numbers."""
    rows = [[float(number) for number in _NUMBER.findall(text)] for _, text in lines]
    if len({len(row) for row in rows}) == 1 and _has_rising_number(lines):
        for column in zip(*rows, strict=True):
            if list(column) != sorted(column) or not column[-1].is_integer():
                yield column


def _group_similar_lines(lines: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Put together the lines that differ in their numbers alone."""
    kinds: dict[str, list[tuple[int, str]]] = {}
    for number, line in lines:
        text = get_last_draw(line)
        if len(text) <= _LONGEST and not _NO_RUN.search(text):
            kind = re.sub(r"[\s█▏▎▍▌▋▊▉#=>.|-]+", " ", _NUMBER.sub("0", text))
            kinds.setdefault(kind, []).append((number, text))
    for members in kinds.values():
        text = members[-1][1]
        is_of_work = _OF_WORK.search(text) is not None
        if len(members) >= _FEWEST_COUNTING if is_of_work else _is_row_of_figures(members):
            yield members


def _is_row_of_figures(lines: Sequence[tuple[int, str]]) -> bool:
    """Say whether many lines of names and figures count from one to the next, in whatever words."""
    counts = [[float(number) for number in _NUMBER.findall(text)] for _, text in lines]
    return (
        len(lines) >= _MANY
        and min(map(len, counts)) >= _MANY_FIGURES
        and all(after[0] == before[0] + 1 for before, after in itertools.pairwise(counts))
    )


def _has_rising_number(lines: Sequence[tuple[int, str]]) -> bool:
    """Say whether one of the numbers only rises."""
    rows = [[float(number) for number in _NUMBER.findall(text)] for _, text in lines]
    width = min(map(len, rows))
    return any(
        column == sorted(column)
        and len(set(column)) >= _FEWEST_COUNTING
        and column[-1].is_integer()
        for column in ([row[index] for row in rows] for index in range(width))
    )


_DRAW: Final = compile_lazily(
    r"(?<![\d.])(?P<now>\d{1,9})/(?P<total>\d{1,9}) "
    r"\[(?:(?:(?P<days>\d{1,3}) days?, |)(?P<hours>\d{1,3}):|)(?P<minutes>\d\d):(?P<seconds>\d\d)<"
)
_FEWEST_DRAWS: Final = 4
"""Draws at one position."""
_LEAST: Final = 600.0
"""Seconds below which it may be a save or an evaluation."""
_TIMES_OF_STEP: Final = 30


class _Bar(NamedTuple):
    now: int
    total: int
    passed: float
    start: int


def detect_frozen_bar(observed: Observed) -> Iterator[Anomaly]:
    """Find sources whose last bar stands at one position, short of its end, for long."""
    for source, (first, text) in observed.tails.items():
        if (found := _find_frozen_position(_parse_bars(text))) is not None:
            draw, message = found
            line = first + text.count("\n", 0, draw.start)
            yield Anomaly("same-step", message, source, NOWHERE, line)


def _parse_bars(text: str) -> list[_Bar]:
    """Read the bars on a text, in order."""
    return [
        _Bar(int(found["now"]), int(found["total"]), _parse_elapsed(found), found.start())
        for found in _DRAW.finditer(text)
    ]


def _parse_elapsed(found: re.Match[str]) -> float:
    days, hours, minutes, rest = (
        int(found[name] or 0) for name in ("days", "hours", "minutes", "seconds")
    )
    return 86_400.0 * days + 3600.0 * hours + 60.0 * minutes + rest


def _find_frozen_position(draws: Sequence[_Bar]) -> tuple[_Bar, Message] | None:
    """Find the last position of the last bar, if it is drawn there for long and nowhere else."""
    if not draws:
        return None
    last = draws[-1]
    start = len(draws)
    while start and draws[start - 1][:2] == last[:2]:
        start -= 1
    stood = last.passed - draws[start].passed
    apart = [
        current.passed - previous.passed for previous, current in itertools.pairwise(draws[start:])
    ]
    usual = _estimate_seconds_per_step(draws[:start], last)
    if (
        len(apart) + 1 < _FEWEST_DRAWS
        or not 0 < last.now < last.total
        or min(apart) < 0
        or stood < max(_LEAST, _TIMES_OF_STEP * usual)
    ):
        return None
    message = say(
        "the bar is drawn {count} times at {now} of {total} while its clock goes on by"
        " {stood:.0f} s; a step had taken {usual:.2g} s",
        count=len(apart) + 1,
        now=last.now,
        total=last.total,
        stood=stood,
        usual=usual,
    )
    return draws[start], message


def _estimate_seconds_per_step(before: Sequence[_Bar], last: _Bar) -> float:
    """Give the seconds a step: of the draws before, else the mean since the bar's start."""
    own = [draw for draw in before if draw.total == last.total]
    paces = [
        (current.passed - previous.passed) / (current.now - previous.now)
        for previous, current in itertools.pairwise(own)
        if current.now > previous.now and current.passed >= previous.passed
    ]
    if paces:
        return statistics.median(paces)
    return last.passed / (last.now + 1)


_FEWEST_CLOCKED: Final = 5
_TIMES_OF_INTERVAL: Final = 30
_SHORTEST_SECONDS: Final = 10.0
_AGAIN: Final = 4
"""Lines with the same step that no program prints while it is working."""
STEP: Final = compile_lazily(
    r"(?<![A-Za-z])(?:global[_ ])?(?:step|iter(?:ation)?|update|batch)s?[\"']?\s?[:=]?\s?"
    r"(?P<step>\d{1,12})(?![\d.])",
    re.IGNORECASE,
)
"""A step as programs print it in any line."""


class _TimedLine(NamedTuple):
    """A line that prints a clock."""

    number: int
    second: float
    text: str


def detect_stalled_output(observed: Observed) -> Iterator[Anomaly]:
    """Find sources behind whose last record nothing was done for long; the last one counts."""
    for source, record in reversed(list(observed.last_records.items())):
        if source in observed.tails:
            anomaly = detect_stall_after_record(observed.tails[source], source, record)
            if anomaly is not None:
                yield anomaly


def detect_stall_after_record(
    tail: tuple[int, str], source: int, last_record: int, least: float = _SHORTEST_SECONDS
) -> Anomaly | None:
    """Find a time behind the last record in which nothing, or no step, was done.

    It is many times as long as the usual distance of the lines before it.

    Args:
        tail: raw number of the first line of the text, and the text.
        source: index of the source.
        last_record: raw line of the last metric record.
        least: seconds below which no time is long.
    """
    lines = _list_clocked_lines(tail)
    before = [line for line in lines if line.number <= last_record]
    after = [line for line in lines if line.number > last_record]
    if len(before) < _FEWEST_CLOCKED or not after or before[-1].number != last_record:
        return None
    usual = _compute_usual_interval(before)
    long = max(least, _TIMES_OF_INTERVAL * usual)
    if (message := _describe_repeated_step(before[-1], after, usual, long)) is not None:
        return Anomaly("same-step", message, source, NOWHERE, after[0].number)
    if (message := _describe_missing_output(before[-1], after, usual, long)) is not None:
        return Anomaly("silence", message, source, NOWHERE, last_record)
    return None


def _list_clocked_lines(tail: tuple[int, str]) -> list[_TimedLine]:
    first, text = tail
    return [
        _TimedLine(number, convert_to_seconds(time), line)
        for number, line in enumerate(text.split("\n"), first)
        if (time := parse_time(line)) is not None
    ]


def _compute_usual_interval(lines: Sequence[_TimedLine]) -> float:
    """Give the seconds between two lines: the median or the mean, whichever is longer."""
    return max(
        statistics.median(
            current.second - previous.second for previous, current in itertools.pairwise(lines)
        ),
        (lines[-1].second - lines[0].second) / (len(lines) - 1),
    )


def _describe_repeated_step(
    record: _TimedLine, after: Sequence[_TimedLine], usual: float, long: float
) -> Message | None:
    """Say how many lines behind a record name one step, if that goes on for long."""
    steps = [match["step"] for line in after if (match := STEP.search(line.text))]
    stood = after[-1].second - record.second
    if len(steps) < _AGAIN or len(set(steps)) > 1 or stood < long:
        return None
    return say(
        "{count} lines over {stood:.0f} s still name step {step}; records had come every"
        " {usual:.2g} s",
        count=len(steps),
        stood=stood,
        step=steps[0],
        usual=max(usual, 0.01),
    )


def _describe_missing_output(
    record: _TimedLine, after: Sequence[_TimedLine], usual: float, long: float
) -> Message | None:
    """Say for how long no line came behind a record, if that is long."""
    gap = after[0].second - record.second
    if gap < long:
        return None
    return say(
        "{gap:.0f} s without a line after the last record, which came every {usual:.2g} s",
        gap=gap,
        usual=max(usual, 0.01),
    )
