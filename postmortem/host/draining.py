"""Goes on reading what a command has left behind: a pipe that nobody reads would kill it.

In: numbers of open files: the log's, the pipes'. Out: what still comes, in the log, as far as there
is room and the log is wanted. Not here: anything else; it runs as a script.
"""

import os
import select
import sys
from collections.abc import Sequence
from typing import Final

_CHUNK: Final = 1 << 16


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


if __name__ == "__main__":
    drain(int(sys.argv[1]), [int(number) for number in sys.argv[2:]])
