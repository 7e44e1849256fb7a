"""Open a named pipe without waiting for ever.

In: the path of a FIFO or of a pipe of the shell's (`/dev/fd/63`). Out: a buffered stream. Not here:
what may be opened at all (`reading.opener`).

To open a FIFO waits until another program opens it for writing, which may be never. Opened without
waiting it tells three states when it is read: something, nothing yet (somebody holds it open), and
the end, which is also what it tells while nobody has come. Only the last is not waited for without
limit.
"""

import io
import os
import select
import time
from typing import Any, Final

from postmortem.core.errors import InputError
from postmortem.core.message import say

_PATIENCE: Final = 10.0
"""Seconds that a program may take to open its end."""
_LOOK: Final = 50
"""Milliseconds between two looks."""
_PIECE: Final = 1 << 16


class _Pipe(io.RawIOBase):
    """The reading end, of which the first bytes are read already."""

    def __init__(self, number: int, first: bytes) -> None:
        super().__init__()
        self._number, self._first = number, first

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read up to the buffer's length; 0 at the end."""
        data = self._first[: len(buffer)] or os.read(self._number, len(buffer))
        self._first = self._first[len(data) :]
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the end."""
        if not self.closed:
            os.close(self._number)
        super().close()


def open_pipe(path: str) -> io.BufferedReader:
    """Open a pipe for reading, as soon as somebody writes to it.

    Raises:
        InputError: nobody opens it for writing within ten seconds.
        OSError: it cannot be opened.
    """
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        first = _read_head(number, path)
    except BaseException:
        os.close(number)
        raise
    os.set_blocking(number, True)
    return io.BufferedReader(_Pipe(number, first))


def _read_head(number: int, path: str) -> bytes:
    """Give the first bytes.

    None if somebody is there who has not written yet, or has come and gone.
    """
    poll = select.poll()
    poll.register(number, select.POLLIN)
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        try:
            if first := os.read(number, _PIECE):
                return first
        except BlockingIOError:
            return b""
        if any(event & select.POLLHUP for _, event in poll.poll(_LOOK)):
            return b""
    raise InputError(
        say("this is a pipe to which no program writes"),
        path,
        "start the program that writes to it first, or name the log file",
    )
