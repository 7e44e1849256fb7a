"""One file of a watched job: its state so far, and whether it still shows the same run.

In: a path, and records as they come. Out: signs. Not here: finding the files (`watch.job_files`),
reporting a sign once (`watch.watcher`).
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lines import ProcessId
from postmortem.core.watching import MetricRecord, Sign, Warned
from postmortem.extraction.facts import checkpoints
from postmortem.extraction.formats.bare_rows import name_column
from postmortem.extraction.literals import Matcher
from postmortem.interfaces.watch.growing_file import GrowingFile
from postmortem.interfaces.watch.signs import Signs
from postmortem.reading.follow import FollowedFile

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
        saved = checkpoints.list_in_save_order(self.live.gathering.result.facts.checkpoints)
        step = None if math.isnan(sign.step) else sign.step
        standing, good = checkpoints.find_checkpoint_before(
            saved, checkpoints.Place(self.index, sign.first or sign.line, None, step)
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
