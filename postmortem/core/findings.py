"""What was seen in a log: signature hits and tracebacks.

A finding says nothing yet about the cause.

In: nothing. Out: `Finding`, `Frame`, `Traceback`. Not here: judging them (`inference`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import ProcessId

_OUTERMOST: Final = compile_lazily(
    r"(?:<(?:cell line|module).*|_bootstrap\w*|_run_module_as_main|_?_wrap|)"
)
"""Functions with which a program, a cell, a thread or a spawned process begins."""
_PASSES_ON: Final = compile_lazily(r"_wrapped_call_impl|_call_impl|__getattr__|__getattribute__")
"""Library functions that only call, or look up, what they were asked for: an exception of theirs
about it is the caller's."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A signature or an anomaly found in the log."""

    signature: str
    role: str
    """One of `names.ROLES`."""
    source: int
    """Index into the report's sources."""
    where: ProcessId
    line: int
    end_line: int
    offset: int
    """Byte offset in its source: the order of findings."""
    text: str
    captures: tuple[tuple[str, str], ...] = ()
    """Named groups of the match; a tuple, so that the value stays hashable."""
    time: str | None = None
    count: int = 1
    """How often it was seen by this process; only the first and last few are kept one by one."""
    level: str = ""
    """The logger's level of the line, as printed."""

    def capture(self, name: str) -> str | None:
        """Give a captured group, or None."""
        return next((value for key, value in self.captures if key == name), None)


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a Python traceback."""

    file: str
    line: int
    function: str
    code: str
    is_library: bool
    """True for an installed package or the standard library, False for the user's own code."""


_LOOKS_UP: Final = compile_lazily(
    r"__getitem__|__getattr__|__getattribute__|__setitem__|__delitem__"
)
"""Functions that give what somebody asks for."""
_NOT_THERE: Final = ("KeyError", "IndexError", "AttributeError")


def _is_forwarding(frame: Frame) -> bool:
    """Say whether a frame only hands on what it was called with, or is text that was executed."""
    return frame.file.startswith("<") or _PASSES_ON.fullmatch(frame.function) is not None


@dataclass(frozen=True, slots=True)
class Traceback:
    """A Python traceback joined across its lines; frames from the outermost to the innermost."""

    exception: str
    """The exception class as printed, dots included; empty if the log ends before it."""
    message: str
    frames: tuple[Frame, ...]
    source: int
    where: ProcessId
    line: int
    end_line: int
    exception_line: int
    """Raw line of `Class: message`; the last line where the traceback is cut."""
    offset: int
    end_offset: int
    chained: bool = False
    """True if it follows another one by "During handling of …" or "… direct cause of …"."""
    wrapped: bool = False
    """True if it is quoted inside another exception's message ("Original Traceback")."""
    time: str | None = None
    level: str = ""
    """The logger's level of its first line; a traceback that was logged as a warning was caught."""
    aside: str = ""
    """Who tells of it, if not the run itself: `exit` for finalizers, exit handlers and the logging
    module, which end nothing; `thread` for a thread of its own, which may end alone; `test` for a
    test, behind which what it printed is shown; `logged` for a logger of a program that goes on;
    `reported` for a program that announces it; `between` for one whose count goes on behind it."""
    went_on: int = 0
    """Raw line of the first ordinary output of the same process right behind it; 0 if none."""

    def raising_frame(self) -> Frame | None:
        """Give the innermost frame but those that only pass on what they were called with."""
        frames = [
            frame for frame in self.frames if not (frame.is_library and _is_forwarding(frame))
        ]
        own = max((at for at, frame in enumerate(frames) if not frame.is_library), default=-1)
        failed_lookup = frames[own + 1] if 0 <= own < len(frames) - 1 else None
        if (
            failed_lookup is not None
            and self.exception.endswith(_NOT_THERE)
            and _LOOKS_UP.fullmatch(failed_lookup.function)
        ):
            return frames[own]  # what it looked up is not there, however deep that came to light
        return frames[-1] if frames else next(reversed(self.frames), None)

    def raised_in_library(self) -> bool:
        """Say whether library code raised it."""
        inner = self.raising_frame()
        return inner is not None and inner.is_library

    def raised_by_user(self) -> bool:
        """Say whether the user's own code raised it."""
        inner = self.raising_frame()
        return inner is not None and (not inner.is_library or inner.file == "<string>")

    def was_caught(self) -> bool:
        """Say whether code below the script caught and printed it, so that it alone ended nothing.

        What ends a program is printed from the script's outermost frame on.
        """
        return bool(self.frames) and not _OUTERMOST.fullmatch(self.frames[0].function)

    def own_frame(self) -> Frame | None:
        """Give the innermost frame of the user's own code, or None."""
        return next((frame for frame in reversed(self.frames) if not frame.is_library), None)


_MOST_BETWEEN: Final = 8
"""Lines between a traceback and one that is chained to it."""


def iter_chained(traceback: Traceback, tracebacks: Iterable[Traceback]) -> Iterator[Traceback]:
    """Yield the tracebacks that are chained to one, each to the one before it.

    Of an exception that a library has caught and raised again only the last one comes up to the
    user's code.
    """
    end = traceback.end_line
    for behind in sorted(tracebacks, key=lambda found: found.line):
        is_next = behind.source == traceback.source and end < behind.line <= end + _MOST_BETWEEN
        if is_next and behind.chained:
            yield behind
            end = behind.end_line
