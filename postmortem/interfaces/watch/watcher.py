"""The watch: checks the files of a job repeatedly, warns once of each kind, sees stall and end.

In: paths, limits, a clock and a way to sleep. Out: events, one by one. Not here: what counts as a
sign (`watch.signs`), silence (`watch.stall_detector`), the content of a file
(`watch.watched_file`), output of events (`watch.alerts`, `report.watch_events`).

Files may appear one after the other. A line alone does not decide that a run is over: after one
that may have ended it, and some silence, the log is analysed as by `postmortem analyze`.
"""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from postmortem import pipeline
from postmortem.core.diagnosis import Analysis, Ended, MetricRecord, Noted, Sign, Warned, WatchEvent
from postmortem.core.errors import InputError, UsageError
from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.message import convert_to_message
from postmortem.extraction.literals import Matcher
from postmortem.interfaces.watch.stall_detector import StallDetector
from postmortem.interfaces.watch.watched_file import WatchedFile
from postmortem.reading.discover import find_candidates
from postmortem.reading.file_names import parse_processes
from postmortem.reading.follow import Change, Unavailable
from postmortem.reading.sources import STDIN

_MOST: Final = 512
_PATIENCE: Final = 10.0
"""Seconds for which a log may be a folder, a loop of links, or closed to us, as while somebody
moves it."""


class JobFiles:
    """The files of one job, in the order in which they were found."""

    def __init__(self, paths: Sequence[str], machine: Matcher, *, waits: bool) -> None:
        """Look for nothing yet; `waits`: what is not there may still come."""
        self.given, self._machine, self._waits = tuple(paths), machine, waits
        self._files: dict[str, WatchedFile] = {}
        self._unreadable: set[str] = set()
        self._waiting: set[str] = set()
        self._unavailable: dict[str, float] = {}
        """Since when a file could not be read."""

    def __iter__(self) -> Iterator[WatchedFile]:
        """Yield the files that are there now; some may be left out meanwhile."""
        return iter(list(self._files.values()))

    def __getitem__(self, path: str) -> WatchedFile:
        """Give the file at a path."""
        return self._files[path]

    def find(self) -> Iterator[Noted]:
        """Find the files of the job, and say which of them are waited for.

        Raises:
            InputError: a path is missing, and nothing is waited for.
            UsageError: the folders hold more files than can be watched.
        """
        paths = self._paths()
        new = [path for path in paths if path not in self._files and path not in self._unreadable]
        where = parse_processes(paths) if new else {}
        for path in new:
            self._files[path] = WatchedFile(
                self._machine, len(self._files), path, where.get(path, NOWHERE)
            )
        yield from self._missing(is_any=bool(paths))

    def is_available(self, path: str) -> None:
        """Note that a file can be read."""
        self._unavailable.pop(path, None)

    def has_come(self, path: str) -> Iterator[Noted]:
        """Say that a file is there now, if it was waited for."""
        if path in self._waiting:
            self._waiting.discard(path)
            yield Noted("found", path)

    def leave_out(self, file: WatchedFile, error: InputError, now: float) -> Iterator[Noted]:
        """Leave a file of a folder out for good; one that the user named is an error.

        What may pass is waited for.
        """
        since = self._unavailable.setdefault(file.path, now)
        if self._waits and isinstance(error, Unavailable) and now - since < _PATIENCE:
            return
        if file.path in self.given:
            raise error
        self._unreadable.add(file.path)
        del self._files[file.path]
        yield Noted("unreadable", file.path, convert_to_message(error.what))

    def _paths(self) -> list[str]:
        """List the files that are given or lie in the folders that are."""
        paths: list[str] = []
        for path in self.given:
            if path not in self._files and os.path.isdir(path):  # noqa: PTH112 -- never raises
                with suppress(InputError):  # nothing in it yet
                    paths += [found.path for found in find_candidates([path]) if not found.skip]
            else:
                paths.append(path)
        if len(paths) > _MOST:
            raise UsageError(
                f"{len(paths)} files are too many to watch",
                ", ".join(self.given),
                f"name the logs of the job, at most {_MOST}",
            )
        return list(dict.fromkeys(paths))

    def _missing(self, *, is_any: bool) -> Iterator[Noted]:
        """Say, once of each, which paths are not there, or that no folder holds a log."""
        absent = {path for path in self.given if not os.path.exists(path)}  # noqa: PTH110 -- never raises
        if not is_any:
            absent |= set(self.given)
        if absent and not self._waits:
            raise InputError(
                "no such file or folder",
                ", ".join(sorted(absent)),
                "check the path; without --once it is waited for",
            )
        for path in sorted(absent - self._waiting):
            if path not in self._files or not self._files[path].followed.is_there:
                self._waiting.add(path)
                yield Noted("waiting", path)


_QUIET_LAST_STEP: Final = 300.0
"""Seconds of quiet behind the last step alone: what comes then, evaluating and saving, may fail
yet."""
_OVER: Final = frozenset({"completed", "failed"})


class RunEnd:
    """The end of a run: whether it may have come, and when that was looked into."""

    def __init__(self, files: JobFiles, patterns: Sequence[Path]) -> None:
        """Take what is analysed, and how."""
        self._files, self._patterns = files, tuple(patterns)
        self.may_have_come = False
        """True behind a line that may have ended the run, until the log was analysed."""
        self._analysed = math.nan
        """The last word behind which the log was analysed."""

    def get_analysis(self, stalls: StallDetector, *, waits: bool) -> Analysis | None:
        """Give the analysis of a run that is over; `waits`: not before some quiet."""
        is_at_last_step = any(file.is_at_last_step() for file in self._files)
        if not (self.may_have_come or is_at_last_step) or self._analysed == stalls.last:
            return None
        if waits and not stalls.is_quiet(0.0 if self.may_have_come else _QUIET_LAST_STEP):
            return None
        self.may_have_come, self._analysed = False, stalls.last
        try:
            found = pipeline.run_pipeline(self._files.given, patterns=self._patterns)
        except InputError:
            return None
        return found if found.outcome in _OVER else None


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

    def iter_events(self) -> Iterator[WatchEvent]:
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

    def _events(self) -> Iterator[WatchEvent]:
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

    def _of_last_attempt(self, events: Sequence[WatchEvent]) -> Iterator[WatchEvent]:
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

    def _look(self) -> Iterator[WatchEvent]:
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

    def _news(self, file: WatchedFile) -> Iterator[WatchEvent]:
        """Read what was added to a file, and notice when it was replaced or emptied."""
        for news in file.followed.read_news():
            if isinstance(news, Change):
                yield from self._changed(file, news)
                continue
            records = file.live.feed(news)
            self._stalls.note_output(file, len(records))
            yield from self._judged(file, records)
            self._end.may_have_come = self._end.may_have_come or file.live.may_have_ended

    def _changed(self, file: WatchedFile, change: Change) -> Iterator[WatchEvent]:
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

    def _end_silence(self) -> Iterator[WatchEvent]:
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
