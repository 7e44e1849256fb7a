"""Signals that are sent to this process and meant for the command that it runs.

In: signals. Out: the same signals, sent to the command. Not here: starting it for a purpose
(`host.launch`).

What a terminal sends (Ctrl-C) reaches the command by itself, since it is in the same process group:
passed on, it would come twice, and the second one cuts short what the command does at the first,
such as saving a checkpoint. The kernel tells who sent a signal only to a process that waits for it,
so a thread waits. Signals that were ignored from the start (nohup, a background job of a plain
shell) stay ignored, by the command too.
"""

import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

_MEANT: Final = tuple(
    number
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    if (number := getattr(signal, name, None)) is not None
)
"""The last two tell trainings to save a checkpoint.

Unhandled, each of them would end this process and with it the command's output.
"""


class Signals:
    """Passes signals on to the process that it started last; this process dies of none of them."""

    def __init__(self) -> None:
        """Take over the signals, in the main thread and before any other thread is started."""
        self._target: subprocess.Popen[bytes] | None = None
        self._early: list[signal.Signals] = []
        """What came before there was a process to send it to."""
        self._lock = threading.RLock()
        self.unheard = threading.Event()
        """Set once a signal came for which there was no process any more."""
        self.heard = threading.Event()
        """Set once any signal came."""
        self._numbers = {
            number for number in _MEANT if signal.getsignal(number) is not signal.SIG_IGN
        }
        self._before = {number: signal.signal(number, self._at_once) for number in self._numbers}
        signal.pthread_sigmask(signal.SIG_BLOCK, self._numbers)
        self._is_over = not self._numbers
        self._waiting = threading.Thread(target=self._wait, daemon=True)
        self._waiting.start()

    def close(self) -> None:
        """Give them back."""
        if not self._is_over:
            self._is_over = True
            signal.pthread_kill(
                self._waiting.ident or 0, next(iter(self._numbers))
            )  # it waits for one of them
            self._waiting.join()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._numbers)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def start(self, words: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":
        """Start a process that gets the signals from now on.

        Raises:
            OSError: it cannot be started.
        """
        self._target = None
        with self.unblocked():
            started = subprocess.Popen(list(words), **options)
        with self._lock:
            self._target = started
            while self._early:
                started.send_signal(self._early.pop(0))
        return started

    @contextmanager
    def unblocked(self) -> Iterator[None]:
        """Start a process within this: what is blocked here would be blocked there."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._numbers)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, self._numbers)

    def _wait(self) -> None:
        """Pass on what comes."""
        while not self._is_over:
            if hasattr(signal, "sigwaitinfo"):
                told = signal.sigwaitinfo(self._numbers)
                number, is_from_terminal = (
                    told.si_signo,
                    told.si_code > 0,
                )  # sent by the kernel, not by a process
            else:
                number, is_from_terminal = signal.sigwait(self._numbers), False
            if not self._is_over:
                self._take(signal.Signals(number), is_from_terminal=is_from_terminal)

    def _at_once(self, number: int, _frame: FrameType | None) -> None:
        """Take a signal that came while a process was being started."""
        self._take(signal.Signals(number), is_from_terminal=False)

    def _take(self, number: signal.Signals, *, is_from_terminal: bool) -> None:
        self.heard.set()
        with self._lock:
            if self._target is None:
                self._early.append(number)
            elif self._target.poll() is not None:
                self.unheard.set()
            elif not is_from_terminal:
                self._target.send_signal(number)
