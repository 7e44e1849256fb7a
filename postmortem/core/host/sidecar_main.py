"""The script that a sidecar process of `run` executes; `core.host.signals` starts it.

In: numbers of open files: a socket to `run`, the log's, the pipes'. Out: when this process last
received a signal; what is left in the pipes, in the log. Not here: anything else; the standard
library is all that it imports.

While `run` lives, the pipes are only held open. Once it has gone, or has closed the socket, they
are read to the end: a pipe that nobody reads would kill the command.
"""

import os
import select
import signal
import struct
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

ANSWER: Final = struct.Struct("d")
NEVER: Final = 0.0
_CHUNK: Final = 1 << 16


def answer_until_closed(control: int) -> None:
    """Answer each signal's number with the time at which it last came, by the monotonic clock."""
    received, notices = os.pipe()
    os.set_blocking(received, False)
    os.set_blocking(notices, False)
    signal.set_wakeup_fd(notices, warn_on_full_buffer=False)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    for number in blocked:
        with suppress(OSError):
            signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)
    times: dict[int, float] = {}
    while True:
        ready = select.select([control, received], [], [])[0]
        request = os.read(control, 1) if control in ready else None
        with suppress(BlockingIOError):
            times |= dict.fromkeys(os.read(received, _CHUNK), time.monotonic())
        if request is not None:
            if not request:
                return
            os.write(control, ANSWER.pack(times.get(request[0], NEVER)))


def drain(log: int, pipes: Sequence[int]) -> None:
    """Read until the last writer is gone."""
    left = list(pipes)
    while left:
        for pipe in select.select(left, [], [])[0]:
            data = os.read(pipe, _CHUNK)
            if not data:
                left.remove(pipe)
            elif os.fstat(log).st_nlink:  # 0: it has been removed
                try:
                    os.write(log, data)
                except OSError:  # no room: what comes is read all the same
                    continue


def main(numbers: str) -> None:
    """Do one thing after the other."""
    control, log, *pipes = map(int, numbers.split(","))
    with suppress(ConnectionError):  # `run` was killed
        answer_until_closed(control)
    os.close(control)
    drain(log, pipes)


if __name__ == "__main__":
    main(sys.argv[1])
