"""The frames of a traceback as IPython prints it, in a notebook or at its prompt.

In: the line that names the class and the cleaned lines behind it. Out: frames, and the line of the
exception. Not here: plain and boxed tracebacks (`extraction.frames`).

The head names the class: `KeyError      Traceback (most recent call last)`. A frame is a line with
a file or a cell and the source around the line that was run, each with its number; nothing of that
source is a message. The exception is the first line that begins with the class at the left border.
"""

import re
from collections.abc import Iterator
from typing import Final

from postmortem.core.findings import Frame
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.numerals import parse_whole_number
from postmortem.extraction.frames import Row, is_exception_name, is_library

_HEAD: Final = compile_lazily(
    r"(?P<name>(?:[A-Za-z_]\w*\.){0,8}[A-Za-z_]\w*)(?P<space> +)Traceback"
    r" \(most recent call last\)"
)
_FRAME: Final = compile_lazily(
    r"(?:File )?(?P<file>(?:[A-Za-z]:\\|[~./<]|Cell |Input )[^\n]{0,300}?|[\w/.-]{1,300}\.\w{2,4})"
    r"(?::(?P<line>\d{1,8})|, line (?P<line2>\d{1,8}))?"
    r"(?:,? in (?P<function>[^\n]{1,300}))?$"
)
_RUN: Final = compile_lazily(r"-{1,12}> ?(?P<line>\d{1,8})(?P<code> [^\n]*|$)")
_SHOWN: Final = compile_lazily(r"(?:-{1,12}> ?|\s{0,12})\d{1,8}(?:\s|$)")
_SIGNATURE: Final = compile_lazily(r"\(.*")
_MOST_FRAMES: Final = 400
_MOST_CODE: Final = 300


def parse_exception_class(text: str) -> str | None:
    """Give the class that the head of such a traceback names; None for any other line."""
    match = _HEAD.match(text.strip())
    if match is None or not (len(match["space"]) > 1 or is_exception_name(match["name"])):
        return None
    return match["name"]


def is_source_line(text: str) -> bool:
    """Say whether a line within such a traceback is source that it shows."""
    return _SHOWN.match(text) is not None


def read_cell_frames(rows: Iterator[Row], name: str) -> tuple[list[Frame], Row | None]:
    """Read frames up to the line of the exception."""
    ending = re.compile(rf"(?:[\w.]*\.)?{re.escape(name.rpartition('.')[2])}(?::|$)")
    frames: list[Frame] = []
    pending: re.Match[str] | None = None
    for row in rows:
        text = row.text.rstrip()
        if ending.match(text):
            _add(frames, pending, None)
            return frames, row
        if (run := _RUN.match(text.lstrip())) is not None:
            _add(frames, pending, run)
            pending = None
        elif "Traceback (most recent" in text:
            break
        elif not is_source_line(text) and (match := _FRAME.match(text)) is not None:
            _add(frames, pending, None)
            pending = match
    _add(frames, pending, None)
    return frames, None


def _add(frames: list[Frame], match: re.Match[str] | None, run: re.Match[str] | None) -> None:
    """Take a frame: where it is, and the line that was run, as far as they are shown."""
    if match is None or len(frames) >= _MOST_FRAMES:
        return
    file = match["file"].removesuffix(",")
    line = match["line"] or match["line2"] or (run["line"] if run else "")
    function = _SIGNATURE.sub("", match["function"] or "").strip()
    if not (line or function):
        return
    code = run["code"].strip()[:_MOST_CODE] if run else ""
    frames.append(Frame(file, parse_whole_number(line) or 0, function, code, is_library(file)))
