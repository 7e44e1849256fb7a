"""Work that goes wrong, for worker processes to import."""

import os
import signal
import time

from postmortem.triage.found_jobs import JUDGED
from postmortem.triage.tasks import Outcome, Settings


def behave(_settings: Settings, how: str) -> Outcome:
    """Do as told."""
    if how == "exit":
        os._exit(3)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    while how == "for ever":
        time.sleep(0.1)
    return Outcome(JUDGED, how.upper())


def die_once(_settings: Settings, mark: str) -> Outcome:
    """Lose the worker the first time, as a machine that goes away does."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return Outcome(JUDGED, "second time")
    os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(JUDGED, "never")
