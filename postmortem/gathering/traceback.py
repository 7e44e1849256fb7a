"""Join a Python traceback across its lines.

Chained, quoted inside another, boxed by Rich, spread over ranks.

In: the block's bytes and the line "Traceback (most recent call last)", or the first frame of a
paste that begins below that line. Out: a `Traceback` with frames and the exception line, or None
where no frame follows. Not here: what the exception means.
"""

import functools
import itertools
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.model.findings import Frame, Traceback
from postmortem.model.numerals import whole_number
from postmortem.model.said import cut
from postmortem.model.visible import ANSI
from postmortem.reading.windows import LONG_REACH, Passed, View, same_process

ANCHOR: Final = b"Traceback (most recent call last)"
FRAME_ANCHOR: Final = b'File "'
CHAINS: Final = (
    b"During handling of the above exception",
    b"The above exception was the direct cause",
)

_FRAME: Final = re.compile(
    r'\s*File "(?P<file>[^"]{1,400})", line (?P<line>\d+)(?:, in (?P<function>.{1,200}))?'
)
_BOXED: Final = re.compile(
    r"[│|] (?P<file>(?:/|[A-Za-z]:\\|<)[^:│]{1,300}):(?P<line>\d+) in(?:"
    r" (?P<function>[\w<>.]{1,100})|\s)"
)
_EXCEPTION: Final = re.compile(r"(?P<name>(?:[A-Za-z_]\w*\.)*[A-Z_a-z]\w*)(?:: ?(?P<message>.*))?$")
_KINDS: Final = "Error|Exception|Exit|Interrupt|Iteration|Warning|Timeout|Failure|Invalid|Abort"
_BARE: Final = re.compile(rf"(?:[A-Za-z_]\w*\.)+[A-Z]\w*$|[A-Z]\w*(?:{_KINDS})\w*$")
_PACKAGES: Final = (
    "transformers|accelerate|peft|trl|deepspeed|DeepSpeed|xtuner|mmengine|mmcv|lightning"
    "|pytorch_lightning|megatron|Megatron-LM|fairseq|torch|torchtune|torchtitan|bitsandbytes"
    "|datasets|diffusers|llamafactory|axolotl|swift|detectron2|vllm|ray|fastchat"
)
_LIBRARY: Final = re.compile(
    r"site-packages|dist-packages|[/\\]lib(?:64)?[/\\]python\d|[/\\]Lib[/\\]|^<frozen"
    r"|[/\\]pythonapi|\.zip[/\\]"
    rf"|[/\\](?:{_PACKAGES})[/\\](?:[\w.-]{{1,80}}[/\\]){{0,20}}[\w-]{{1,80}}\.pyx?$"
)
_BAR: Final = re.compile(r"\d%\|")
_OTHER_PROGRAM: Final = re.compile(
    r"(?:wandb|swanlab|srun|slurmstepd|mpirun|mpiexec)(?:\[\d+\])?: "
)
_FIGURES: Final = re.compile(r"[\d.,]+|\s+")
_MOST_FRAMES: Final = 400
_MOST_FOREIGN: Final = 512
"""Lines of other processes in a row behind which a traceback is not followed."""
_MOST_TEXT: Final = 2000
_MOST_KNOWN: Final = 512
"""Lines whose reading is known: tracebacks that are followed over the same ones read them once."""


class _Row(NamedTuple):
    number: int
    text: str
    end: int
    stamped: tuple[int, int] | None = None
    """The borders of the line where a logger or a container put its prefix before the text."""


def is_library(file: str) -> bool:
    """Say whether a frame's file belongs to an installed package or the standard library."""
    return bool(_LIBRARY.search(file))


def read(view: View, source: int, base: int) -> Traceback | None:
    """Read the traceback that begins on this line.

    Args:
        view: the line that holds the anchor.
        source: index of the source, for the result.
        base: offset of the block's first byte in the stream.
    """
    head = view.cleaned
    rows = _rows(view)
    frames, last = (
        _boxed(rows) if "─" in head.text or "╭" in head.text else _plain(rows, _indent(head.text))
    )
    if not frames and (last is None or _exception(last.text) is None):
        return None
    return _joined(view, source, base, frames, last, rows)


def read_headless(view: View, source: int, base: int) -> tuple[Traceback | None, int]:
    """Read a traceback whose first lines are cut off.

    It counts only if an exception follows the frames.

    Returns:
        The traceback, and the offset in the stream up to which frames have been looked at.
    """
    head = view.cleaned
    match = _framed(head.text)
    if match is None or not match["function"]:
        return None, base + view.end
    first = _Row(view.number, head.text, view.end)
    rows = _rows(view)
    frames, last = _plain(itertools.chain([first], rows), max(0, _indent(head.text) - 2))
    if last is None or (ending := _exception(last.text)) is None or not _BARE.match(ending["name"]):
        return None, base + (last.end if last else view.end)
    return _joined(view, source, base, frames, last, rows), base + last.end


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _joined(
    view: View, source: int, base: int, frames: list[Frame], last: _Row | None, rows: Iterator[_Row]
) -> Traceback:
    head = view.cleaned
    name, message, exception = "", "", last
    if last is not None and (match := _exception(last.text)):
        name, message = match["name"], (match["message"] or "")
        message, exception = _whole_message(message, last, rows, view.data)
    before = view.data[max(0, view.start - 300) : view.start]
    return Traceback(
        exception=name,
        message=cut(message, _MOST_TEXT),
        frames=tuple(frames),
        source=source,
        where=head.where,
        line=view.number,
        end_line=(exception or last or _Row(view.number, "", view.end)).number,
        exception_line=(last or _Row(view.number, "", 0)).number,
        offset=base + view.start,
        end_offset=base + (last.end if last else view.end),
        time=head.time,
        level=head.level,
        chained=any(phrase in before for phrase in CHAINS),
        wrapped="Original Traceback" in head.text,
    )


def _rows(view: View) -> Iterator[_Row]:
    """Yield the cleaned lines of the same process that follow."""
    data, position, number, foreign = view.data, view.end, view.number, 0
    limit = min(view.start + LONG_REACH, len(data))
    end, where = b"\n" if data.find(b"\n", view.start, limit) >= 0 else b"\r", view.cleaned.where
    passed, spend = view.passed, view.rows.spend
    while position < limit:
        one = passed.get(position)
        if one is None or one.end >= limit:
            newline = data.find(end, position, limit)
            if newline < 0:
                return
            one = _passed(view, position, newline + 1, end, limit)
        position, cleaned = one.end, one.cleaned
        number += 1
        spend(1)
        foreign += 1
        if foreign > _MOST_FOREIGN:
            return
        if same_process(cleaned.where, where):
            foreign = 0
            yield _Row(
                number,
                cleaned.text,
                position,
                (one.begin, one.close) if cleaned.time is not None or cleaned.level else None,
            )


def _passed(view: View, before: int, start: int, end: bytes, limit: int) -> Passed:
    """Look at a line.

    What a limit or a carriage return ends may end elsewhere for another traceback, and is not kept.
    """
    close = view.data.find(end, start, limit)
    borders = _last_frame(view.data, start, close if close >= 0 else limit)
    one = Passed(*borders, close if close >= 0 else limit, view.clean_at(*borders))
    return view.passed_at(before, one) if close >= 0 and end == b"\n" else one


def _stamp(data: bytes, row: _Row) -> str:
    """Give the form of what a logger and a container put before a text, without its figures."""
    if row.stamped is None:
        return ""
    bare = ANSI.sub("", data[slice(*row.stamped)].decode("utf-8", "replace"))
    return _FIGURES.sub("0", bare[: len(bare) - len(row.text)])


def _last_frame(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Give the borders of what a line shows at last, where it is drawn over and over."""
    if data.find(b"\r", start, end) < 0:
        return start, end
    while end > start and data[end - 1] == 13:
        end -= 1
    return data.rfind(b"\r", start, end) + 1 or start, end


def _plain(rows: Iterator[_Row], indent: int) -> tuple[list[Frame], _Row | None]:
    frames: list[Frame] = []
    pending: re.Match[str] | None = None
    last: _Row | None = None
    for row in rows:
        match, text = _framed(row.text), row.text.strip()
        if match:
            _add(frames, pending, "")
            pending = match
            last = row
        elif not text:
            if not frames and pending is None:
                return frames, None
        elif pending is not None and not (_ends(row.text, indent) and _exception(row.text)):
            _add(frames, pending, text)
            pending = None
        elif _ends(row.text, indent):
            _add(frames, pending, "")
            return frames, row
    _add(frames, pending, "")
    return frames, last


@functools.lru_cache(maxsize=_MOST_KNOWN)
def _framed(text: str) -> re.Match[str] | None:
    """Read a line as a frame; those of a crowd's tracebacks are few."""
    return _FRAME.match(text)


@functools.lru_cache(maxsize=_MOST_KNOWN)
def _ends(text: str, indent: int) -> bool:
    """Say whether a line stands as far left as the traceback's head and could be the exception."""
    stripped = text.lstrip()
    if (
        len(text) - len(stripped) > indent
        or _framed(text)
        or stripped.startswith(("^", "~~", "[Previous line"))
    ):
        return False
    return bool(_exception(stripped)) or len(text) - len(stripped) <= indent


@functools.lru_cache(maxsize=_MOST_KNOWN)
def _exception(text: str) -> re.Match[str] | None:
    stripped = text.strip().strip("│").strip()
    match = _EXCEPTION.match(stripped)
    if match is None or (match["message"] is None and not _BARE.match(stripped)):
        return None
    return match


def _add(frames: list[Frame], match: re.Match[str] | None, code: str) -> None:
    if match is not None and len(frames) < _MOST_FRAMES:
        frames.append(_frame(match, code))


@functools.lru_cache(maxsize=_MOST_KNOWN)
def _frame(match: re.Match[str], code: str) -> Frame:
    file = match["file"]
    return Frame(
        file,
        whole_number(match["line"]) or 0,
        (match["function"] or "").strip(),
        code[:300],
        is_library(file),
    )


def _boxed(rows: Iterator[_Row]) -> tuple[list[Frame], _Row | None]:
    """Read a traceback that Rich has drawn a box around; the exception follows the box."""
    frames: list[Frame] = []
    closed = False
    for row in rows:
        if match := _BOXED.search(row.text):
            _add(frames, match, "")
        elif row.text.lstrip().startswith("╰"):
            closed = True
        elif closed and row.text.strip():
            return frames, row
    return frames, None


def _whole_message(message: str, last: _Row, rows: Iterator[_Row], data: bytes) -> tuple[str, _Row]:
    """Add the lines that continue a message.

    Up to a blank line, a prefix of another kind, or thirty lines.
    """
    end, own = last, _stamp(data, last)
    for count, row in enumerate(rows):
        text = row.text.strip()
        if (
            count >= 30
            or len(message) > _MOST_TEXT
            or not text
            or "Traceback (most recent" in text
            or (_EXCEPTION.match(text) and _BARE.match(text.split(":")[0]))
        ):
            break
        if not row.text.startswith((" ", "\t")) and count >= 4:
            break
        if (
            _stamp(data, row) not in {"", own}
            or _BAR.search(row.text)
            or _OTHER_PROGRAM.match(row.text)
        ):
            break
        message += "\n" + row.text
        end = row
    return message, end
