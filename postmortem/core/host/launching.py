"""Run a command, pass its output through and keep a copy.

In: a command line. Out: `Done`: exit status as a shell would show it, and the signal's name. Not
here: analysing the copy, where it is kept (`core.host.files`). Standard output and standard error
stay apart for whoever reads them, and are joined in the copy in the order in which they came.

The command must not notice: its pipes are read to the end whatever becomes of the copy, of our own
streams and of us. A sidecar holds them open, and reads on where this process is killed, or where
the command leaves something behind that goes on writing.

A thread writes to each of our standard streams, so that a reader that is slow, or stands still,
holds up neither the log nor the other stream. A command is made to wait for it as it would without
us, but later: once 16 MiB are waiting.
"""

import os
import selectors
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import IO, Final, NamedTuple

from postmortem.core.errors import UsageError
from postmortem.core.host.files import KeptLog
from postmortem.core.host.signals import Sidecar, Signals
from postmortem.core.host.streams import describe_stream_error, write_all

_MOST_WAITING: Final = 16 << 20
"""Bytes that may wait for the reader."""
_LOOK_INTERVAL: Final = 0.2
"""Seconds between two looks whether waiting still makes sense."""


class OutputForwarder:
    """One open file that output is passed on to."""

    def __init__(self, number: int, name: str) -> None:
        """Begin."""
        self.name, self.lost, self.fault = name, 0, ""
        self._number = number
        self._queue: deque[bytes] = deque()
        self._held = 0
        self._changed = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def put(self, data: bytes, is_waiting: Callable[[], bool]) -> None:
        """Pass a piece on; where too much is waiting already, stay as long as `is_waiting` says."""
        with self._changed:
            self._queue.append(data)
            self._held += len(data)
            self._changed.notify_all()
            while self._held > _MOST_WAITING and is_waiting():
                self._changed.wait(_LOOK_INTERVAL)

    def finish(self, is_waiting: Callable[[float], bool]) -> None:
        """Wait until all output is forwarded; what is left when the wait ends is lost.

        Args:
            is_waiting: says whether to stay, told for how many seconds the reader has taken
                nothing.
        """
        with self._changed:
            held, since = self._held, time.monotonic()
            while self._held and is_waiting(time.monotonic() - since):
                self._changed.wait(_LOOK_INTERVAL)
                if self._held < held:
                    held, since = self._held, time.monotonic()
            if self._held:
                self.lost += self._held
                self.fault = self.fault or "its reader did not read on"
                self._queue.clear()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._queue:
                    self._changed.wait()
                data = self._queue.popleft()
            lost, error = write_all(self._number, data)
            with self._changed:
                self._held -= len(data)
                self.lost += lost
                if (
                    error is not None
                ):  # the next piece is tried all the same: a full disk may have room again
                    self.fault = describe_stream_error(error)
                self._changed.notify_all()


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
