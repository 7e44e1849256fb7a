"""Work that goes wrong, for worker processes to import."""

import os
import signal
import time
from pathlib import Path

from postmortem.fleet.store.stored_rows import JUDGED
from postmortem.fleet.worker_pool import ProcessEngine
from postmortem.fleet.worker_tasks import JobSettings, Task, TaskOutcome


def behave(_settings: JobSettings, how: str) -> TaskOutcome:
    """Do as told."""
    if how == "exit":
        os._exit(3)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    while how == "for ever":
        time.sleep(0.1)
    return TaskOutcome(JUDGED, how.upper())


def tell_and_stay(_settings: JobSettings, mark: str) -> TaskOutcome:
    """Write who does it, and never end."""
    part = Path(f"{mark}.part")
    part.write_text(str(os.getpid()), encoding="ascii")
    part.rename(mark)
    return behave(_settings, "for ever")


def run_for_ever(mark: str) -> None:
    """Have a pool do a task that never ends."""
    engine = ProcessEngine(1, JobSettings())
    for _ in engine.run(tell_and_stay, iter([Task("stay", (mark,), 600.0)])):
        pass


def die_once(_settings: JobSettings, mark: str) -> TaskOutcome:
    """Lose the worker the first time, as a machine that goes away does."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return TaskOutcome(JUDGED, "second time")
    os.kill(os.getpid(), signal.SIGKILL)
    return TaskOutcome(JUDGED, "never")
