"""Run a command, pass its output through and keep a copy.

In: a command line. Out: `Done`: exit status as a shell would show it, and the signal's name. Not here: analysing the copy.
Standard output and standard error stay apart for whoever reads them, and are joined in the copy in the order in which they came.
"""

import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, Final, NamedTuple

from postmortem.errors import UsageError

_CHUNK: Final = 1 << 16
_GRACE: Final = 0.3
"""Seconds without output after which a command that has ended is not waited for any longer."""
_FORWARDED: Final = (signal.SIGTERM, signal.SIGINT, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


class Done(NamedTuple):
    """How a command ended."""

    status: int
    """0..255; 128 + n if signal n ended it."""
    signal: str
    """SIGKILL and the like, or an empty string."""


def launch(command: Sequence[str], log: Path) -> Done:
    """Run the command to its end; signals sent to us are passed on to it.

    Raises:
        UsageError: the command cannot be started, or the log cannot be written.
    """
    try:
        kept = log.open("wb")
    except OSError as error:
        raise UsageError(f"the log cannot be written: {error.strerror}", log, "choose another file with --log") from error
    with kept:
        try:
            child = subprocess.Popen(list(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        except OSError as error:
            raise UsageError(f"the command cannot be started: {error.strerror}", command[0], "check its name, or give its full path after --") from error
        previous = {number: signal.signal(number, _forward_to(child)) for number in _FORWARDED}
        try:
            _pump(child, kept)
            code = child.wait()
        finally:
            for pipe in (child.stdout, child.stderr):
                if pipe is not None:
                    pipe.close()
            for number, handler in previous.items():
                signal.signal(number, handler)
    return Done(128 - code, signal.Signals(-code).name) if code < 0 else Done(code, _name_of(code))


def _forward_to(child: "subprocess.Popen[bytes]") -> Callable[[int, FrameType | None], None]:
    def forward(number: int, _frame: FrameType | None) -> None:
        if child.poll() is None:
            child.send_signal(number)

    return forward


def _pump(child: "subprocess.Popen[bytes]", kept: IO[bytes]) -> None:
    """Copy both streams as they come."""
    assert child.stdout is not None and child.stderr is not None  # noqa: S101, PT018 -- both are pipes
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ, sys.stdout)
        selector.register(child.stderr, selectors.EVENT_READ, sys.stderr)
        while selector.get_map():
            ready = selector.select(_GRACE)
            if not ready and child.poll() is not None:      # something it left behind holds the pipes open
                return
            for key, _ in ready:
                data = os.read(key.fd, _CHUNK)
                if not data:
                    selector.unregister(key.fileobj)
                    continue
                kept.write(data)
                kept.flush()
                target = key.data
                getattr(target, "buffer", target).write(data)
                target.flush()


def _name_of(status: int) -> str:
    """A shell reports a signal as 128 + n; programs hardly use such statuses themselves."""
    try:
        return signal.Signals(status - 128).name if status > 128 else ""
    except ValueError:
        return ""
