"""Redirect what other code prints during a replay to standard error.

In: nothing. Out: a context. Not here: writing reports (`cli`).

Standard output belongs to the report, which may be JSON. Code prints by `print`, by file
descriptor 1 (C, child processes), and at the end of the process (`atexit`).
"""

import atexit
import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from typing import Final

_OUT: Final = 1
_ERR: Final = 2


@contextlib.contextmanager
def print_to_stderr(*, until_exit: bool = False) -> Iterator[None]:
    """Send all that is printed within to standard error.

    Args:
        until_exit: what functions print that the code within has registered for the end of the
            process goes there too.
    """
    _flush()
    kept = _copy_descriptor(_OUT)
    try:
        if kept is not None:
            os.dup2(_ERR, _OUT)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _flush()
        if kept is not None:
            os.dup2(kept, _OUT)
            os.close(kept)
        if until_exit:
            atexit.register(_replace_stdout)  # runs before what was registered earlier


def _copy_descriptor(number: int) -> int | None:
    """Duplicate a file descriptor; None where it or standard error is closed."""
    try:
        os.fstat(_ERR)
        return os.dup(number)
    except OSError:
        return None


def _flush() -> None:
    """Write out what Python and the C library hold back."""
    for stream in (sys.stdout, sys.__stdout__):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()  # type: ignore[union-attr]
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)


def _replace_stdout() -> None:
    _flush()
    with contextlib.suppress(OSError):
        os.dup2(_ERR, _OUT)
    sys.stdout = sys.stderr
