"""Forward signals to the command that this process runs, with small processes that run beside it.

In: signals; the command's words, the log, the pipes that the command writes to. Out: the same
signals, sent to the command unless it received them itself; if this process is killed, what the
command prints, in the log. Not here: starting a command for a purpose (`core.host.launching`), what
a sidecar does (`core.host.sidecar_main`).

A signal may go to this process alone, to its process group (a terminal's Ctrl-C, `timeout`, `kill
-- -PGID`) or to every process of a job (Slurm, systemd); in the last two cases the command receives
it as well. Passed on, it would come twice, and the second one cuts short what the command does at
the first, such as saving a checkpoint. The kernel does not tell a process whether a signal that it
received went to others as well. So a sidecar in the same group, and one outside of it, note what
they receive: a signal that reached the sidecar that stands where the command stands has reached the
command.

Senders that go from process to process need a moment, so a signal is passed on after a short time;
the same signal once more within it is one, as for the kernel while a signal is pending. Signals
that were ignored from the start (nohup, a background job of a plain shell) stay ignored, by the
command too.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final, NamedTuple

from postmortem.core.host import sidecar_main

_ANSWER_PATIENCE: Final = 5.0
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
        self._control.settimeout(_ANSWER_PATIENCE)
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


_MEANT: Final = tuple(
    number
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    if (number := getattr(signal, name, None)) is not None
)
"""The last two tell trainings to save a checkpoint.

Unhandled, each of them would end this process and with it the command's output.
"""

_SPREAD: Final = 0.25
"""Seconds within which one sender's signals reach all of its processes."""
_EARLIEST: Final = 1.0
"""Seconds by which a sidecar's signal may be older than ours, which waits behind others."""


class _Target(NamedTuple):
    """A process that gets the signals."""

    process: "subprocess.Popen[bytes]"
    started: float
    """By the monotonic clock, before it was there."""


class Signals:
    """Passes signals on to the process that it started last; this process dies of none of them."""

    def __init__(self) -> None:
        """Take over the signals, in the main thread and before any other thread is started."""
        self._target: _Target | None = None
        self._sidecars: tuple[Sidecar, Sidecar] | None = None
        self._early: list[signal.Signals] = []
        """What came before there was a process to send it to."""
        self._settled: dict[signal.Signals, float] = {}
        """When each signal was last passed on, or found to have reached the process."""
        self._lock = threading.RLock()
        self.unheard = threading.Event()
        """Set once a signal came for which there was no process any more."""
        self.heard = threading.Event()
        """Set once any signal came."""
        self._numbers = {
            number for number in _MEANT if signal.getsignal(number) is not signal.SIG_IGN
        }
        signal.pthread_sigmask(signal.SIG_BLOCK, self._numbers)
        self._is_over = not self._numbers
        self._waiting = threading.Thread(target=self._wait, daemon=True)
        self._waiting.start()
        self._before = {number: signal.signal(number, self._redirect) for number in self._numbers}

    def close(self) -> None:
        """Give them back."""
        if not self._is_over:
            self._is_over = True
            signal.pthread_kill(
                self._waiting.ident or 0, next(iter(self._numbers))
            )  # it waits for one of them
            self._waiting.join()
        for sidecar in self._sidecars or ():
            sidecar.close()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._numbers)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def add_sidecars(self, inside: Sidecar, outside: Sidecar) -> None:
        """Ask from now on which signals reach others as well.

        Args:
            inside: stands in this process's group.
            outside: stands in a group of its own.
        """
        self._sidecars = inside, outside

    def start(self, words: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":
        """Start a process that gets the signals from now on.

        Raises:
            OSError: it cannot be started.
        """
        self._target, started = None, time.monotonic()
        with self._unblock_signals():
            process = subprocess.Popen(list(words), **options)
        with self._lock:
            self._target = _Target(process, started)
            while self._early:
                process.send_signal(self._early.pop(0))
        return process

    @contextmanager
    def _unblock_signals(self) -> Iterator[None]:
        """Start a process within this: what is blocked here would be blocked there."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._numbers)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, self._numbers)

    def _redirect(self, number: int, _frame: FrameType | None) -> None:
        """Leave a signal that came while a process was being started to the thread that waits."""
        signal.pthread_kill(self._waiting.ident or 0, number)

    def _wait(self) -> None:
        """Take what comes; the same signal again before it is passed on is dropped."""
        repeated: set[signal.Signals] = set()
        while not self._is_over:
            number = signal.Signals(signal.sigwait(self._numbers))
            if number in repeated:
                repeated.discard(number)
            elif not self._is_over:
                self.heard.set()
                target, received = self._target, time.monotonic()
                if target is not None and self._has_ended(target, number):
                    self.unheard.set()
                    continue
                time.sleep(_SPREAD)
                repeated |= {number} & signal.sigpending()
                self._settle(number, received, target or self._target)

    def _has_ended(self, target: _Target, number: signal.Signals) -> bool:
        """Say whether a process ended before a signal came, rather than by it."""
        status = target.process.poll()
        is_first = self._settled.get(number, 0.0) < target.started
        return status is not None and not (status == -number and is_first)

    def _settle(self, number: signal.Signals, received: float, target: _Target | None) -> None:
        """Pass a signal on, unless the process that was its target received it itself."""
        is_received = target is not None and self._has_reached(target, number, received)
        self._settled[number] = time.monotonic()
        if is_received:
            return
        with self._lock:
            if self._target is None:
                self._early.append(number)
            elif self._target.process.poll() is not None:
                self.unheard.set()
            else:
                self._target.process.send_signal(number)

    def _has_reached(self, target: _Target, number: signal.Signals, received: float) -> bool:
        """Say whether a process received a signal by itself."""
        if target.process.poll() == -number:  # and did not end before: see `_has_ended`
            return True
        if self._sidecars is None:
            return False
        inside, outside = self._sidecars
        since = max(received - _EARLIEST, target.started, self._settled.get(number, 0.0))
        sidecar = inside if _is_in_our_group(target.process) else outside
        return sidecar.last_received(number) >= since


def _is_in_our_group(process: "subprocess.Popen[bytes]") -> bool:
    """Say whether a process stands in our group; one that has ended did."""
    try:
        return os.getpgid(process.pid) == os.getpgrp()
    except ProcessLookupError:
        return True
