"""The frames of a failed test as pytest prints it, in its long and in its short style.

In: the line that names the test and the cleaned lines behind it. Out: frames, and the line that
tells the exception. Not here: tests whose style is `native`, which are ordinary tracebacks.

In the long style a place follows its source, which ends with the failing line; in the short one the
source follows its place. What was raised stands behind `E`, an assertion without its class.
"""

import dataclasses
import re
from collections.abc import Iterator
from typing import Final

from postmortem.core.findings import Frame
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.numerals import parse_whole_number
from postmortem.extraction.frames import Row, is_exception_line, is_library

ANCHOR: Final = b"___ "

_HEAD: Final = compile_lazily(r"_{3,200} (?P<test>[^_\s][^\n]{0,300}?) _{3,200}\s*$")
_END: Final = compile_lazily(r"={3,}|-{3,} |_{3,200} [^_\s]")
_PLACE: Final = compile_lazily(
    r"(?P<file>(?:[A-Za-z]:\\)?[^\s:][^:\n]{0,300}\.py):(?P<line>\d{1,8}):"
    r"(?: in (?P<function>\S{1,200})| (?P<name>[\w.]{1,100})|)\s*$"
)
_REQUEST: Final = compile_lazily(
    r"file (?P<file>[^\n]{1,300}\.py), line (?P<line>\d{1,8})(?P<function>)\s*$"
)
"""The place of a test or fixture that asks for a fixture; its source follows."""
_RAISED: Final = compile_lazily(r"E {2,12}(?P<text>\S[^\n]*)")
_CODE: Final = compile_lazily(r"(?:>| {4}) {1,40}(?P<code>[^\s^~][^\n]*)")
_DEFINED: Final = compile_lazily(r" {0,40}(?:async )?def (?P<function>\w{1,100})\(")
_MOST_ROWS: Final = 400
_MOST_CODE: Final = 300


def parse_test_name(text: str) -> str | None:
    """Give the name of the failed test whose section begins with a line; None for any other."""
    match = _HEAD.match(text.strip())
    return match["test"] if match is not None else None


def parse_test_frames(rows: Iterator[Row], test: str) -> tuple[list[Frame], Row | None, int]:
    """Read the section of a test.

    Returns:
        The frames, the line that tells the exception, without its mark, and the last line.
    """
    frames: list[Frame] = []
    raised: Row | None = None
    code, function, end, is_open = "", test.rpartition("setup of ")[2], 0, False
    for row, _ in zip(rows, range(_MOST_ROWS), strict=False):
        text = row.text.rstrip()
        if _END.match(text) is not None:
            break
        if (place := _PLACE.match(text) or _REQUEST.match(text)) is not None:
            is_open = place["function"] is not None  # its source follows
            frames.append(_build_frame(place, function, "" if is_open else code))
            code, end = "", row.number
        elif (exception := _read_raised(text)) is not None:
            raised = raised if raised is not None else row._replace(text=exception)
            end = row.number
        elif is_open and text.strip():
            frames[-1] = dataclasses.replace(frames[-1], code=text.strip()[:_MOST_CODE])
            is_open = False
        elif (defined := _DEFINED.match(text)) is not None:
            function, raised = defined["function"], None
        elif raised is None and (run := _CODE.match(text)) is not None:
            code = run["code"][:_MOST_CODE]
    return frames, raised, end


def _build_frame(place: re.Match[str], function: str, code: str) -> Frame:
    file, line = place["file"], parse_whole_number(place["line"]) or 0
    return Frame(file, line, place["function"] or function, code, is_library(file))


def _read_raised(text: str) -> str | None:
    """Read the exception on a line of pytest; its `E` may be stripped already."""
    match = _RAISED.match(text)
    if match is not None:
        message = match["text"]
        if message.startswith("fixture "):
            return f"FixtureLookupError: {message}"
        return f"AssertionError: {message}" if message.startswith("assert ") else message
    return text if is_exception_line(text) else None
