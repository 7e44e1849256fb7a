"""A pool of worker processes on this machine; a failing task affects no other.

In: tasks. Out: their outcomes, as they come. Not here: the work, the order of tasks.

Pebble's pool: a process that crashes or takes too long costs its own task and no other; the pool
of the standard library breaks as a whole, and cannot end a task.
"""

import concurrent.futures
from collections.abc import Iterator
from typing import Any

from postmortem.core.errors import MissingExtra, install_hint
from postmortem.fleet.worker_tasks import (
    JobSettings,
    Task,
    TaskOutcome,
    Work,
    build_crash_outcome,
    build_timeout_outcome,
)

try:
    from pebble import ProcessExpired

    from postmortem.core.host.work_pool import create_process_pool
except ImportError as error:
    raise MissingExtra("triage needs pebble", "", install_hint("triage")) from error

_AHEAD = 2
"""Tasks in flight for each worker, so that none waits for the next."""


class ProcessEngine:
    """Processes of this machine."""

    def __init__(self, workers: int, settings: JobSettings) -> None:
        """Start the pool; its processes load the rules when their first task comes."""
        self.workers = workers
        self._settings = settings
        self._pool = create_process_pool(workers)

    def run(self, work: Work, tasks: Iterator[Task]) -> Iterator[tuple[Task, TaskOutcome]]:
        """Do tasks, a few more in flight than there are workers."""
        in_flight: dict[concurrent.futures.Future[Any], Task] = {}
        is_more = True
        while is_more or in_flight:
            while is_more and len(in_flight) < _AHEAD * self.workers:
                task = next(tasks, None)
                if task is None:
                    is_more = False
                else:
                    in_flight[self._begun(work, task)] = task
            done, _ = concurrent.futures.wait(
                in_flight, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in done:
                task = in_flight.pop(future)
                yield task, _get_outcome(future, task)

    def _begun(self, work: Work, task: Task) -> concurrent.futures.Future[Any]:
        future: concurrent.futures.Future[Any] = self._pool.schedule(
            work, args=[self._settings, *task.arguments], timeout=task.seconds
        )
        return future

    def close(self) -> None:
        """End the processes, whatever they are at."""
        self._pool.stop()  # type: ignore[no-untyped-call]  # as pebble wrote it
        self._pool.join()


def _get_outcome(future: concurrent.futures.Future[Any], task: Task) -> TaskOutcome:
    try:
        outcome: TaskOutcome = future.result()
    except concurrent.futures.TimeoutError:
        return build_timeout_outcome(task.seconds)
    except ProcessExpired as error:
        return build_crash_outcome(f"exit status {error.exitcode}")
    return outcome
