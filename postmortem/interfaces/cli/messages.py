"""Write to the standard streams: the report to one, single-line messages to the other.

In: a message, a text. Out: a line, the text as it is. Not here: the report. A standard error that
cannot be written is ignored; a standard output that cannot is an error, unless its reader closed
it.
"""

import sys
from contextlib import suppress
from typing import Final, TextIO

from postmortem.core.errors import UsageError
from postmortem.core.host.streams import describe_stream_error, write_all
from postmortem.core.log_text import format_one_line

_LONGEST: Final = 2000


def print_message(message: str) -> None:
    """Write one line on standard error."""
    note(f"postmortem: {format_one_line(message, _LONGEST)}\n")


def note(text: str) -> None:
    """Write a text on standard error as it is."""
    with suppress(OSError, ValueError):
        _put(sys.stderr, text)


class StatusLine:
    """A line of standard error that the next one overwrites."""

    def __init__(self) -> None:
        """Draw nothing yet."""
        self._width = 0

    def draw(self, text: str) -> None:
        """Write the line over the last one."""
        note("\r" + text.ljust(self._width))
        self._width = len(text)

    def close(self) -> None:
        """Wipe the line."""
        if self._width:
            note("\r" + " " * self._width + "\r")


def show(text: str) -> bool:
    """Write a text on standard output as it is; False if nobody reads it any more.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        _put(sys.stdout, text)
    except BrokenPipeError:
        return False
    except OSError as error:
        raise UsageError(
            f"standard output cannot be written: {describe_stream_error(error)}",
            "",
            "write to a file, or to another place",
        ) from error
    return True


def _put(stream: TextIO, text: str) -> None:
    stream.flush()
    try:
        number = stream.fileno()
    except (OSError, ValueError):  # a stand-in within this process
        stream.write(text)
        return
    _, error = write_all(number, text.encode(stream.encoding or "utf-8", "replace"))
    if error is not None:
        raise error
