"""The frames of a traceback and the exception behind them, of Python, pytest and IPython.

In: the cleaned lines behind the head of a traceback, behind the name of a failed test, or behind
the line of IPython that names the class. Out: frames, and the line that may hold the exception;
what a line is as part of a traceback. Not here: which lines those are, messages of several lines
(`extraction.traceback`), tests whose style is `native`, which are ordinary tracebacks.

In pytest's long style a place follows its source, which ends with the failing line; in the short
one the source follows its place. What was raised stands behind `E`, an assertion without its class.

The head of IPython names the class: `KeyError      Traceback (most recent call last)`. A frame is a
line with a file or a cell and the source around the line that was run, each with its number;
nothing of that source is a message. The exception is the first line that begins with the class at
the left border.
"""

import dataclasses
import functools
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.core.findings import Frame
from postmortem.core.log_text import compile_lazily, parse_whole_number

_FRAME: Final = compile_lazily(
    r'\s*File "(?P<file>[^"]{1,400})", line (?P<line>\d+)(?:, in (?P<function>.{1,200}))?'
)
_BOXED: Final = compile_lazily(
    r"[│|] (?P<file>(?:/|[A-Za-z]:\\|<)[^:│]{1,300}):(?P<line>\d+) in(?:"
    r" (?P<function>[\w<>.]{1,100})|\s)"
)
_BOXED_RUN: Final = compile_lazily(r"❱ {0,8}\d{1,8} (?P<code>[^\n]*)")
_BROKEN: Final = compile_lazily(
    r"[│|] (?:/|[A-Za-z]:\\|<)(?![^│|]{0,300}:\d{1,8} in )[^│|]{20,300}[│|]?\s*$"
)
"""A place in a box whose line ends before the function."""
_EXCEPTION: Final = compile_lazily(
    r"(?P<name>(?:[A-Za-z_]\w*\.)*[A-Z_a-z]\w*(?:\([A-Z]\w{0,80}\)(?=: ))?)"
    r"(?:: ?(?P<message>.*))?$"
)
"""Ray puts the class of what a task raised behind its own, in brackets."""
_BARE: Final = compile_lazily(
    r"(?:[A-Za-z_]\w*\.)+[A-Z]\w*$"
    r"|[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Iteration|Warning|Timeout|Failure|Invalid|Abort)\w*$"
)
_PACKAGES: Final = (
    r"transformers|accelerate|peft|trl|deepspeed|DeepSpeed|xtuner|mmengine|mmcv|lightning"
    r"|pytorch_lightning|megatron|Megatron-LM|fairseq|torch|torchtune|torchtitan|bitsandbytes"
    "|datasets|diffusers|llamafactory|axolotl|swift|detectron2|vllm|ray|fastchat"
)
_LIBRARY: Final = compile_lazily(
    r"site-packages|dist-packages|[/\\]lib(?:64)?[/\\]python\d|[/\\]Lib[/\\]|^<(?!ipython|stdin)"
    r"|[/\\]pythonapi|\.zip[/\\]|\.p(?:yx|xi|xd)$|[/\\]transformers_modules[/\\]"
    r"|[/\\](?:bin|Scripts)[/\\][\w-]{1,80}(?:\.exe(?:[/\\]__main__\.py)?)?$"
    rf"|[/\\](?:{_PACKAGES})[/\\](?:[\w.-]{{1,80}}[/\\]){{0,20}}[\w-]{{1,80}}\.pyx?$"
)
_RAISE: Final = compile_lazily(
    r"raise (?P<name>(?:[A-Za-z_]\w*\.){0,8}[A-Z]\w*)\("
    r"(?:[rfbu]{0,2}(?P<quote>['\"])(?P<message>[^\n]*)(?P=quote))?"
)
_MOST_FRAMES: Final = 400
_MOST_KNOWN: Final = 512
"""Lines whose reading is known: tracebacks that are followed over the same ones read them once."""


class Row(NamedTuple):
    """A line that follows the head of a traceback."""

    number: int
    text: str
    end: int
    stamped: tuple[int, int] | None = None
    """The borders of the line where a logger or a container put its prefix before the text."""
    level: str = ""
    """The logger's level, as printed."""
    is_own: bool = True
    """Whether it has the label of the traceback's head, not only none that differs."""


def is_library(file: str) -> bool:
    """Say whether a frame's file belongs to an installed package or the standard library."""
    return bool(_LIBRARY.search(file))


def is_exception_name(name: str) -> bool:
    """Say whether an exception may be called so, message or not."""
    return bool(_BARE.match(name))


def is_exception_line(text: str) -> bool:
    """Say whether a line names an exception beyond doubt."""
    return bool(_EXCEPTION.match(text)) and is_exception_name(text.partition(":")[0])


def parse_raise_statement(code: str) -> tuple[str, str] | None:
    """Give the class and the message that a statement raises, as far as they stand there."""
    match = _RAISE.match(code.strip())
    return (match["name"], (match["message"] or "").strip()) if match else None


def read_plain_frames(rows: Iterator[Row], indent: int) -> tuple[list[Frame], Row | None]:
    """Read frames up to a line that stands as far left as the traceback's head."""
    frames: list[Frame] = []
    pending: re.Match[str] | None = None
    last: Row | None = None
    for row in rows:
        if match := match_frame(row.text):
            _add_frame(frames, pending, "")
            pending, last = match, row
        elif not (code := row.text.strip()):
            if not frames and pending is None:
                return frames, None
        elif pending is not None and not (
            _is_traceback_end(row.text, indent) and match_exception(row.text)
        ):
            _add_frame(frames, pending, code)
            pending = None
        elif _is_traceback_end(row.text, indent):
            _add_frame(frames, pending, "")
            return frames, row
    _add_frame(frames, pending, "")
    return frames, last


def read_boxed_frames(rows: Iterator[Row]) -> tuple[list[Frame], Row | None]:
    """Read a traceback that Rich has drawn a box around; the exception follows the box."""
    frames: list[Frame] = []
    pending: re.Match[str] | None = None
    closed = False
    for row in _join_rows(rows):
        if match := _BOXED.search(row.text):
            _add_frame(frames, pending, "")
            pending = match
        elif pending is not None and (run := _BOXED_RUN.search(row.text)):
            _add_frame(frames, pending, run["code"].strip("│ "))
            pending = None
        elif row.text.lstrip().startswith("╰"):
            closed = True
            _add_frame(frames, pending, "")
            pending = None
        elif closed and row.text.strip():
            return frames, row
    _add_frame(frames, pending, "")
    return frames, None


def _join_rows(rows: Iterator[Row]) -> Iterator[Row]:
    """Join the place of a frame that a narrow box has broken in two."""
    head: Row | None = None
    for row in rows:
        if head is not None and row.text.startswith(("│", "|")):
            text = head.text.rstrip("│| ") + row.text.strip("│| ")
            if _BOXED.search(f"{text} ") is None:
                text = f"{head.text.rstrip('│| ')} {row.text.strip('│| ')}"
            yield row._replace(text=f"{text} ")
            head = None
        elif _BROKEN.match(row.text):
            head = row
        else:
            yield row


@functools.lru_cache(maxsize=_MOST_KNOWN)
def match_frame(text: str) -> re.Match[str] | None:
    """Read a line as a frame; those of a crowd's tracebacks are few."""
    return _FRAME.match(text)


@functools.lru_cache(maxsize=_MOST_KNOWN)
def _is_traceback_end(text: str, indent: int) -> bool:
    """Say whether a line stands as far left as the head and could be the exception."""
    stripped = text.lstrip()
    if (
        len(text) - len(stripped) > indent
        or match_frame(text)
        or stripped.startswith(("^", "~~", "[Previous line"))
    ):
        return False
    return bool(match_exception(stripped)) or len(text) - len(stripped) <= indent


@functools.lru_cache(maxsize=_MOST_KNOWN)
def match_exception(text: str) -> re.Match[str] | None:
    """Read a line as an exception: its name, and its message if there is one."""
    stripped = text.strip().strip("│").strip()
    match = _EXCEPTION.match(stripped)
    if match is None or (match["message"] is None and not _BARE.match(stripped)):
        return None
    return match


def _add_frame(frames: list[Frame], match: re.Match[str] | None, code: str) -> None:
    if match is not None and len(frames) < _MOST_FRAMES:
        frames.append(_build_frame(match, code))


@functools.lru_cache(maxsize=_MOST_KNOWN)
def _build_frame(match: re.Match[str], code: str) -> Frame:
    file = match["file"]
    return Frame(
        file,
        parse_whole_number(match["line"]) or 0,
        (match["function"] or "").strip(),
        code[:300],
        is_library(file),
    )


TEST_ANCHOR: Final = b"___ "

_TEST_HEAD: Final = compile_lazily(r"_{3,200} (?P<test>[^_\s][^\n]{0,300}?) _{3,200}\s*$")
_TEST_END: Final = compile_lazily(r"={3,}|-{3,} |_{3,200} [^_\s]")
_TEST_PLACE: Final = compile_lazily(
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
    match = _TEST_HEAD.match(text.strip())
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
        if _TEST_END.match(text) is not None:
            break
        if (place := _TEST_PLACE.match(text) or _REQUEST.match(text)) is not None:
            is_open = place["function"] is not None  # its source follows
            frames.append(_build_test_frame(place, function, "" if is_open else code))
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


def _build_test_frame(place: re.Match[str], function: str, code: str) -> Frame:
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


_CELL_HEAD: Final = compile_lazily(
    r"(?P<name>(?:[A-Za-z_]\w*\.){0,8}[A-Za-z_]\w*)(?P<space> +)Traceback"
    r" \(most recent call last\)"
)
_CELL_FRAME: Final = compile_lazily(
    r"(?:File )?(?P<file>(?:[A-Za-z]:\\|[~./<]|Cell |Input )[^\n]{0,300}?|[\w/.-]{1,300}\.\w{2,4})"
    r"(?::(?P<line>\d{1,8})|, line (?P<line2>\d{1,8}))?"
    r"(?:,? in (?P<function>[^\n]{1,300}))?$"
)
_RUN_LINE: Final = compile_lazily(r"-{1,12}> ?(?P<line>\d{1,8})(?P<code> [^\n]*|$)")
_SHOWN: Final = compile_lazily(r"(?:-{1,12}> ?|\s{0,12})\d{1,8}(?:\s|$)")
_SIGNATURE: Final = compile_lazily(r"\(.*")


def parse_exception_class(text: str) -> str | None:
    """Give the class that the head of such a traceback names; None for any other line."""
    match = _CELL_HEAD.match(text.strip())
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
            _add_cell_frame(frames, pending, None)
            return frames, row
        if (run := _RUN_LINE.match(text.lstrip())) is not None:
            _add_cell_frame(frames, pending, run)
            pending = None
        elif "Traceback (most recent" in text:
            break
        elif not is_source_line(text) and (match := _CELL_FRAME.match(text)) is not None:
            _add_cell_frame(frames, pending, None)
            pending = match
    _add_cell_frame(frames, pending, None)
    return frames, None


def _add_cell_frame(
    frames: list[Frame], match: re.Match[str] | None, run: re.Match[str] | None
) -> None:
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
