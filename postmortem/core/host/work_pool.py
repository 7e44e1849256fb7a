"""A pool of worker processes for a server, which survives tasks that crash or hang.

In: a function of a module and its arguments. Out: what it gives, later. Not here: the work, what is
said of a piece of work that was not done.

Work that is cancelled, takes too long or crashes costs its process and nothing else: pebble ends
the process of one task, which the pool of the standard library cannot.
"""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.context import SpawnContext
from multiprocessing.synchronize import RLock
from typing import Any, TypeVar

from pebble import ProcessExpired, ProcessPool

from postmortem.core.host.helper_process import end_with_parent

_Result = TypeVar("_Result")
Ready = Callable[[], object]
"""What a process does before its first piece of work, outside of the time that work may take."""


class WorkUndone(Exception):  # noqa: N818 -- what became of the work
    """A piece of work was not done, whatever it was."""


class WorkPoolFull(WorkUndone):
    """As much as there may be is under way."""


class WorkTooLong(WorkUndone):
    """It took longer than it may."""


class WorkerLost(WorkUndone):
    """Its process ended in the middle of it, or it wanted more memory than it may have."""


def create_process_pool(workers: int, ready: Ready | None = None) -> ProcessPool:
    """Give processes that end with this one; they start with their first work.

    Started anew, not forked: a fork of a process with threads may stand still.
    """
    return ProcessPool(
        max_workers=workers,
        initializer=_begin,
        initargs=[ready],
        context=_KeptLocks(),
    )


class _KeptLocks(SpawnContext):
    """Starts processes anew, and keeps their locks for as long as there may be such a process.

    Pebble gives the locks of its processes back before it ends these: one that is just about to
    start would look for them, and print a traceback.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[RLock] = []

    def RLock(self) -> RLock:  # noqa: N802 -- the name that it has in `multiprocessing`
        """Give a lock, and keep it."""
        self._kept.append(lock := super().RLock())
        return lock


def _begin(ready: Ready | None) -> None:
    end_with_parent()
    if ready is not None:
        with suppress(Exception):  # it is met again, and told, with the first work
            ready()


class WorkPool:
    """Processes for work; they start when the pool is warmed or first used."""

    def __init__(self, ready: Ready, *, workers: int, seconds: float, most: int) -> None:
        """Take how many pieces are done at a time, how long one may take, how many may wait.

        Args:
            ready: a picklable function that has a process get ready, harmless to do twice.
            workers: processes.
            seconds: that one piece of work may take.
            most: pieces of work that may be under way or wait.
        """
        self._ready, self._workers, self.seconds, self._most = ready, workers, seconds, most
        self.under_way = 0
        """Pieces of work that are done now, or wait."""
        self._pool = create_process_pool(workers, ready)
        self._closing = threading.Lock()
        self._waited_for = set["concurrent.futures.Future[Any]"]()

    @property
    def is_alive(self) -> bool:
        """Say whether there are processes, or will be with the next work."""
        return bool(self._pool.active)

    def warm_up(self) -> "list[concurrent.futures.Future[Any]]":
        """Have the processes get ready before the first work comes."""
        return [self._pool.schedule(self._ready) for _ in range(self._workers)]

    async def run(self, work: Callable[..., _Result], *arguments: Any) -> _Result:
        """Do a piece of work in one of the processes; if it is cancelled, its process ends.

        Raises:
            WorkUndone: too much is under way, it took too long, its process was lost.
            Exception: what the work itself raises.
        """
        if self.under_way >= self._most:
            raise WorkPoolFull
        self.under_way += 1
        try:
            return await asyncio.wrap_future(self._begin_task(work, *arguments))
        except asyncio.TimeoutError as error:  # as asyncio converts the pool's; from 3.11 on one
            raise WorkTooLong from error
        except (ProcessExpired, BrokenProcessPool, MemoryError) as error:
            raise WorkerLost from error
        finally:
            self.under_way -= 1

    def _begin_task(
        self, work: Callable[..., _Result], *arguments: Any
    ) -> "concurrent.futures.Future[_Result]":
        if not self._pool.active:  # closed, or its processes ended again and again
            self.close()
            self._pool = create_process_pool(self._workers, self._ready)
        future: concurrent.futures.Future[_Result] = self._pool.schedule(
            work, args=arguments, timeout=self.seconds
        )
        self._waited_for.add(future)
        future.add_done_callback(self._waited_for.discard)
        return future

    def close(self) -> None:
        """End the processes, whatever they are at; work that comes later starts others.

        Who waits for work learns at once that it is cancelled.
        """
        for future in tuple(self._waited_for):
            future.cancel()
        with self._closing:
            self._pool.stop()  # type: ignore[no-untyped-call]  # as pebble wrote it
            self._pool.join()
