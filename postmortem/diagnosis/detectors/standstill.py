"""Detect a job whose output has stopped, and one that waits at its start or was still writing.

In: the ends of all sources, their last metric records, what was found in them. Out: the anomalies
`stood-still`, `stood-still-at-start`; `waits-at-start` of a log that ends, before any record, where
a process waits for another; `log-goes-on` of a log that was still being written when somebody
looked at it. Not here: the lines of a watcher (`detectors.signs_of_life`), a pause between two
lines of one source (`detectors.progress_lines`), whether the run was stopped or goes on, time-outs
that are told of (`patterns/signatures/distributed`), what people say of it
(`patterns/signatures/hang`).

The newest clock of the job counts, whoever prints it: a watcher, a scheduler that ends the job, a
dump of a process that lives. What a worker said last counts against it; what is printed because the
job is being ended is no sign of life. A pause that ended is none: who asks about a log looks at the
file's time of change, and the clock of the same dump shows how long ago that was.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import NOTHING, Message, cut, quote, say
from postmortem.diagnosis.detectors.ending import detect_last_step
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.diagnosis.detectors.signs_of_life import (
    ActiveSource,
    Heartbeats,
    add_end_lines,
    end_of,
    find_heartbeats,
    find_last_activity,
    has_own_failure,
    has_several_steps,
    list_active_sources,
    list_lines_before,
)
from postmortem.extraction.facts.clock import (
    Moment,
    compute_seconds_between,
    find_newest_timestamp,
    iter_timed_lines,
)
from postmortem.rules.vocabulary import Trait, has_trait

_TIMES: Final = 30
"""Times the usual distance of two lines beyond which a pause is long."""
_LEAST: Final = 10.0
_LEAST_ELSEWHERE: Final = 300.0
"""Seconds, if another file tells the time: its clock may stand apart."""
_LEAST_UNKNOWN: Final = 600.0
"""Seconds, if nothing tells how often the run prints."""
_LEAST_AT_START: Final = 1200.0
"""Seconds, if no record was printed: loading and compiling take their time."""
_TIMES_AT_START: Final = 3
"""Times the usual distance of two lines that a run without records may be silent."""
_LATEST_DUMP: Final = 43_200.0
_HOUR: Final = 3600.0
_ZONE_SLACK: Final = 120.0
_FARTHEST_ZONE: Final = 15 * _HOUR
_MANY: Final = 5
"""Lines of a watcher, and no other, in front of the first record."""
_VERY_MANY: Final = 10
_WATCHED: Final = 2
"""Workers with a watcher beside which one without any stands out."""
_MOST_TEXT: Final = 160
_LIVES: Final = compile_lazily(
    r"\b(?:py-spy|Thread 0x[0-9a-f]+|Thread \d+ \((?:idle|active)|RUNNING)\b"
    r"|\bC(?:\+G)?\s+\S{0,200}(?:python|pt_main|ray::)\S{0,100}\s+\d+MiB"
    r"|\bpython[\d.]* .{0,200}\.py\b"
    r"|(?m:^\s{0,9}(?:[\w-]{1,32}\s+)?\d{1,9}\s[^\n]{0,60}\d\d:\d\d\s+[RSDT][sl<N+]{0,4}\s)"
)
"""What shows in a dump that the processes were there when it was taken."""


_HEADED: Final = 3
"""Raw line of a watcher's first line that has no more than its own command above it."""


class _Silence(NamedTuple):
    """For how long nothing came, and who shows it."""

    seconds: float
    worker: ActiveSource
    source: int
    """Of who shows it."""
    line: int


def detect_stall(observed: Observed) -> Iterator[Anomaly]:
    """Find a job that stood still at its end, for much longer than its lines lie apart."""
    observed = add_end_lines(observed)
    workers = [find_last_activity(observed, source) for source in list_active_sources(observed)]
    if not workers or has_own_failure(observed) or _is_through(observed):
        return
    found = (
        _find_own_watcher(observed, workers)
        or _find_clock_gap(observed, workers)
        or _find_external_watcher(observed, workers)
    )
    if found is not None:
        found = found._replace(worker=_find_faulty_worker(found.worker, workers))
        is_known = found.worker.last is not None
        source = found.worker.source if is_known else found.source
        line = found.worker.last.line if found.worker.last is not None else found.line
        began = any(observed.records.values()) or any(
            has_several_steps(text) for _, text in observed.tails.values()
        )
        name = "stood-still" if began else "stood-still-at-start"
        yield Anomaly(name, _format_stall(found), source, NOWHERE, line)


def _find_faulty_worker(worker: ActiveSource, workers: Sequence[ActiveSource]) -> ActiveSource:
    """Find the only worker whose watcher is silent while all others print."""
    mute = [other for other in workers if other.beats is None and other.last is not None]
    has_one_mute = len(mute) == 1 and len(workers) - len(mute) >= _WATCHED
    return (
        mute[0]._replace(beats=worker.beats)
        if has_one_mute and worker.beats is not None
        else worker
    )


def _is_through(observed: Observed) -> bool:
    """Say whether the run has made its last step, or says that it is through."""
    return any(detect_last_step(observed)) or any(
        has_trait(finding.signature, Trait.SOUND) for finding, _ in observed.findings
    )


def _find_external_watcher(observed: Observed, workers: Sequence[ActiveSource]) -> _Silence | None:
    """Find a watcher's own file that shows how long a run without clocks was silent."""
    if any(worker.last is not None for worker in workers):
        return None
    for source in set(observed.processes) - {worker.source for worker in workers}:
        watch = find_heartbeats(list_lines_before(math.inf, observed.tails[source]))
        if watch is not None and watch.aged >= _LEAST_UNKNOWN:
            return _Silence(watch.aged, workers[0]._replace(beats=watch), source, watch.line)
    return None


def _find_own_watcher(observed: Observed, workers: Iterable[ActiveSource]) -> _Silence | None:
    """Find a watcher in the file of a worker that goes on where the worker does not."""
    for worker in workers:
        watch = worker.beats
        if watch is None or not _is_alone(worker, workers) or _is_all(observed, worker, watch):
            continue
        since = worker.last.time if worker.last is not None else ""
        passed = max(
            watch.span, (compute_seconds_between(since, watch.last) or 0.0) if since else 0.0
        )
        if _is_long(observed, worker, passed, watch.times):
            return _Silence(passed, worker, worker.source, watch.line)
    return None


def _is_all(observed: Observed, worker: ActiveSource, watch: Heartbeats) -> bool:
    """Say whether a watcher is all that there is: what it watches is not in the log."""
    return worker.last is None and watch.line <= _HEADED and len(observed.processes) == 1


def _is_alone(worker: ActiveSource, workers: Iterable[ActiveSource]) -> bool:
    """Say whether no other worker said something while a watcher watched this one."""
    start = worker.beats.first if worker.beats is not None else ""
    return all(
        other is worker
        or other.beats is not None
        or other.last is None
        or not start
        or compute_seconds_between(start, other.last.time) is None
        for other in workers
    )


def _is_long(observed: Observed, worker: ActiveSource, passed: float, count: int) -> bool:
    """Say whether a watcher has watched for long."""
    if worker.source not in observed.last_records:
        return count >= _MANY or passed >= _LEAST_AT_START
    if not math.isnan(worker.usual):
        return passed >= max(_LEAST, _TIMES * worker.usual)
    return passed >= _LEAST_UNKNOWN or (count >= _VERY_MANY and passed >= _LEAST)


def _find_clock_gap(observed: Observed, workers: Sequence[ActiveSource]) -> _Silence | None:
    """Find the newest clock of the job, and how long before it the last worker fell silent."""
    latest: ActiveSource | None = None
    for worker in workers:
        if worker.last is None:
            return None
        is_later = (
            latest is None
            or latest.last is None
            or compute_seconds_between(latest.last.time, worker.last.time)
        )
        latest = worker if is_later else latest
    if latest is None:
        return None
    found = _find_newest_clock(observed, latest, {other.source for other in workers})
    return (
        found
        if found and found.seconds >= _compute_stall_threshold(observed, workers, found)
        else None
    )


def _compute_stall_threshold(
    observed: Observed, workers: Iterable[ActiveSource], found: _Silence
) -> float:
    """Give the seconds below which no time is long."""
    usual = max(
        (worker.usual for worker in workers if not math.isnan(worker.usual)), default=math.nan
    )
    if found.worker.source not in observed.last_records:
        slow = 0.0 if math.isnan(usual) else _TIMES_AT_START * usual
        return max(_LEAST_AT_START, slow)
    if math.isnan(usual):
        return 2 * _LEAST_UNKNOWN
    is_own = found.source == found.worker.source
    return max(_LEAST if is_own else _LEAST_ELSEWHERE, _TIMES * usual)


def _find_newest_clock(
    observed: Observed, worker: ActiveSource, working: set[int]
) -> _Silence | None:
    """Give the newest clock that shows how long a worker has been silent."""
    if worker.last is None:
        return None
    found: list[_Silence] = []
    for source, times in _collect_clocks(observed, worker, working).items():
        latest = find_newest_timestamp((moment.time for moment in times), worker.last.time)
        if latest is None:
            continue
        line = next(moment.line for moment in times if moment.time == latest[1])
        if _is_telling(observed, source, worker, latest[0]) and not (
            latest[0] % _HOUR <= _ZONE_SLACK
            and latest[0] >= _HOUR
            and _is_of_scheduler(observed, source, line)
        ):
            found.append(_Silence(latest[0], worker, source, line))
    return max(found, default=None, key=lambda candidate: candidate.seconds)


def _is_of_scheduler(observed: Observed, source: int, line: int) -> bool:
    """Say whether a scheduler printed a line: its clock may be of another time zone."""
    return any(
        finding.source == source
        and finding.line == line
        and has_trait(finding.signature, Trait.STOPPED_FROM_OUTSIDE)
        for finding, _ in observed.findings
    )


def _is_telling(observed: Observed, source: int, worker: ActiveSource, passed: float) -> bool:
    """Say whether the clock of a source is one to go by.

    A dump that was taken the next day tells of another run, and a distance of whole hours is that
    of two time zones, unless the source tells how the job was ended.
    """
    if source == worker.source:
        return True
    if source in observed.snapshots:
        return passed <= _LATEST_DUMP
    off = abs(passed - _HOUR * round(passed / _HOUR))
    is_zone = off <= _ZONE_SLACK and _HOUR / 2 < passed < _FARTHEST_ZONE
    return not is_zone or not math.isinf(end_of(observed, source))


def _collect_clocks(
    observed: Observed, worker: ActiveSource, working: set[int]
) -> Mapping[int, Sequence[Moment]]:
    """Collect the times that show that a worker was silent, by source.

    Its own ones count behind its last sign of life, those of other workers only where they tell of
    its end; a dump's where it shows processes that live.
    """
    own = worker.last.line if worker.last is not None else 0
    found: dict[int, Sequence[Moment]] = {}
    for source, tail in observed.tails.items():
        if source in observed.snapshots:
            if not _LIVES.search(tail[1]):
                continue
            least = 0.0
        elif source == worker.source:
            least = own + 1
        else:
            least = end_of(observed, source) if source in working else 0.0
        if not math.isinf(least):
            found[source] = [moment for moment, _ in iter_timed_lines(tail) if moment.line >= least]
    return found


def _format_stall(found: _Silence) -> Message:
    watch, usual = found.worker.beats, found.worker.usual
    if watch is not None and (found.source == found.worker.source or found.worker.last is None):
        return say(
            "{count} lines like {text} over {seconds:.0f} s, and none of the run itself",
            count=watch.times,
            text=quote(cut(watch.text, _MOST_TEXT)),
            seconds=found.seconds,
        )
    pace = say(
        "; its lines had come every {usual:.2g} s",
        usual=max(usual, 0.01),
    )
    return say(
        "the last line of the run came {seconds:.0f} s before the newest clock of the job{pace}",
        seconds=found.seconds,
        pace=NOTHING if math.isnan(usual) else pace,
    )


_LAST: Final = 3
"""Lines at the end of a log that may be the last of their process."""
_WAITS: Final = compile_lazily(
    r"\bwait(?:ing|s)? (?:for|on|until|at)\b|\binit_process_group|\b(?:initiali[sz]|start|creat"
    r"|join|form)\w{0,12} (?:the )?(?:\w{1,24} )?"
    r"(?:process group|rendezvous|communicator|distributed)"
    r"|\brendezvous\b|\bconnecting to\b|\bbarrier\b|acquir\w{1,8} (?:the )?(?:\w{1,24} )?lock\b"
    r"|Building extension module|Loading extension module|Lock file exists|\bpending\b",
    re.IGNORECASE,
)
"""A phase in which a process waits for another, or for what another holds."""


def detect_wait_at_start(observed: Observed) -> Iterator[Anomaly]:
    """Find a last line, before any record, that names something that a process waits for.

    Of several processes in one log, it may be the last line of any of them.
    """
    if any(observed.records.values()):
        return
    observed = add_end_lines(observed)
    for source in list_active_sources(observed):
        own = list_lines_before(end_of(observed, source), observed.tails[source])
        text = observed.tails[source][1]
        watch = find_heartbeats(own)
        last = [entry for entry in own if watch is None or entry[0] < watch.line][-_LAST:]
        for number, line in reversed(last):
            if _WAITS.search(line) and not has_several_steps(text):
                message = quote(cut(line.strip(), _MOST_TEXT))
                yield Anomaly("waits-at-start", message, source, NOWHERE, number)
                return


_CHANGED: Final = compile_lazily(
    r"^\s*(?:Modify: |mtime[ =:]{1,3})?(?P<date>20\d\d-\d\d-\d\d) (?P<clock>\d\d:\d\d:\d\d)"
    r"\.\d{6,9} [+-]\d{4}\s*$"
)
"""The time of change of a file, as `stat` prints it."""
_STAT_COMMAND: Final = compile_lazily(r"\bstat\b|^\s*File: ")
_ABOVE: Final = 8
"""Lines above the time, in which the file is named."""
_LATEST: Final = 300.0
"""Seconds after which a log is no longer being written to."""


def detect_recent_log_change(observed: Observed) -> Iterator[Anomaly]:
    """Find the time of change of a log, shortly before the newest clock of the same dump."""
    if not any(observed.records.values()):
        return
    for source, tail in observed.tails.items():
        lines = tail[1].split("\n")
        for index, line in enumerate(lines):
            above = lines[max(0, index - _ABOVE) : index]
            match = _CHANGED.match(line)
            if match is None or not any(_STAT_COMMAND.search(line) for line in above):
                continue
            changed = f"{match['date']}T{match['clock']}"
            age = find_newest_timestamp(
                (moment.time for moment, _ in iter_timed_lines(tail)), changed
            )
            if (
                age is not None
                and age[0] <= _LATEST
                and compute_seconds_between(changed, age[1]) is not None
            ):
                message = say(
                    "the log was written to {age:.0f} s before it was looked at",
                    age=age[0],
                )
                yield Anomaly("log-goes-on", message, source, NOWHERE, tail[0] + index)
                return
