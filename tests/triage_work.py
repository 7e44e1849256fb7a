"""Work that goes wrong, for worker processes to import."""

import os
import signal
import time

from postmortem.triage.found_jobs import JUDGED
from postmortem.triage.workers.tasks import JobSettings, TaskOutcome


def behave(_settings: JobSettings, how: str) -> TaskOutcome:
    """Do as told."""
    if how == "exit":
        os._exit(3)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    while how == "for ever":
        time.sleep(0.1)
    return TaskOutcome(JUDGED, how.upper())


def die_once(_settings: JobSettings, mark: str) -> TaskOutcome:
    """Lose the worker the first time, as a machine that goes away does."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return TaskOutcome(JUDGED, "second time")
    os.kill(os.getpid(), signal.SIGKILL)
    return TaskOutcome(JUDGED, "never")
