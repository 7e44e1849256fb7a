"""Workers of a Ray cluster: the same work as Ray tasks, here or on other machines.

In: tasks. Out: their outcomes, as they come. Not here: the work, the order of tasks.

A task whose worker or machine is lost is tried again elsewhere; one that loses its worker each time
is the one at fault.
"""

import contextlib
import logging
import time
from collections.abc import Iterator
from typing import Any, Final

import ray
from ray import exceptions

from postmortem.core.errors import InputError
from postmortem.fleet.worker_tasks import (
    JobSettings,
    Task,
    TaskOutcome,
    Work,
    build_crash_outcome,
    build_memory_outcome,
    build_timeout_outcome,
)

_TRIES: Final = 2
"""Times that a task is tried again whose worker was lost."""
_LOOK: Final = 1.0
"""Seconds after which deadlines are looked at."""


class RayEngine:
    """A Ray cluster, or Ray on this machine."""

    def __init__(self, workers: int, settings: JobSettings, address: str | None = None) -> None:
        """Connect, or start Ray with so many workers.

        Raises:
            InputError: the cluster cannot be reached.
        """
        self.workers, self._settings = workers, settings
        self._own = not ray.is_initialized()
        if self._own:
            here: dict[str, Any] = {"address": address} if address else {"num_cpus": workers}
            try:
                ray.init(
                    **here,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise InputError(
                    f"the Ray cluster cannot be reached: {error}", address or "", "check --address"
                ) from error

    def run(self, work: Work, tasks: Iterator[Task]) -> Iterator[tuple[Task, TaskOutcome]]:
        """Do tasks, as many in flight as there are workers, so that each deadline is its own."""
        remote = ray.remote(num_cpus=1, max_retries=_TRIES)(work)
        in_flight: dict[Any, tuple[Task, float]] = {}
        is_more = True
        while is_more or in_flight:
            while is_more and len(in_flight) < self.workers:
                task = next(tasks, None)
                if task is None:
                    is_more = False
                else:
                    reference = remote.remote(self._settings, *task.arguments)
                    in_flight[reference] = (task, time.monotonic() + task.seconds)
            done, _ = ray.wait([*in_flight], timeout=_LOOK) if in_flight else ([], [])
            for reference in done:
                task, _ = in_flight.pop(reference)
                yield task, self._outcome(reference, task)
            yield from self._late(in_flight)

    def _outcome(self, reference: Any, task: Task) -> TaskOutcome:
        try:
            outcome: TaskOutcome = ray.get(reference)
        except exceptions.OutOfMemoryError:
            return build_memory_outcome(self._settings.memory)
        except exceptions.TaskCancelledError:
            return build_timeout_outcome(task.seconds)
        except exceptions.WorkerCrashedError:
            return build_crash_outcome("its worker was lost each time")
        except exceptions.RayError as error:
            return build_crash_outcome(type(error).__name__)
        return outcome

    def _late(self, in_flight: dict[Any, tuple[Task, float]]) -> Iterator[tuple[Task, TaskOutcome]]:
        """End the tasks whose time is up."""
        now = time.monotonic()
        for reference in [key for key, (_, until) in in_flight.items() if until < now]:
            task, _ = in_flight.pop(reference)
            with contextlib.suppress(exceptions.RayError):
                ray.cancel(reference, force=True)
            yield task, build_timeout_outcome(task.seconds)

    def close(self) -> None:
        """Leave the cluster; Ray that was started here ends."""
        if self._own:
            ray.shutdown()
