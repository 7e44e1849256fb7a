"""What was seen in a log: signature hits and tracebacks.

A finding says nothing yet about the cause.

In: nothing. Out: `Finding`, `Frame`, `Traceback`. Not here: judging them (`inference`).
"""

from dataclasses import dataclass

from postmortem.model.lines import Where


@dataclass(frozen=True, slots=True)
class Finding:
    """A signature (or a shape) seen in the log."""

    signature: str
    role: str
    """One of `names.ROLES`."""
    source: int
    """Index into the report's sources."""
    where: Where
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


@dataclass(frozen=True, slots=True)
class Traceback:
    """A Python traceback joined across its lines; frames from the outermost to the innermost."""

    exception: str
    """The exception class as printed, dots included; empty if the log ends before it."""
    message: str
    frames: tuple[Frame, ...]
    source: int
    where: Where
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

    def raised_in_library(self) -> bool:
        """Say whether the innermost frame is library code."""
        return bool(self.frames) and self.frames[-1].is_library

    def own_frame(self) -> Frame | None:
        """Give the innermost frame of the user's own code, or None."""
        return next((frame for frame in reversed(self.frames) if not frame.is_library), None)
