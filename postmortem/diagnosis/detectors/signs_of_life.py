"""Find where a run prints, its last sign of life, and where lines about its end begin.

In: the ends of the sources, their last metric records, what was found in them. Out:
`ActiveSource`s. Not here: for how long a run has been silent (`detectors.standstill`), the lines of
a watcher (`detectors.heartbeats`).
"""

import dataclasses
import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.diagnosis.detectors.heartbeats import Heartbeats, find_heartbeats
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.stalled_output import STEP
from postmortem.extraction.facts.moments import Moment, compute_seconds_between, iter_timed_lines
from postmortem.reading.prefixes import has_srun_labels
from postmortem.rules.traits import Trait, has_trait

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
