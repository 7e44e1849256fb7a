"""Small processes that run next to a command and outlive this one.

In: the command's words, the log, the pipes that the command writes to. Out: when a signal last
came to such a process; if this process is killed, what the command prints, in the log. Not here:
what the process does (`core.host.sidecar_main`), what follows from a signal (`core.host.signals`).

The kernel does not tell a process whether a signal that it received went to others as well. A
process that stands where the command stands, and notes what it receives, does.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from postmortem.core.host import sidecar_main

_PATIENCE: Final = 5.0
"""Seconds for an answer: on a busy machine the process may still be starting."""

_END_WITHIN: Final = 0.5
"""Seconds for its end once nothing more comes from here."""


class Sidecar:
    """One such process."""

    def __init__(
        self,
        words: Sequence[str],
        log: int | None = None,
        pipes: Sequence[int] = (),
        *,
        is_apart: bool = False,
    ) -> None:
        """Start it, in a thread that blocks the signals that are to be noted.

        Args:
            words: the command's. They stand in the process's command line, since `pkill -f
                train.py` selects the command by them; the name of this program does not.
            log: where it writes what it reads; None: nowhere.
            pipes: what it reads once this process has gone.
            is_apart: start it in a session of its own, not in this process's group.
        """
        self._control, theirs = socket.socketpair()
        self._control.settimeout(_PATIENCE)
        self._is_lost = False
        self._process: subprocess.Popen[bytes] | None = None
        kept = os.open(os.devnull, os.O_WRONLY) if log is None else os.dup(log)
        numbers = (theirs.fileno(), kept, *pipes)
        python = getattr(sys, "_base_executable", None) or sys.executable
        try:
            with open(sidecar_main.__file__, "rb") as script:  # noqa: PTH123 -- the path would stand in the command line
                self._process = subprocess.Popen(
                    [python, "-I", "-S", "-", ",".join(map(str, numbers)), *words],
                    pass_fds=numbers,
                    stdin=script,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=is_apart,
                    cwd="/",
                )
        except (OSError, ValueError):  # no process to be had: the command runs without
            self.close()
        finally:
            theirs.close()
            os.close(kept)

    def last_received(self, number: int) -> float:
        """Give when the process last received a signal, by the monotonic clock; 0: never."""
        if self._is_lost:
            return sidecar_main.NEVER
        try:
            self._control.sendall(bytes([number]))
            answer = self._control.recv(sidecar_main.ANSWER.size, socket.MSG_WAITALL)
        except OSError:
            answer = b""
        if len(answer) < sidecar_main.ANSWER.size:  # it is gone, or stopped: a late answer is none
            self._is_lost = True
            return sidecar_main.NEVER
        return float(sidecar_main.ANSWER.unpack(answer)[0])

    def close(self) -> None:
        """Let it read the pipes to their end, and end.

        As a rule that is at once. It is not waited for any longer: what the command started may
        hold its pipes, and then it outlives this process on purpose.
        """
        with suppress(OSError):
            self._control.close()
        if self._process is None:
            return
        try:
            self._process.wait(_END_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.returncode = 0  # else Python warns that it still runs
