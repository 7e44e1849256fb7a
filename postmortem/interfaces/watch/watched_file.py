"""One file of a watched job: read as it grows, as `analyze` reads a log, and its signs.

In: a path, bytes as they are added. Out: records, raw lines, what may have ended the run, signs,
and whether the file still shows the same run. Not here: finding the files, reporting a sign once
(`watch.watcher`), judging records (`watch.signs`).

Only finished lines are looked at, or finished draws of a progress bar. Each look reads only the new
part and the few kilobytes before it that a rule may look back at.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.diagnosis import MetricRecord, Sign, Warned
from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.diagnosis.case.attempts import START
from postmortem.extraction.facts import fact_store
from postmortem.extraction.formats.arrays import name_column
from postmortem.extraction.literals import Matcher
from postmortem.extraction.source_extractor import SourceExtractor
from postmortem.interfaces.watch.signs import Signs
from postmortem.reading.follow import FollowedFile
from postmortem.reading.prefixes import has_srun_labels
from postmortem.reading.sources import MARGIN, Block
from postmortem.rules.vocabulary import Trait, has_trait

_TALKS_OF_END: Final = frozenset({"cause", "consequence"})


class GrowingFile:
    """One growing file with the records and findings read from it so far."""

    def __init__(
        self, machine: Matcher, index: int, where: ProcessId = NOWHERE, title: str = ""
    ) -> None:
        """Start at the first line of a file.

        `index` is its number among the files of the job, `title` what its name says of its figures.
        """
        self._machine, self._index, self._where = machine, index, where
        self._title = title
        self._gathering: SourceExtractor | None = None
        self._data = b""
        self._fed = self._offset = 0
        """Where the unread part of the data begins; where the data begins in the file."""
        self._first_line = 1
        """Raw number of the first line of the data."""
        self._seen: dict[tuple[str, str, int, ProcessId], int] = {}
        self._counts: dict[tuple[str, int, ProcessId], int] = {}
        self._tracebacks = 0
        self.starts: list[int] = []
        """Lines at which a training begins, of the last look."""
        self.ends: list[int] = []
        """Lines that end runs, of the last look."""
        self.may_have_ended = False
        """True if the last look found a line that ends runs."""

    @property
    def gathering(self) -> SourceExtractor:
        """The gathering.

        It is made when the first line has come, since that tells how processes are labelled.
        """
        if self._gathering is None:
            self._gathering = SourceExtractor(
                self._machine,
                self._index,
                self._where,
                srun=has_srun_labels(self._data[: 1 << 16].decode("utf-8", "replace")),
                title=self._title,
            )
        return self._gathering

    def feed(self, data: bytes, *, is_end: bool = False) -> list[MetricRecord]:
        """Look at what was added; gives the new records in the order of their lines.

        At the end, an unfinished line counts too.
        """
        self._data += data
        end = (
            len(self._data)
            if is_end
            else max(self._data.rfind(b"\n") + 1, self._data.rfind(b"\r", 0, len(self._data) - 1))
        )
        if end <= self._fed and len(self._data) - self._fed > MARGIN:  # a line without end
            end = len(self._data)
        self.starts, self.ends, self.may_have_ended = [], [], False
        if end <= self._fed:
            return []
        self.gathering.feed(Block(self._data, self._fed, end, self._offset))
        self._look_at_findings()
        records = self._records()
        drop = max(0, end - MARGIN)
        self._first_line += self._data.count(b"\n", 0, drop)
        self._data, self._fed, self._offset = self._data[drop:], end - drop, self._offset + drop
        return records

    def get_line(self, number: int) -> str:
        """Give a raw line if it is still kept, or an empty string."""
        lines = self._data.split(b"\n")
        index = number - self._first_line
        if not 0 <= index < len(lines) or (index == 0 and self._offset):
            return ""
        return lines[index].rsplit(b"\r", 1)[-1].decode("utf-8", "replace").strip()

    def get_tail(self) -> tuple[int, str]:
        """Give the finished lines that are still kept, with the raw number of the first."""
        begin = self._data.find(b"\n") + 1 if self._offset else 0
        return self._first_line + self._data.count(b"\n", 0, begin), self._data[
            begin : self._fed
        ].decode("utf-8", "replace")

    def get_last_number(self) -> int:
        """Give the raw number of the last line."""
        return self._first_line + self._data.rstrip(b"\n").count(b"\n")

    def _records(self) -> list[MetricRecord]:
        """Put the new points of all series together again, by line and process.

        On a line of many draws, by step.
        """
        found: dict[tuple[object, ...], MetricRecord] = {}
        for key, series in self.gathering.result.series.items():
            start, count = (
                self._seen.get(key, 0),
                len(series.values),
            )  # a series that was thinned since is shorter
            self._seen[key] = count
            line, nth = 0, 0
            for step, value, number in zip(
                series.steps[start:], series.values[start:], series.lines[start:], strict=True
            ):
                line, nth = number, (nth + 1 if number == line else 0)
                place = (number, series.where, series.producer, nth if math.isnan(step) else step)
                found.setdefault(
                    place, MetricRecord(series.where, series.producer, number, step, {})
                ).values[series.name] = value
        return sorted(found.values(), key=lambda record: record.line)

    def _look_at_findings(self) -> None:
        """Notice findings that are new: a training that begins, a line that ends runs."""
        result = self.gathering.result
        for key, kept in result.findings.items():
            if kept.count == self._counts.get(key, 0):
                continue
            new = kept.count - self._counts.get(key, 0)
            self._counts[key] = kept.count
            rule = self._machine.knowledge.by_id[key[0]]
            lines = [entry.finding.line for entry in kept.all()[-new:]]
            if key[0].startswith(START):
                self.starts += lines
            elif rule.fatal and rule.role in _TALKS_OF_END:
                self.ends += lines
            self.may_have_ended = self.may_have_ended or has_trait(key[0], Trait.SOUND)
        if (new := result.traceback_count - self._tracebacks) > 0:
            self.ends += [traceback.line for traceback, _ in result.tracebacks[-new:]]
        self._tracebacks = result.traceback_count
        self.may_have_ended = self.may_have_ended or bool(self.ends)
        self.starts.sort()
        self.ends.sort()


_BACK: Final = 0.5
"""Share of the last step at which, behind a line that ends runs, another run begins; one that
resumes from a checkpoint is the same."""


class WatchedFile:
    """One file of the job."""

    def __init__(self, machine: Matcher, index: int, path: str, where: ProcessId) -> None:
        """Open nothing yet; `index` is its number among the files of the job."""
        self.path, self.followed = path, FollowedFile(path)
        self._machine, self.index, self._where = machine, index, where
        self._title = name_column(path)
        self.live, self._signs = GrowingFile(machine, index, where, self._title), Signs()
        self.last_step = math.nan
        self._is_doubtful = False
        """True behind a rotation until a record tells whether the same run goes on."""
        self._is_broken = False
        """The same behind a line that ends runs."""
        self.warned_kinds: set[str] = set()
        """Kinds of warnings already sent for this run."""

    def finish(self) -> list[MetricRecord]:
        """Look at an unfinished last line too: nothing will be added to this file."""
        late = self.live.feed(b"", is_end=True)
        self.last_step = late[-1].step if late else self.last_step
        return late

    def begin_anew(self) -> None:
        """Start at line 1; the next record shows whether it is another run."""
        self.live = GrowingFile(self._machine, self.index, self._where, self._title)
        self._is_doubtful = True

    def find_signs(self, records: Sequence[MetricRecord]) -> Iterator[tuple[Sign, ProcessId]]:
        """Look at new records; where another run begins, all starts anew."""
        starts, ends = list(self.live.starts), list(self.live.ends)
        for record in records:
            if self._is_of_another_run(record, starts, ends):
                self._forget()
            self._is_doubtful = False
            self.last_step = self.last_step if math.isnan(record.step) else record.step
            yield from self._of_record(record)
        self._is_broken = self._is_broken or bool(ends)

    def get_last_record(self) -> int | None:
        """Give the raw line of the last record."""
        last = self.live.gathering.result.last_record.get(self.index)
        return None if last is None else last[0]

    def is_at_last_step(self) -> bool:
        """Say whether the run has come to the last of its steps."""
        return self.last_step == self.live.gathering.result.total_steps

    def build_warning(self, sign: Sign, where: ProcessId, now: float) -> Warned:
        """Make a warning of a sign, with the last checkpoint from before it began."""
        saved = fact_store.list_in_save_order(self.live.gathering.result.facts.checkpoints)
        step = None if math.isnan(sign.step) else sign.step
        standing, good = fact_store.find_checkpoint_before(
            saved, fact_store.Place(self.index, sign.first or sign.line, None, step)
        )
        evidence = self.live.get_line(sign.line)
        return Warned(
            sign.kind,
            self.path,
            where,
            sign.line,
            step,
            sign.message,
            evidence,
            now,
            good.value if good else None,
            standing,
        )

    def _is_of_another_run(self, record: MetricRecord, starts: list[int], ends: list[int]) -> bool:
        """Say whether a record is of another run than the one before it.

        Of the lines that begin and end runs, those in front of the record are dropped.
        """
        is_other = self._is_doubtful and not record.step > self.last_step
        while starts and starts[0] <= record.line:
            del starts[0]
            is_other = True
        if (ends and ends[0] < record.line) or self._is_broken:
            ends[:] = [line for line in ends if line >= record.line]
            self._is_broken = bool(ends)
            is_other = is_other or record.step <= _BACK * self.last_step
            if math.isnan(record.step):
                self._signs = Signs()
        return is_other

    def _forget(self) -> None:
        """Forget the run so far: another one begins."""
        self._signs, self.last_step = Signs(), math.nan
        self.warned_kinds.clear()

    def _of_record(self, record: MetricRecord) -> Iterator[tuple[Sign, ProcessId]]:
        """Hand a record to what looks at it, with what is known of its device and its run."""
        result = self.live.gathering.result
        memory = result.series.get((names.MEMORY, record.producer, self.index, record.where))
        yield from self._signs.take(
            record,
            memory.unit if memory else "",
            result.facts.cards.largest_gib() if memory else None,
            result.total_steps,
        )
