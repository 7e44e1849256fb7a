"""A helper process that does tasks for this one, one after the other.

In: a picklable function that gives who does the work; pieces of work. Out: what the work gives. Not
here: the work, who does which piece, servers (`core.host.work_pool`).

It is started by a line of its own: the ways of the standard library run the caller's main module
once more, or copy a process that may have threads. Whatever ends its parent ends it too, for its
input ends then; the terminal's Ctrl-C is left to the parent.
"""

import json
import mmap
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, Final

from postmortem.core.host import packed_values

_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline()); from"
    " postmortem.core.host import helper_process; helper_process.serve()"
)
_SIZE: Final = 8
"""Bytes of the length that stands before what work gives."""
_PART: Final = 1 << 20
Work = Callable[[Any], Any]
"""Does one piece of work; what it takes and gives can be pickled."""


class NoHelper(Exception):  # noqa: N818 -- what became of it
    """No process can be started."""


class HelperProcess:
    """One such process."""

    def __init__(self, begin: Callable[[], Work]) -> None:
        """Start it; `begin` is called there, and gives who does the work.

        Raises:
            NoHelper: it cannot be started.
        """
        self.is_lost = False
        """Whether it has ended."""
        flags = ["-I", *(["-B"] if sys.dont_write_bytecode else [])]
        if sys.pycache_prefix:
            flags += ["-X", f"pycache_prefix={sys.pycache_prefix}"]
        try:
            with _hold_interrupts():
                self._process = subprocess.Popen(
                    [sys.executable, *flags, "-c", _START],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            self._asks, self._answers = _get_pipes(self._process)
            self._asks.write(json.dumps(sys.path).encode() + b"\n")
            self._ask(begin)
        except (OSError, ValueError) as error:
            raise NoHelper from error

    def run(self, piece: Any) -> mmap.mmap | None:
        """Have a piece of work done, and wait for what it gives, packed; None if it is lost.

        Packed it takes the least room, which is given back whole; `unpacked` gives it where it is
        wanted.
        """
        self.is_lost = True
        try:
            self._ask(piece)
            size = int.from_bytes(self._answers.read(_SIZE), "little")
            packed = mmap.mmap(-1, size) if size else None
            while packed is not None and packed.tell() < size:
                part = self._answers.read(min(_PART, size - packed.tell()))
                if not part:
                    return None
                packed.write(part)
        except OSError:
            return None
        self.is_lost = packed is None
        return packed

    def end(self) -> None:
        """End it, whatever it is at; who waits for it learns that it is lost."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Close the pipes to the process after it has ended."""
        for pipe in (self._asks, self._answers):
            with suppress(OSError):  # what it never took
                pipe.close()

    def _ask(self, what: Any) -> None:
        pickle.dump(what, self._asks)
        self._asks.flush()


def unpack_result(packed: mmap.mmap) -> Any:
    """Give what a piece of work gave."""
    with packed:
        return packed_values.unpack_value(packed)


def serve() -> None:
    """Do what standard input asks for, in the process that `HelperProcess` has started."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anybody prints is no answer
    sys.stdout = sys.stderr
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=[requests], daemon=True).start()
    try:
        _serve_requests(requests, answers)
    except BrokenPipeError:  # nobody listens any more
        pass
    except Exception:  # noqa: BLE001 -- the parent learns that this process is lost
        if os.environ.get("POSTMORTEM_DEBUG"):
            traceback.print_exc()
    finally:
        os._exit(1)  # an orderly end would wait for the thread that listens


def _serve_requests(requests: "queue.SimpleQueue[Any]", answers: IO[bytes]) -> None:
    work = requests.get()()
    while True:
        packed = packed_values.pack_value(work(requests.get()))
        answers.write(len(packed).to_bytes(_SIZE, "little"))
        answers.write(packed)
        answers.flush()


def _read_requests(requests: "queue.SimpleQueue[Any]") -> None:
    """Take what is asked for as it comes; end the process with its input, in whatever it is."""
    try:
        while True:
            requests.put(pickle.load(sys.stdin.buffer))  # noqa: S301 -- written by our parent
    finally:
        os._exit(1)


def _get_pipes(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise ValueError("it has no pipes")
    return process.stdin, process.stdout


@contextmanager
def _hold_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back: a process that starts meanwhile never gets it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
