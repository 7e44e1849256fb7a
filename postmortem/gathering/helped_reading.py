"""The large files of a job, read by this process and by others beside it.

In: the files in their order, who reads them here and elsewhere. Out: what each holds, in their
order. Not here: how a file is read (`gathering.read_apart`), putting the parts together
(`gathering.job`).

No more than a few files are read ahead of the one that is wanted next: what they hold waits in
memory. A file whose process is lost is read here, as all files are where there is no other process.
"""

import functools
import mmap
import stat
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postmortem.gathering.read_apart import Apart, FileApart, Helpers, ReadsApart, elsewhere
from postmortem.knowledge.engine import Budget
from postmortem.model.lines import NOWHERE, Where
from postmortem.reading.discover import Candidate
from postmortem.reading.sources import is_file

if TYPE_CHECKING:
    from postmortem.host.helper_process import HelperProcess

_LARGE: Final = 1 << 20
"""Bytes of a file that is worth handing over."""
_PAYS: Final = 24 << 20
"""Bytes to read that are worth another process, which must load the rules first."""
_MOST: Final = 7
"""Other processes: each holds the rules and a file's figures."""
_AHEAD: Final = 1
"""Files that may be read, beside one for each process, before the one that is wanted next."""
_BLOCK: Final = 1 << 20
"""Bytes that each process looks at in one go, at most."""


class HelpedReading:
    """Gives what the large files of a job hold, each when its turn comes."""

    def __init__(
        self,
        files: Sequence[tuple[int, str, Where]],
        here: ReadsApart,
        budget: Budget,
    ) -> None:
        """Take the files by their numbers in the job, who reads here, the budget of the job."""
        self._files, self._here, self._budget = files, here, budget
        self._next = self._wanted = 0
        """Places in `_files`: the first that nobody has taken, the one whose turn comes next."""
        self._done: dict[int, Apart | mmap.mmap | None] = {}
        """By place, those that were read elsewhere still packed."""
        self._changed, self._helpers = threading.Condition(), list["HelperProcess"]()
        self._threads: list[threading.Thread] = []
        self._places = {index: place for place, (index, _, _) in enumerate(files)}

    def start(self, count: int, begin: Callable[[], ReadsApart]) -> None:
        """Start so many other processes, or as many as can be started."""
        # Most jobs are small, and do not pay for the import.
        from postmortem.host.helper_process import HelperProcess, NoHelper  # noqa: PLC0415

        with suppress(NoHelper):
            for _ in range(count):
                self._helpers.append(HelperProcess(begin))
        for helper in self._helpers:
            self._threads.append(threading.Thread(target=self._serve, args=[helper], daemon=True))
            self._threads[-1].start()

    def take(self, index: int) -> Apart | None:
        """Give what a file holds; None of one that is to be read here and now."""
        place = self._places.get(index)
        if place is None:
            return None
        from postmortem.host.helper_process import unpacked  # noqa: PLC0415 -- see `start`

        with self._changed:
            self._wanted = place
            self._changed.notify_all()
        while place not in self._done:
            own = self._claim()
            if own is not None:
                self._put(own, self._here(self._task(own)))
            else:
                with self._changed:
                    self._changed.wait_for(lambda: place in self._done or self._is_free())
        found = self._done.pop(place)
        apart: Apart | None = unpacked(found) if isinstance(found, mmap.mmap) else found
        if apart is not None:
            self._budget.left -= apart.seconds
        return apart

    def close(self) -> None:
        """End the other processes, whatever they are at."""
        with self._changed:
            self._next = len(self._files)
            self._changed.notify_all()
        for helper in self._helpers:
            helper.end()
        for thread in self._threads:
            thread.join()
        for helper in self._helpers:
            helper.close()
        self._helpers.clear()

    def _serve(self, helper: "HelperProcess") -> None:
        """Have one of the processes read file after file, until there is none or it is lost."""
        while not helper.is_lost and (place := self._claim_in_time()) is not None:
            self._put(place, helper.done(self._task(place)))

    def _claim_in_time(self) -> int | None:
        """Take the next file once it may be read; None when there is none any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_free() or self._next >= len(self._files))
            return self._claim()

    def _claim(self) -> int | None:
        """Take the next file; None if it may not be read now."""
        with self._changed:
            if not self._is_free():
                return None
            self._next += 1
            return self._next - 1

    def _is_free(self) -> bool:
        """Say whether the next file may be read."""
        ahead = len(self._helpers) + 1 + _AHEAD
        return self._next < min(len(self._files), self._wanted + ahead)

    def _put(self, place: int, found: Apart | mmap.mmap | None) -> None:
        with self._changed:
            self._done[place] = found
            self._changed.notify_all()

    def _task(self, place: int) -> FileApart:
        return FileApart(*self._files[place], self._budget.left)


def reading_with(
    found: Sequence[Candidate],
    processes: Mapping[str, Where],
    helpers: Helpers,
    *,
    here: Callable[[int], ReadsApart],
    budget: Budget,
    block_size: int,
) -> HelpedReading | None:
    """Begin to read the large files of a job in other processes too; None where that does not pay.

    Args:
        found: all files and streams of the job, in their order.
        processes: which the names of files tell.
        helpers: who else may read.
        here: gives who reads them in this process, so many bytes at a time.
        budget: of the job, for searches that are slow.
        block_size: bytes that are looked at in one go.
    """
    sizes = {index: _size(one) for index, one in enumerate(found)} if helpers.cores > 1 else {}
    large = {index: size for index, size in sizes.items() if size >= _LARGE}
    count = min(helpers.cores - 1, len(large) - 1, sum(large.values()) // _PAYS, _MOST)
    if count < 1:
        return None
    size = min(block_size, _BLOCK)
    files = [(index, found[index].path) for index in large]
    reading = HelpedReading(
        [(index, path, processes.get(path, NOWHERE)) for index, path in files], here(size), budget
    )
    reading.start(count, functools.partial(elsewhere, tuple(helpers.patterns), size))
    return reading


def _size(candidate: Candidate) -> int:
    """Give the bytes of a file that is to be read; 0 of anything else."""
    if candidate.skip or not is_file(candidate.origin):
        return 0
    try:
        status = Path(candidate.path).stat()
    except (OSError, ValueError):
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0
