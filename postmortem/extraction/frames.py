"""The frames of a Python traceback and the exception behind them, line by line.

In: the cleaned lines behind the head of a traceback. Out: frames, and the line that may hold the
exception; what a line is as part of a traceback. Not here: which lines those are, messages of
several lines (`extraction.traceback`).
"""

import functools
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.core.findings import Frame
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.numerals import parse_whole_number

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
            _add(frames, pending, "")
            pending, last = match, row
        elif not (code := row.text.strip()):
            if not frames and pending is None:
                return frames, None
        elif pending is not None and not (
            _is_traceback_end(row.text, indent) and match_exception(row.text)
        ):
            _add(frames, pending, code)
            pending = None
        elif _is_traceback_end(row.text, indent):
            _add(frames, pending, "")
            return frames, row
    _add(frames, pending, "")
    return frames, last


def read_boxed_frames(rows: Iterator[Row]) -> tuple[list[Frame], Row | None]:
    """Read a traceback that Rich has drawn a box around; the exception follows the box."""
    frames: list[Frame] = []
    pending: re.Match[str] | None = None
    closed = False
    for row in _join_rows(rows):
        if match := _BOXED.search(row.text):
            _add(frames, pending, "")
            pending = match
        elif pending is not None and (run := _BOXED_RUN.search(row.text)):
            _add(frames, pending, run["code"].strip("│ "))
            pending = None
        elif row.text.lstrip().startswith("╰"):
            closed = True
            _add(frames, pending, "")
            pending = None
        elif closed and row.text.strip():
            return frames, row
    _add(frames, pending, "")
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


def _add(frames: list[Frame], match: re.Match[str] | None, code: str) -> None:
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
