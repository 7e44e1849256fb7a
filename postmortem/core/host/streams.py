"""The standard streams of this process, whatever state they are in, and the CPU cores it may use.

In: bytes and the number of an open file, which may be closed, full, broken or non-blocking. Out:
how many bytes were left over, and why; a count of cores. Not here: texts, and saying what went
wrong (`cli.messages`).
"""

import errno
import io
import os
import select
import sys
from contextlib import suppress
from typing import Final

_PATIENCE: Final = 1.0
"""Seconds between two looks at a file that takes nothing at the moment."""


class _ClosedInput(io.RawIOBase):
    """A replacement for a closed standard input; reading it raises an error."""

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, _buffer: object, /) -> int:
        """Refuse."""
        raise OSError(errno.EBADF, "standard input is closed")


def hold_places() -> None:
    """Fill the places of closed standard streams, so that no file opened later is mistaken for one.

    Using a standard input or output that is closed fails as before; what goes to a closed standard
    error is dropped, as nobody could be told.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            place = os.open(
                os.devnull, os.O_RDONLY if number == 1 else os.O_WRONLY
            )  # the lowest free number is this one
            os.set_inheritable(place, True)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_ClosedInput()))
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115 -- a number, and to the end
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115


def write_all(number: int, data: bytes) -> tuple[int, OSError | None]:
    """Write to an open file, at its reader's pace; gives how many bytes were left over, and why."""
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(number, left) :]
        except BlockingIOError:  # somebody else has made the file one that does not wait
            select.select([], [number], [], _PATIENCE)
        except OSError as error:
            return len(left), error
    return 0, None


def describe_stream_error(error: OSError) -> str:
    """Say what went wrong with a stream."""
    return "it is closed" if error.errno == errno.EBADF else error.strerror or str(error)


def flush_streams() -> OSError | None:
    """Flush what Python holds back for both streams.

    What cannot be written is dropped, lest the interpreter's end trips over it. Gives what was
    wrong with standard output.
    """
    fault = None
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            fault = error if isinstance(error, OSError) and stream is sys.stdout else fault
            with suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
                stream.flush()
    return fault


def count_cores() -> int:
    """Count the cores that this process may run on; at least one."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
