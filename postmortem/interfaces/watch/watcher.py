"""The watch: checks the files of a job repeatedly, warns once of each kind, sees stall and end.

In: paths, limits, a clock and a way to sleep. Out: events, one by one. Not here: what counts as a
sign (`watch.signs`), silence (`watch.stall_detector`), the end of a run (`watch.run_end`), output
of events (`watch.alerts`, `report.watch_events`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from postmortem import pipeline
from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import InputError, UsageError
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.watching import Ended, Event, MetricRecord, Noted, Sign, Warned
from postmortem.interfaces.watch.job_files import JobFiles
from postmortem.interfaces.watch.run_end import RunEnd
from postmortem.interfaces.watch.stall_detector import StallDetector
from postmortem.interfaces.watch.watched_file import WatchedFile
from postmortem.reading.follow import Change
from postmortem.reading.sources import STDIN


class Settings(NamedTuple):
    """What the user has chosen."""

    interval: float = 2.0
    stall: float | None = None
    """Seconds of silence that are too many; 0: any silence is right; None: by the run's own
    pace."""
    is_once: bool = False
    stops_at_warning: bool = False
    patterns: tuple[Path, ...] = ()


class Watcher:
    """A watch over the files of one job."""

    def __init__(
        self,
        paths: Sequence[str],
        settings: Settings,
        now: Callable[[], float],
        sleep: Callable[[float], object],
    ) -> None:
        """Take the paths; nothing is read yet.

        Raises:
            UsageError: standard input, or a limit that makes no sense.
        """
        _check(paths, settings)
        self._settings, self._now, self._sleep = settings, now, sleep
        machine = pipeline.get_matcher(settings.patterns)
        self._files = JobFiles(paths, machine, waits=not settings.is_once)
        self._stalls = StallDetector(settings.stall, now)
        self._end = RunEnd(self._files, settings.patterns)
        self._warnings = 0

    def iter_events(self) -> Iterator[Event]:
        """Watch until the run is over; yields what is worth telling, as it comes."""
        try:
            yield from self._events()
        finally:
            for file in self._files:
                file.followed.close()

    def build_end(self, how: str, found: Analysis | None = None) -> Ended:
        """Give the end of the watch."""
        end = Ended(how, self._files.given, self._warnings, self._now())
        if found is None or not found.verdict.cause:
            return end
        best = found.causes[0]
        return replace(
            end, cause=found.verdict.cause, title=best.title, probability=best.probability
        )

    def _events(self) -> Iterator[Event]:
        seen = self._of_last_attempt([*self._look()])
        while True:
            for event in seen:
                self._warnings += isinstance(event, Warned)
                yield event
                if self._settings.stops_at_warning and isinstance(event, Warned):
                    yield self.build_end("warned")
                    return
            over = self._end.get_analysis(self._stalls, waits=not self._settings.is_once)
            if over is not None or self._settings.is_once:
                yield self.build_end("once") if over is None else self.build_end(over.outcome, over)
                return
            self._sleep(self._settings.interval)
            seen = self._look()

    def _of_last_attempt(self, events: Sequence[Event]) -> Iterator[Event]:
        """Leave out what was found before the watch began in an attempt before the last one."""
        last = {
            (event.path, event.kind): event
            for event in events
            if isinstance(event, Warned) and event.kind in self._files[event.path].warned_kinds
        }
        yield from (
            event
            for event in events
            if not isinstance(event, Warned) or last.get((event.path, event.kind)) is event
        )

    def _look(self) -> Iterator[Event]:
        """Look at every file once."""
        yield from self._files.find()
        self._stalls.begin_look()
        for file in self._files:
            try:
                yield from self._news(file)
                self._files.is_available(file.path)
            except InputError as error:
                yield from self._files.leave_out(file, error, self._now())
        if self._settings.is_once:
            for file in self._files:
                yield from self._judged(file, file.live.feed(b"", is_end=True))
        if self._stalls.has_new_output():
            yield from self._end_silence()
        stall = None if self._end.may_have_come else self._stalls.find_stall(self._files)
        if stall is not None:
            yield from self._warn(*stall, NOWHERE)

    def _news(self, file: WatchedFile) -> Iterator[Event]:
        """Read what was added to a file, and notice when it was replaced or emptied."""
        for news in file.followed.read_news():
            if isinstance(news, Change):
                yield from self._changed(file, news)
                continue
            records = file.live.feed(news)
            self._stalls.note_output(file, len(records))
            yield from self._judged(file, records)
            self._end.may_have_come = self._end.may_have_come or file.live.may_have_ended

    def _changed(self, file: WatchedFile, change: Change) -> Iterator[Event]:
        if change is Change.FOUND:
            yield from self._files.has_come(file.path)
            return
        yield from self._judged(file, file.finish())
        file.begin_anew()
        yield Noted(change.value, file.path)

    def _judged(self, file: WatchedFile, records: Sequence[MetricRecord]) -> Iterator[Warned]:
        for sign, where in file.find_signs(records):
            yield from self._warn(file, sign, where)

    def _warn(self, file: WatchedFile, sign: Sign, where: ProcessId) -> Iterator[Warned]:
        """Warn, unless a file of the job has shown the like."""
        if not any(sign.kind in other.warned_kinds for other in self._files):
            file.warned_kinds.add(sign.kind)
            yield file.build_warning(sign, where, self._now())

    def _end_silence(self) -> Iterator[Event]:
        """Tell that a silence is over, or that there are lines and no records."""
        if self._stalls.has_broken_silence():
            for file in self._files:
                file.warned_kinds.discard("stall")
            yield Noted("goes-on", next(iter(self._files)).path)
        for file in self._files:
            if (found := self._stalls.find_same_step(file)) is not None:
                yield from self._warn(file, *found)


def _check(paths: Sequence[str], settings: Settings) -> None:
    if STDIN in paths:
        raise UsageError(
            "standard input cannot be watched",
            STDIN,
            "write the log to a file (train.py 2>&1 | tee run.log) and watch that, or use:"
            " postmortem run -- train.py",
        )
    if settings.interval <= 0 or (settings.stall is not None and settings.stall < 0):
        raise UsageError(
            "seconds cannot be negative, nor the interval 0",
            "",
            "for example --interval 2 --stall 600",
        )
