"""Calls that go wrong, for the server's processes to import."""

import os
import signal
import time

from postmortem.core.errors import InputError
from postmortem.interfaces.mcp.call_worker import CallReply, CallSettings


def behave(_settings: CallSettings, how: str) -> CallReply:
    """Do as told."""
    if how == "exit":
        os._exit(3)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "refuse":
        raise InputError("no log", "run.log", "name another")
    if how == "out of memory":
        raise MemoryError
    while how == "for ever":
        time.sleep(0.1)
    return CallReply(how.upper(), {})
