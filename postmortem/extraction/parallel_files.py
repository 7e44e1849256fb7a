"""Read the large files of a job in several processes, each file independently of the others.

In: the files in their order, their numbers in the job, the rules. Out: `FileResult`s in the order
of the files, the same as if each had been read between the others. Not here: how a file is read
(`extraction.source_reader`), putting the parts together (`extraction.job`), files whose meaning
depends on others.

Files are read in their order, but for one so large that the others would wait for it at the end. No
more of them are read ahead of the one that is wanted next than there is room for: what they hold
waits in memory. A file whose process is lost is read here, as all files are where there is no other
process.
"""

import functools
import gc
import heapq
import mmap
import os
import stat
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.extraction.literals import Matcher
from postmortem.extraction.source_reader import (
    Progress,
    SourceReader,
    SourceResult,
    read_whole_source,
)
from postmortem.reading.discover import Candidate
from postmortem.reading.sources import is_file
from postmortem.rules.base import load
from postmortem.rules.engine import Budget

if TYPE_CHECKING:
    from postmortem.core.host.helper_process import HelperProcess


class ParallelReaders(NamedTuple):
    """Who else may read."""

    cores: int = 1
    """Processes that may be busy at once, this one among them."""
    patterns: Sequence[Path] = ()
    """Further folders of rules."""


class FileTask(NamedTuple):
    """A file that is to be read."""

    number: int
    """Its number among the sources of the job."""
    path: str
    where: ProcessId
    """The process that its name tells."""
    seconds: float
    """What the job may still spend in searches that are slow."""


class FileResult(NamedTuple):
    """A file that was read."""

    whole: SourceResult
    seconds: float
    """What was spent in searches that are slow."""


ReadsFile = Callable[[FileTask], FileResult | None]
"""Gives None of a file that must be read in its turn: it failed, or hangs on others."""


def create_local_reader(
    matcher: Matcher, block_size: int, progress: Progress | None = None
) -> ReadsFile:
    """Give who reads files in this process."""
    return functools.partial(_read_file, matcher, block_size, progress)


def create_worker_reader(patterns: Sequence[Path], block_size: int) -> ReadsFile:
    """Give who reads files in a process that does nothing else: it loads the rules first."""
    gc.disable()
    matcher = Matcher(load(patterns))
    gc.enable()
    gc.freeze()
    return create_local_reader(matcher, block_size)


def _read_file(
    matcher: Matcher, block_size: int, progress: Progress | None, file: FileTask
) -> FileResult | None:
    budget = Budget(file.seconds)
    sources = SourceReader(matcher, block_size, budget, progress)
    try:
        whole = read_whole_source(sources, file.path, file.number, file.where)
    except Exception:
        if os.environ.get("POSTMORTEM_DEBUG"):
            raise
        return None  # read once more in its turn, it fails again, and is told of there
    return None if sources.is_shared else FileResult(whole, file.seconds - budget.left)


_LARGE: Final = 1 << 15
"""Bytes of a file that is worth handing over."""
_PAYS: Final = 24 << 20
"""Bytes to read that are worth another process, which must load the rules first."""
_MOST_PROCESSES: Final = 7
"""Other processes: each holds the rules and a file's figures."""
_MAX_WAITING_BYTES: Final = 16 << 20
"""Bytes of what waits for its turn beyond which only the file that is wanted next is begun."""
_POINT: Final = 24
"""Bytes of a point of a series."""


class LargeFile(NamedTuple):
    """A file that may be read by another process."""

    number: int
    """Its number among the sources of the job."""
    path: str
    where: ProcessId
    """The process that its name tells."""
    size: int
    """Its bytes."""


class ParallelReading:
    """Gives what the large files of a job hold, each when its turn comes."""

    def __init__(self, files: Sequence[LargeFile], here: ReadsFile, budget: Budget) -> None:
        """Take the files in their order, who reads here, the budget of the job."""
        self._files, self._here, self._budget = files, here, budget
        self._left = {place: file.size for place, file in enumerate(files)}
        """Bytes of the files that nobody has taken, by their places in `_files`."""
        self._largest = sorted((-size, place) for place, size in self._left.items())
        """A heap of the same; some of it may be taken."""
        self._bytes_left = sum(self._left.values())
        self._wanted = 0
        """The place whose turn comes next."""
        self._done: dict[int, FileResult | mmap.mmap | None] = {}
        """By place, those that were read elsewhere still packed."""
        self._waiting = 0
        """Bytes that these take."""
        self._changed, self._helpers = threading.Condition(), list["HelperProcess"]()
        self._threads: list[threading.Thread] = []
        self._places = {file.number: place for place, file in enumerate(files)}

    def start(self, count: int, begin: Callable[[], ReadsFile]) -> None:
        """Start so many other processes, or as many as can be started."""
        # Most jobs are small, and do not pay for the import.
        from postmortem.core.host.helper_process import HelperProcess, NoHelper  # noqa: PLC0415

        with suppress(NoHelper):
            for _ in range(count):
                self._helpers.append(HelperProcess(begin))
        for helper in self._helpers:
            self._threads.append(threading.Thread(target=self._serve, args=[helper], daemon=True))
            self._threads[-1].start()

    def take(self, index: int) -> FileResult | None:
        """Give what a file holds; None of one that is to be read here and now."""
        place = self._places.get(index)
        if place is None:
            return None
        from postmortem.core.host.helper_process import unpack_result  # noqa: PLC0415 -- see `start`

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
        with self._changed:
            found = self._done.pop(place)
            self._waiting -= _estimate_memory(found)
            self._changed.notify_all()
        apart: FileResult | None = unpack_result(found) if isinstance(found, mmap.mmap) else found
        if apart is not None:
            self._budget.left -= apart.seconds
        return apart

    def close(self) -> None:
        """End the other processes, whatever they are at."""
        with self._changed:
            self._left.clear()
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
            self._put(place, helper.run(self._task(place)))

    def _claim_in_time(self) -> int | None:
        """Take the next file once it may be read; None when there is none any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_free() or not self._left)
            return self._claim()

    def _claim(self) -> int | None:
        """Take the next file; None if it may not be read now."""
        with self._changed:
            if not self._is_free():
                return None
            place = self._choose_best()
            self._bytes_left -= self._left.pop(place)
            return place

    def _is_free(self) -> bool:
        """Say whether a further file may be read."""
        return self._wanted in self._left or bool(self._left and self._waiting < _MAX_WAITING_BYTES)

    def _choose_best(self) -> int:
        """Choose a file: the first, or one that is each process's share of all that are left."""
        while self._largest[0][1] not in self._left:
            heapq.heappop(self._largest)
        size, place = self._largest[0]
        is_large = -size * (len(self._helpers) + 1) >= self._bytes_left
        return place if is_large and self._waiting < _MAX_WAITING_BYTES else next(iter(self._left))

    def _put(self, place: int, found: FileResult | mmap.mmap | None) -> None:
        with self._changed:
            self._done[place] = found
            self._waiting += _estimate_memory(found)
            self._changed.notify_all()

    def _task(self, place: int) -> FileTask:
        file = self._files[place]
        return FileTask(file.number, file.path, file.where, self._budget.left)


def start_parallel_reading(
    found: Sequence[Candidate],
    processes: Mapping[str, ProcessId],
    helpers: ParallelReaders,
    *,
    here: Callable[[int], ReadsFile],
    budget: Budget,
    block_size: int,
) -> ParallelReading | None:
    """Begin to read the large files of a job in other processes too; None where that does not pay.

    Args:
        found: all files and streams of the job, in their order.
        processes: which the names of files tell.
        helpers: who else may read.
        here: gives who reads them in this process, so many bytes at a time.
        budget: of the job, for searches that are slow.
        block_size: bytes that are looked at in one go.
    """
    sizes = (
        {index: _get_size(candidate) for index, candidate in enumerate(found)}
        if helpers.cores > 1
        else {}
    )
    large = {index: size for index, size in sizes.items() if size >= _LARGE}
    count = min(helpers.cores - 1, len(large) - 1, sum(large.values()) // _PAYS, _MOST_PROCESSES)
    if count < 1:
        return None
    files = [
        LargeFile(index, path := found[index].path, processes.get(path, NOWHERE), large[index])
        for index in large
    ]
    reading = ParallelReading(files, here(block_size), budget)
    reading.start(
        count, functools.partial(create_worker_reader, tuple(helpers.patterns), block_size)
    )
    return reading


def _estimate_memory(found: FileResult | mmap.mmap | None) -> int:
    """Give about the bytes that what was read takes."""
    if isinstance(found, mmap.mmap):
        return len(found)
    series = [] if found is None else found.whole.part.series.values()
    return _POINT * sum(len(curve.values) for curve in series)


def _get_size(candidate: Candidate) -> int:
    """Give the bytes of a file that is to be read; 0 of anything else."""
    if candidate.skip or not is_file(candidate.origin):
        return 0
    try:
        status = Path(candidate.path).stat()
    except (OSError, ValueError):
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0
