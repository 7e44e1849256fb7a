"""Run a command, pass its output through and keep a copy.

In: a command line. Out: `Done`: exit status as a shell would show it, and the signal's name. Not
here: analysing the copy, what each place does with the output (`core.host.output_copy`,
`core.host.output_forwarder`). Standard output and standard error stay apart for whoever reads them,
and are joined in the copy in the order in which they came.

The command must not notice: its pipes are read to the end whatever becomes of the copy, of our own
streams and of us. A sidecar holds them open, and reads on where this process is killed, or where
the command leaves something behind that goes on writing.
"""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import IO, Final, NamedTuple

from postmortem.core.errors import UsageError
from postmortem.core.host.output_copy import KeptLog
from postmortem.core.host.output_forwarder import OutputForwarder
from postmortem.core.host.sidecar import Sidecar
from postmortem.core.host.signals import Signals

_CHUNK: Final = 1 << 16
_GRACE: Final = 0.3
"""Seconds without output after which a command that has ended is not waited for any longer."""
_LONGEST_GRACE: Final = 3.0
"""The same where something that it left behind goes on writing."""

_PATIENCE: Final = 5.0
"""Seconds for which a reader that takes nothing is waited for once the run has been told to end."""


class Done(NamedTuple):
    """How a command ended."""

    status: int
    """0..255; 128 + n if signal n ended it."""
    signal: str
    """SIGKILL and the like, or an empty string."""
    problems: tuple[str, ...] = ()
    """What of its output was not passed on, and why."""


def run_command(command: Sequence[str], kept: KeptLog, signals: Signals) -> Done:
    """Run the command to its end; signals sent to us are passed on to it.

    Raises:
        UsageError: the command cannot be started.
    """
    child, streams, reader = _start_process(command, kept, signals)
    outlets = _open_outlets()
    pipes = {streams[0]: outlets[0], streams[1]: outlets[-1]}
    problems = []
    try:
        _copy_streams(child, pipes, kept, signals)
    except Exception as error:  # noqa: BLE001 -- whatever is wrong with us, the command goes on
        problems.append(f"its output was not passed on to the end: {type(error).__name__}: {error}")
    reader.close()  # what is still written is read there
    for stream in pipes:
        stream.close()
    code = child.wait()
    for outlet in outlets:
        outlet.finish(
            lambda seconds: (
                not signals.unheard.is_set() and (seconds < _PATIENCE or not signals.heard.is_set())
            )
        )
        if outlet.lost:
            problems.append(
                f"{outlet.name} did not take all of the output: {outlet.fault}; {outlet.lost:,}"
                " bytes were not passed on"
            )
    return (
        Done(128 - code, signal.Signals(-code).name, tuple(problems))
        if code < 0
        else Done(code, _name_of(code), tuple(problems))
    )


def _start_process(
    command: Sequence[str], kept: KeptLog, signals: Signals
) -> tuple["subprocess.Popen[bytes]", list[IO[bytes]], Sidecar]:
    """Start the command; gives it, its output and error stream, and who else can read them.

    Raises:
        UsageError: it cannot be started.
    """
    ends = [os.pipe(), os.pipe()]
    streams: list[IO[bytes]] = [os.fdopen(ours, "rb", buffering=0) for ours, _ in ends]
    reader = Sidecar(command, kept.number, [ours for ours, _ in ends], is_apart=True)
    signals.add_sidecars(inside=Sidecar(command), outside=reader)
    try:
        child = signals.start(command, stdout=ends[0][1], stderr=ends[1][1])
    except (OSError, ValueError) as error:
        for stream in streams:
            stream.close()
        if isinstance(error, ValueError):  # a word that the system cannot encode
            raise
        raise UsageError(
            f"the command cannot be started: {error.strerror}",
            command[0],
            "check its name, or give its full path after --",
        ) from error
    finally:
        for _, theirs in ends:
            os.close(theirs)
    return child, streams, reader


def _open_outlets() -> list[OutputForwarder]:
    """Give an outlet for each of our streams.

    One for both where they are the same file, so that what comes stays in order.
    """
    if os.path.sameopenfile(1, 2):
        return [OutputForwarder(1, "standard output")]
    return [OutputForwarder(1, "standard output"), OutputForwarder(2, "standard error")]


def _copy_streams(
    child: "subprocess.Popen[bytes]",
    pipes: dict[IO[bytes], OutputForwarder],
    kept: KeptLog,
    signals: Signals,
) -> None:
    """Copy both streams as they come; those that have ended are taken out of `pipes`."""
    is_waiting = partial(_may_wait, child, signals)
    ended = None
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while pipes:
            # asked before looking: what it wrote last is there by then
            if ended is None and child.poll() is not None:
                ended = time.monotonic()
            ready = {key.fd for key, _ in selector.select(_GRACE)}
            # something it left behind holds the pipes open
            if ended is not None and (not ready or time.monotonic() - ended > _LONGEST_GRACE):
                return
            for pipe in [pipe for pipe in pipes if pipe.fileno() in ready]:
                if not _copy_chunk(pipe, pipes[pipe], kept, is_waiting):
                    selector.unregister(pipe)
                    del pipes[pipe]
                    pipe.close()


def _may_wait(child: "subprocess.Popen[bytes]", signals: Signals) -> bool:
    """Say whether a slow reader may hold the command up: not once it is to end."""
    return child.poll() is None and not signals.unheard.is_set()


def _copy_chunk(
    pipe: IO[bytes], outlet: OutputForwarder, kept: KeptLog, is_waiting: Callable[[], bool]
) -> bool:
    """Copy what a stream holds; false at its end."""
    data = os.read(pipe.fileno(), _CHUNK)
    if data:
        kept.write(data)
        outlet.put(data, is_waiting)
    return bool(data)


def _name_of(status: int) -> str:
    """A shell reports a signal as 128 + n; programs hardly use such statuses themselves."""
    try:
        return signal.Signals(status - 128).name if status > 128 else ""
    except ValueError:
        return ""
