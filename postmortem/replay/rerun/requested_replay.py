"""A replay from the path of a capsule: refusals first, torch last.

In: a path, whether the code that a capsule names is trusted. Out: `Replayed`. Not here: running
(`rerun.replaying`), which is imported only when everything that can be refused without it was not.

Standard output belongs to the report, which may be JSON, so what other code prints meanwhile goes
to standard error. Code prints by `print`, by file descriptor 1 (C, child processes), and at the end
of the process (`atexit`).
"""

import atexit
import contextlib
import ctypes
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from postmortem.core.diagnosis import Replayed
from postmortem.core.errors import InputError, MissingExtra, UsageError, install_hint
from postmortem.core.message import Message
from postmortem.replay.capsule.manifest import Manifest
from postmortem.replay.capsule.opening import compute_file_sha256, open_capsule

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


SECONDS: Final = 120.0


def replay_capsule(
    path: Path | str,
    *,
    device: str = "auto",
    trust: bool = False,
    seconds: float = SECONDS,
    memory: float | None = None,
) -> Replayed[Message]:
    """Run a capsule again.

    Args:
        path: its folder.
        device: auto | cpu | cuda.
        trust: execute the user's code that it names.
        seconds: what does not fit into this time is skipped.
        memory: GiB that may be used, what does not fit is skipped; None: what is free.

    Raises:
        InputError: it is refused, or its model cannot be built again.
        UsageError: it needs code that is not trusted, or a device that is not there.
        MissingExtra: torch, or a package of the model, is not installed.
    """
    capsule = open_capsule(path)
    require_trust(capsule.manifest, trust=trust)
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("safetensors") is None:
        raise MissingExtra("replay needs torch and safetensors", "", install_hint("replay"))
    with print_to_stderr(until_exit=trust):
        replaying = importlib.import_module("postmortem.replay.rerun.replaying")
        found: Replayed[Message] = replaying.replay(
            capsule, device=device, seconds=seconds, memory=memory
        )
    return found


def require_trust(manifest: Manifest, *, trust: bool) -> None:
    """Refuse a capsule that needs the user's code, before anything is built.

    Raises:
        UsageError: it does, and the code is not to be trusted.
        InputError: the file is missing, or is not the one that was recorded.
    """
    recipes = [one for one in (manifest.model, manifest.loss) if one.kind == "user"]
    for one in recipes:
        place = Path(one.file)
        if not trust:
            raise UsageError(
                f"this capsule needs {one.name!r} out of a file of your own code, which would be"
                " executed; nothing was",
                one.file,
                "read the file, then say --trust-code",
            )
        if not place.is_file():
            raise InputError(
                f"the code that builds {one.name!r} is not there",
                one.file,
                "put it where it was when the capsule was recorded",
            )
        if compute_file_sha256(place) != one.sha256:
            raise InputError(
                "the code is not the one that was recorded: its checksum is another; nothing was"
                " executed",
                one.file,
                "check out the revision of the training",
            )
