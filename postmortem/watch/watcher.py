"""The watch itself: looks at the files of a job again and again, warns once of each kind, notices when the run stands still or is over.

In: paths, limits, a clock and a way to sleep. Out: events, one by one. Not here: what counts as a
sign (`watch.signs`), how it is told (`watch.tell`, `report.watching`).

Whether a run is over is not guessed from a line: behind one that may have ended it, and some quiet,
the log is analysed as `postmortem analyze` would.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from postmortem import names, pipeline
from postmortem.errors import InputError, UsageError
from postmortem.facts import checkpoints, silence
from postmortem.literals import Machine
from postmortem.model.diagnosis import Diagnosis
from postmortem.model.lines import NOWHERE, Where
from postmortem.model.said import Said, quote, say
from postmortem.model.watching import Ended, Event, Noted, Record, Sign, Warned
from postmortem.reading.discover import candidates
from postmortem.reading.file_names import processes_of
from postmortem.reading.follow import Change, Followed
from postmortem.reading.sources import STDIN
from postmortem.watch.live import Live
from postmortem.watch.pace import Pace
from postmortem.watch.signs import Signs

_MOST_FILES: Final = 512
_BACK: Final = 0.5
"""Share of the last step at which, behind a line that ends runs, another run begins; one that resumes from a checkpoint is the same."""
_QUIET: Final = 30.0
"""Seconds of quiet behind a line that ends runs; a launcher that starts anew is sooner at it."""
_QUIET_TIMES: Final = 5
_QUIET_LAST_STEP: Final = 300.0
"""The same behind the last step alone: what comes then, evaluating and saving, may fail yet."""


class Settings(NamedTuple):
    """What the user has chosen."""

    interval: float = 2.0
    stall: float | None = None
    """Seconds of silence that are too many; 0: any silence is right; None: by the run's own pace."""
    is_once: bool = False
    stops_at_warning: bool = False
    language: str = "en"
    patterns: tuple[Path, ...] = ()


class _File:
    """One file of the job."""

    def __init__(self, machine: Machine, index: int, path: str, where: Where) -> None:
        self.machine, self.index, self.where = machine, index, where
        self.followed = Followed(path)
        self.live, self.signs = Live(machine, index, where), Signs()
        self.last_step = math.nan
        self.is_doubtful = False
        """True behind a rotation until a record tells whether the same run goes on."""
        self.is_broken = False
        """The same behind a line that ends runs."""
        self.told: set[str] = set()

    def begin_anew(self) -> None:
        """Start at line 1; whether it is another run, the next record tells."""
        self.live, self.is_doubtful = Live(self.machine, self.index, self.where), True

    def forget(self) -> None:
        """Forget the run so far: another one begins."""
        self.signs, self.last_step, self.is_doubtful = Signs(), math.nan, False


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
        self._paths, self._settings, self._now, self._sleep = tuple(paths), settings, now, sleep
        self._machine = pipeline.machine_for(settings.patterns)
        self._files: dict[str, _File] = {}
        self._unreadable: set[str] = set()
        self._waiting: set[str] = set()
        self._pace = Pace(settings.stall)
        self._heard = math.nan
        self._silent_from = math.nan
        """The last word before a silence that was told."""
        self._may_have_ended = False
        self._analysed = math.nan
        """The last word behind which the log was analysed."""
        self._warnings = 0

    def events(self) -> Iterator[Event]:
        """Watch until the run is over; yields what is worth telling, as it comes."""
        try:
            yield from self._events()
        finally:
            for file in self._files.values():
                file.followed.close()

    def _events(self) -> Iterator[Event]:
        seen = self._of_last_attempt([*self._look()])
        while True:
            for event in seen:
                self._warnings += isinstance(event, Warned)
                yield event
                if self._settings.stops_at_warning and isinstance(event, Warned):
                    yield self.ended("warned")
                    return
            over = self._over()
            if over is not None or self._settings.is_once:
                yield over or self.ended("once")
                return
            self._sleep(self._settings.interval)
            seen = self._look()

    def _of_last_attempt(self, events: Sequence[Event]) -> Iterator[Event]:
        """Leave out what was found before the watch began in an attempt before the last one."""
        last = {
            (event.path, event.kind): event
            for event in events
            if isinstance(event, Warned) and event.kind in self._files[event.path].told
        }
        yield from (
            event
            for event in events
            if not isinstance(event, Warned) or last.get((event.path, event.kind)) is event
        )

    def ended(self, how: str, found: Diagnosis | None = None) -> Ended:
        """Give the end of the watch."""
        if found is None:
            return Ended(how, self._paths, self._warnings, self._now())
        best = found.causes[0]
        return Ended(
            how,
            self._paths,
            self._warnings,
            self._now(),
            found.verdict.cause,
            best.title if found.verdict.cause else "",
            best.probability if found.verdict.cause else 0.0,
        )

    # -- a look
    # -----------------------------------------------------------------------------------------------------

    def _look(self) -> Iterator[Event]:
        """Look at every file once."""
        yield from self._find_files()
        before, records = self._heard, 0
        for file in list(self._files.values()):
            try:
                for news in file.followed.news():
                    if isinstance(news, Change):
                        yield from self._changed(file, news)
                        continue
                    is_old = math.isnan(before)
                    found = file.live.feed(news)
                    if is_old:
                        self._pace.learn(file.live.tail()[1].split("\n"))
                    records += len(found)
                    self._heard = (
                        self._now()
                        if not is_old
                        else max(
                            -math.inf if math.isnan(self._heard) else self._heard,
                            min(file.followed.modified, self._now()),
                        )
                    )
                    yield from self._judged(file, found)
                    self._may_have_ended = self._may_have_ended or file.live.may_have_ended
            except InputError as error:
                if file.followed.path in self._paths:
                    raise
                self._unreadable.add(file.followed.path)
                del self._files[file.followed.path]
                yield Noted(
                    "unreadable",
                    file.followed.path,
                    error.what if isinstance(error.what, Said) else quote(str(error.what)),
                )
        if self._settings.is_once:
            for file in self._files.values():
                yield from self._judged(file, file.live.feed(b"", is_end=True))
        if not math.isnan(before) and self._heard > before:
            yield from self._spoke(before, records)
        yield from self._standing()

    def _find_files(self) -> Iterator[Event]:
        """Find the files of the job; they may come one after the other."""
        paths: list[str] = []
        for path in self._paths:
            if Path(path).is_dir():
                with suppress(InputError):  # nothing in it yet
                    paths += [one.path for one in candidates([path]) if not one.skip]
            else:
                paths.append(path)
        if len(paths) > _MOST_FILES:
            raise UsageError(
                f"{len(paths)} files are too many to watch",
                ", ".join(self._paths),
                f"name the logs of the job, at most {_MOST_FILES}",
            )
        new = [
            path
            for path in dict.fromkeys(paths)
            if path not in self._files and path not in self._unreadable
        ]
        where = processes_of(list(dict.fromkeys(paths))) if new else {}
        for path in new:
            self._files[path] = _File(
                self._machine, len(self._files), path, where.get(path, NOWHERE)
            )
        absent = {path for path in self._paths if not Path(path).exists()} | (
            {*self._paths} if not paths else set()
        )
        if absent and self._settings.is_once:
            raise InputError(
                "no such file or folder",
                ", ".join(sorted(absent)),
                "check the path; without --once it is waited for",
            )
        for path in sorted(absent - self._waiting):
            if path not in self._files or not self._files[path].followed.is_there:
                self._waiting.add(path)
                yield Noted("waiting", path)

    def _changed(self, file: _File, change: Change) -> Iterator[Event]:
        path = file.followed.path
        if change is not Change.FOUND:
            for record in (late := file.live.feed(b"", is_end=True)):
                file.last_step = record.step
            yield from self._judged(file, late)
            file.begin_anew()
            yield Noted(change.value, path)
        elif path in self._waiting:
            self._waiting.discard(path)
            yield Noted("found", path)

    def _judged(self, file: _File, records: Sequence[Record]) -> Iterator[Warned]:
        """Look at new records; where another run begins, all starts anew."""
        starts, ends = list(file.live.starts), list(file.live.ends)
        result = file.live.gathering.result if records else None
        for record in records:
            is_other = file.is_doubtful and not record.step > file.last_step
            while starts and starts[0] <= record.line:
                starts.pop(0)
                is_other = True
            if (ends and ends[0] < record.line) or file.is_broken:
                file.is_broken = bool(ends := [line for line in ends if line >= record.line])
                is_other = is_other or record.step <= _BACK * file.last_step
                if math.isnan(record.step):
                    file.signs = Signs()
            if is_other:
                file.forget()
                file.told.clear()
            file.is_doubtful = False
            file.last_step = record.step if not math.isnan(record.step) else file.last_step
            series = (
                result.series.get((names.MEMORY, record.producer, file.index, record.where))
                if result
                else None
            )
            capacity = result.facts.cards.largest_gib() if series and result else None
            for sign, where in file.signs.take(
                record,
                series.unit if series else "",
                capacity,
                result.total_steps if result else math.nan,
            ):
                yield from self._warn(file, sign, where)
        file.is_broken = file.is_broken or bool(ends)

    def _warn(self, file: _File, sign: Sign, where: Where) -> Iterator[Warned]:
        if any(sign.kind in one.told for one in self._files.values()):
            return
        file.told.add(sign.kind)
        saved = checkpoints.saved(file.live.gathering.result.facts.checkpoints)
        step = None if math.isnan(sign.step) else sign.step
        standing, good = checkpoints.standing(
            saved, checkpoints.Place(file.index, sign.first or sign.line, None, step)
        )
        yield Warned(
            sign.kind,
            file.followed.path,
            where,
            sign.line,
            step,
            sign.said,
            file.live.line(sign.line),
            self._now(),
            good.value if good else None,
            standing,
        )

    # -- silence and the end
    # ----------------------------------------------------------------------------------------

    def _spoke(self, before: float, records: int) -> Iterator[Event]:
        """Something was written."""
        self._pace.heard(self._now(), self._heard - before, records)
        if not math.isnan(self._silent_from):
            self._silent_from = math.nan
            for file in self._files.values():
                file.told.discard("stall")
            yield Noted("goes-on", next(iter(self._files)))
        if not records:
            for file in self._files.values():
                yield from self._same_step(file)

    def _same_step(self, file: _File) -> Iterator[Warned]:
        last = file.live.gathering.result.last_record.get(file.index)
        limit = self._pace.limit()
        if last is None or math.isinf(limit):
            return
        shape = silence.shape(file.live.tail(), file.index, last[0], limit)
        if shape is not None and shape.id == "same-step":
            yield from self._warn(file, Sign("same-step", shape.said, shape.line), shape.where)

    def _standing(self) -> Iterator[Warned]:
        """Warn of a run that writes nothing any more."""
        silent, limit = self._now() - self._heard, self._pace.limit()
        if (
            math.isnan(silent)
            or silent < limit
            or self._may_have_ended
            or not math.isnan(self._silent_from)
        ):
            return
        self._silent_from = self._heard
        usual = self._pace.usual()
        said = say(
            "nothing written for {silent:.0f} s", "已有 {silent:.0f} 秒没有任何输出", silent=silent
        )
        if not math.isnan(usual):
            said = say(
                "{said}; records had come every {usual:.2g} s",
                "{said}，此前每 {usual:.2g} 秒就有一条记录",
                said=said,
                usual=max(usual, 0.01),
            )
        file = max(
            (one for one in self._files.values() if one.followed.is_there),
            key=lambda one: one.followed.modified,
        )
        yield from self._warn(
            file, Sign("stall", said, file.live.last_number(), file.last_step), NOWHERE
        )

    def _over(self) -> Ended | None:
        """Tell whether the run is over, once it has been quiet behind a line that may have ended it."""
        silent, usual = self._now() - self._heard, self._pace.usual()
        quiet = max(_QUIET, 0.0 if math.isnan(usual) else _QUIET_TIMES * usual)
        if not self._may_have_ended:
            quiet = max(quiet, _QUIET_LAST_STEP)
        is_at_last_step = any(
            file.last_step == file.live.gathering.result.total_steps
            for file in self._files.values()
        )
        if (
            not (self._may_have_ended or is_at_last_step)
            or self._analysed == self._heard
            or (not silent >= quiet and not self._settings.is_once)
        ):
            return None
        self._may_have_ended, self._analysed = False, self._heard
        try:
            found = pipeline.analyze(
                self._paths, language=self._settings.language, patterns=self._settings.patterns
            )
        except InputError:
            return None
        return (
            self.ended(found.outcome, found) if found.outcome in {"completed", "failed"} else None
        )
