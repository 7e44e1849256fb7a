"""Run tool calls in worker processes, and convert failures to replies.

In: a function and its arguments. Out: its result, awaited. Not here: the work (`mcp.call_worker`),
the processes (`core.host.work_pool`).
"""

import functools
from collections.abc import Callable
from typing import Any, Final

from postmortem.core.errors import UsageError
from postmortem.core.host.work_pool import WorkerLost, WorkPool, WorkPoolFull, WorkTooLong
from postmortem.interfaces.mcp.call_worker import CallReply, CallSettings, get_ready

_WAITING: Final = 4
"""Calls for each process that may be under way or wait."""


class CallPool:
    """Processes for calls; they start when the pool is warmed or first used."""

    def __init__(self, settings: CallSettings, *, workers: int, seconds: float) -> None:
        """Take how many calls run at a time, and how long one may take."""
        self._settings, self._seconds = settings, seconds
        self._pool = WorkPool(
            functools.partial(get_ready, settings),
            workers=workers,
            seconds=seconds,
            most=_WAITING * workers,
        )

    def warm_up(self) -> None:
        """Have the processes load the rules before the first call comes."""
        self._pool.warm_up()

    async def reply(self, work: Callable[..., CallReply], *args: Any) -> CallReply:
        """Do a call in one of the processes; if it is cancelled, the process ends.

        Raises:
            PostmortemError: what the work itself raises, or: too many calls, too long, crashed.
        """
        try:
            return await self._pool.run(work, self._settings, *args)
        except WorkPoolFull as error:
            raise UsageError(
                f"{self._pool.under_way} calls are under way already",
                "",
                "wait for one of them to end, then call again",
            ) from error
        except WorkTooLong as error:
            raise UsageError(
                f"not done after {self._seconds:,.0f} s",
                "",
                "name fewer or smaller files, or allow more: postmortem mcp --timeout SECONDS",
            ) from error
        except WorkerLost as error:
            raise UsageError(
                "the process that did this call ended in the middle of it; the server goes on",
                "",
                "if it wanted too much memory, name fewer files or allow more with --memory",
            ) from error

    def close(self) -> None:
        """End the processes, whatever they are at."""
        self._pool.close()
