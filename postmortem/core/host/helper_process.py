"""Processes that work for this one: a helper that does tasks, and the limits of any worker.

In: a picklable function that gives who does the work, pieces of work; a memory limit, a folder.
Out: what the work gives, the same to the last bit; a process that ends with its parent and keeps to
its limit. Not here: the work, who does which piece, the pool of a server (`core.host.work_pool`).

A helper is started by a line of its own: the ways of the standard library run the caller's main
module once more, or copy a process that may have threads. Whatever ends its parent ends it too, for
its input ends then; the terminal's Ctrl-C is left to the parent.

What is sent is pickled, long arrays compressed: the steps and lines of a curve go on by little from
one to the next, and their differences take an eighth of the room. An array in which that does not
hold stands as it is.
"""

import copyreg
import io
import json
import mmap
import multiprocessing
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Any, Final

_LONG: Final = 1000
"""Figures that are worth a look at their differences."""
_NARROW_TYPES: Final = ("int8", "int16", "int32")
"""What differences are written as."""
_ARRAY_TYPES: Final = {"d": ("float64", "int64"), "q": ("int64",)}
"""By the code of an array, what its figures are taken for: as their bits, floats are whole too."""


def pack_value(value: Any) -> memoryview:
    """Give the bytes of a value."""
    stream = io.BytesIO()
    pickler = pickle.Pickler(stream, protocol=5)
    pickler.dispatch_table = copyreg.dispatch_table | {array: _reduce_array}
    pickler.dump(value)
    return stream.getbuffer()


def unpack_value(data: "memoryview | mmap.mmap") -> Any:
    """Give the value of such bytes."""
    return pickle.loads(data)  # noqa: S301 -- written by this very program


def _reduce_array(figures: "array[Any]") -> tuple[Any, ...]:
    """Say how an array is made again."""
    code = figures.typecode
    for kind in _ARRAY_TYPES.get(code, ()) if len(figures) >= _LONG else ():
        found = _compute_differences(figures, kind)
        if found is not None and _sum_differences(kind, *found) == figures.tobytes():
            return _restore_array, (code, kind, *found)
    return array, (code, figures.tobytes())


def _compute_differences(figures: "array[Any]", kind: str) -> tuple[int, str, bytes] | None:
    """Give the first figure, how wide the differences are, and these; None where they are wide."""
    import numpy as np  # noqa: PLC0415 -- only long arrays pay for its import

    with np.errstate(invalid="ignore"):
        whole = np.frombuffer(figures, dtype=kind).astype(np.int64)
    steps = np.diff(whole)
    low, high = int(steps.min()), int(steps.max())
    for width in _NARROW_TYPES:
        if np.iinfo(width).min <= low and high <= np.iinfo(width).max:
            return int(whole[0]), width, steps.astype(width).tobytes()
    return None


def _sum_differences(kind: str, first: int, width: str, differences: bytes) -> bytes:
    """Give the bytes of the figures again."""
    import numpy as np  # noqa: PLC0415 -- only long arrays pay for its import

    steps = np.frombuffer(differences, dtype=width)
    whole = np.empty(len(steps) + 1, dtype=np.int64)
    whole[0] = first
    np.cumsum(steps, out=whole[1:])
    whole[1:] += first
    return whole.astype(kind).tobytes()


def _restore_array(
    code: str, kind: str, first: int, width: str, differences: bytes
) -> "array[Any]":
    return array(code, _sum_differences(kind, first, width, differences))


_MIB: Final = 2**20


def end_with_parent() -> None:
    """Let this process end when the one that started it is gone, however that ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_behind, args=[parent], daemon=True).start()


def _end_behind(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def restrict_memory(mebibytes: int) -> None:
    """Limit what this process may hold; 0 is no limit, nor is any where the system has none."""
    if not mebibytes:
        return
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 -- not everywhere

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (mebibytes * _MIB, most))


def is_lack_of_memory(error: BaseException) -> bool:
    """Whether an error, or the one behind it, says that this process may hold no more.

    Within a limit a `SystemError` says so too: compiled code that was refused memory and raised
    nothing ("error return without exception set").
    """
    behind = error.__cause__
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, SystemError) and _is_memory_restricted():
        return True
    return behind is not None and is_lack_of_memory(behind)


def _is_memory_restricted() -> bool:
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 -- not everywhere

        return resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY
    return False


@contextmanager
def use_working_directory(folder: str | Path) -> Iterator[None]:
    """Work in a folder, so that short names lead to the files in it."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


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
        return unpack_value(packed)


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
        packed = pack_value(work(requests.get()))
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
