"""Set up a worker process: it ends with its parent and keeps to a memory limit.

In: nothing, a limit, a folder. Out: nothing. Not here: the work, who starts the process.
"""

import multiprocessing
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

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
