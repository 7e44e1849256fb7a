"""Processes that do the calls, so that the server goes on answering whatever a call meets.

In: a function and its arguments. Out: what it gives, later. Not here: the work
(`assistant.at_call`).

A call that is cancelled, takes too long or crashes costs its process and nothing else: pebble ends
the process of one task, which the pool of the standard library cannot.
"""

import asyncio
import concurrent.futures
import multiprocessing
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Final

from pebble import ProcessExpired, ProcessPool

from postmortem.assistant.at_call import CallReply, CallSettings, get_ready
from postmortem.errors import UsageError
from postmortem.host.worker_process import end_with_parent

_WAITING: Final = 4
"""Calls for each process that may be under way or wait."""


class CallPool:
    """Processes for calls; they start when the pool is warmed or first used."""

    def __init__(self, settings: CallSettings, *, workers: int, seconds: float) -> None:
        """Take how many calls run at a time, and how long one may take."""
        self._settings, self._workers, self._seconds = settings, workers, seconds
        self._under_way = 0
        self._pool = self._new()

    def _new(self) -> ProcessPool:
        # Started anew, not forked: a fork of a process with threads may stand still.
        spawning = multiprocessing.get_context("spawn")
        return ProcessPool(max_workers=self._workers, initializer=end_with_parent, context=spawning)

    def warm(self) -> None:
        """Have the processes load the rules before the first call comes."""
        for _ in range(self._workers):
            self._pool.schedule(get_ready, args=[self._settings])

    async def reply(self, work: Callable[..., CallReply], *given: Any) -> CallReply:
        """Do a call in one of the processes; if it is cancelled, the process ends.

        Raises:
            PostmortemError: what the work itself raises, or: too many calls, too long, crashed.
        """
        if self._under_way >= _WAITING * self._workers:
            raise UsageError(
                f"{self._under_way} calls are under way already",
                "",
                "wait for one of them to end, then call again",
            )
        self._under_way += 1
        try:
            return await asyncio.wrap_future(self._begun(work, *given))
        except asyncio.TimeoutError as error:  # as asyncio converts the pool's; from 3.11 on one
            raise UsageError(
                f"not done after {self._seconds:,.0f} s",
                "",
                "name fewer or smaller files, or allow more: postmortem mcp --timeout SECONDS",
            ) from error
        except (ProcessExpired, BrokenProcessPool, MemoryError) as error:
            raise UsageError(
                "the process that did this call ended in the middle of it; the server goes on",
                "",
                "if it wanted too much memory, name fewer files or allow more with --memory",
            ) from error
        finally:
            self._under_way -= 1

    def _begun(
        self, work: Callable[..., CallReply], *given: Any
    ) -> "concurrent.futures.Future[CallReply]":
        if not self._pool.active:  # its processes ended again and again
            self.close()
            self._pool = self._new()
        future: concurrent.futures.Future[CallReply] = self._pool.schedule(
            work, args=[self._settings, *given], timeout=self._seconds
        )
        return future

    def close(self) -> None:
        """End the processes, whatever they are at."""
        self._pool.stop()  # type: ignore[no-untyped-call]  # as pebble wrote it
        self._pool.join()
