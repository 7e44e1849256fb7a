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


@contextmanager
def use_working_directory(folder: str | Path) -> Iterator[None]:
    """Work in a folder, so that short names lead to the files in it."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
