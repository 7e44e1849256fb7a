"""Forward a command's output to a standard stream without holding up the command.

In: pieces of output. Out: the same bytes in one of our standard streams, and how many were not
taken. Not here: reading the command's pipes (`core.host.launching`).

A thread writes, so that a reader that is slow, or stands still, holds up neither the log nor the
other stream. A command is made to wait for it as it would without us, but later: once 16 MiB are
waiting.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from postmortem.core.host.streams import describe_stream_error, write_all

_MOST: Final = 16 << 20
"""Bytes that may wait for the reader."""
_LOOK: Final = 0.2
"""Seconds between two looks whether waiting still makes sense."""


class OutputForwarder:
    """One open file that output is passed on to."""

    def __init__(self, number: int, name: str) -> None:
        """Begin."""
        self.name, self.lost, self.fault = name, 0, ""
        self._number = number
        self._queue: deque[bytes] = deque()
        self._held = 0
        self._changed = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def put(self, data: bytes, is_waiting: Callable[[], bool]) -> None:
        """Pass a piece on; where too much is waiting already, stay as long as `is_waiting` says."""
        with self._changed:
            self._queue.append(data)
            self._held += len(data)
            self._changed.notify_all()
            while self._held > _MOST and is_waiting():
                self._changed.wait(_LOOK)

    def finish(self, is_waiting: Callable[[float], bool]) -> None:
        """Wait until all output is forwarded; what is left when the wait ends is lost.

        Args:
            is_waiting: says whether to stay, told for how many seconds the reader has taken
                nothing.
        """
        with self._changed:
            held, since = self._held, time.monotonic()
            while self._held and is_waiting(time.monotonic() - since):
                self._changed.wait(_LOOK)
                if self._held < held:
                    held, since = self._held, time.monotonic()
            if self._held:
                self.lost += self._held
                self.fault = self.fault or "its reader did not read on"
                self._queue.clear()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._queue:
                    self._changed.wait()
                data = self._queue.popleft()
            lost, error = write_all(self._number, data)
            with self._changed:
                self._held -= len(data)
                self.lost += lost
                if (
                    error is not None
                ):  # the next piece is tried all the same: a full disk may have room again
                    self.fault = describe_stream_error(error)
                self._changed.notify_all()
