"""Join a Python traceback across its lines.

Chained, quoted inside another, boxed by Rich, spread over ranks.

In: the block's bytes and the line "Traceback (most recent call last)", or the first frame of a
paste that begins below that line. Out: a `Traceback` with frames and the exception line, or None
where no frame follows. Not here: what a single line of it is (`extraction.frames`), what the
exception means.
"""

import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Final

from postmortem.core.findings import Frame, Traceback
from postmortem.core.log_text import ANSI, compile_lazily
from postmortem.core.message import cut
from postmortem.extraction.frames import (
    Row,
    is_exception_line,
    is_exception_name,
    match_exception,
    match_frame,
    parse_exception_class,
    parse_raise_statement,
    parse_test_frames,
    parse_test_name,
    read_boxed_frames,
    read_cell_frames,
    read_plain_frames,
)
from postmortem.extraction.trailing_context import (
    BETWEEN,
    LOGGED,
    MOST_BEHIND,
    PROMPT,
    REPORTED,
    TEST,
    find_first_ordinary_line,
    identify_reporter,
    is_continued,
    is_logged,
    is_reported,
)
from postmortem.reading.windows import LONG_REACH, FollowedLine, View, is_same_process

ANCHOR: Final = b"(most recent call last)"
"""Without the word before it, which may have a colour of its own."""
FRAME_ANCHOR: Final = b'File "'
CHAINS: Final = (
    b"During handling of the above exception",
    b"The above exception was the direct cause",
)

_HEAD: Final = "Traceback (most recent call last)"
_GROUPED: Final = compile_lazily(r"\s*[|+] (?:Exception Group )?Traceback ")
_GROUP_BAR: Final = compile_lazily(r"^\s*[|+] ?")
_GROUP_RULE: Final = compile_lazily(r"\s*\+-")
"""What separates the members of an exception group."""
_LITERAL: Final = compile_lazily(r"'[^'\n]*'|\"[^\"\n]*\"|-?\d+")
"""A key as KeyError prints it: nothing of it stands on further lines."""
_RECORD: Final = compile_lazily(
    r"[\[(]?(?:epoch|step|iter\w{0,7})\b[^\n]{0,60}?\d[^\n]{0,80}?\b\w{0,20}loss\w{0,10}\W{1,3}[\d.]",
    re.IGNORECASE,
)
"""A record of the training that goes on."""
_OF_SOURCE: Final = frozenset({"SyntaxError", "IndentationError", "TabError"})
"""Exceptions that have no function: what they name is the source that cannot be read."""
_HEADINGS: Final = ("Exception encountered when calling ", "Graph execution error:")
_COMPILER: Final = "torch._dynamo"
_MOST_ADVICE: Final = 60
"""Lines of advice between an exception of the compiler and the code that was compiled."""
_FROM_USER_CODE: Final = "from user code:"
_BAR: Final = compile_lazily(r"\d%\|")
_OTHER_PROGRAM: Final = compile_lazily(
    r"(?:wandb|swanlab|srun|slurmstepd|mpirun|mpiexec)(?:\[\d+\])?: |usage: "
)
_FIGURES: Final = compile_lazily(r"[\d.,]+|\s+")
_MOST_FOREIGN: Final = 512
"""Lines of other processes in a row behind which a traceback is not followed."""
_MOST_HEADS: Final = 16
"""Further tracebacks of the process, behind the heads of which one is not followed: processes
without labels print into each other, but a box that nobody closes would be followed to its end."""
_MOST_TEXT: Final = 2000


def read(view: View, source: int, base: int) -> Traceback | None:
    """Read the traceback that begins on this line.

    Args:
        view: the line that holds the anchor.
        source: index of the source, for the result.
        base: offset of the block's first byte in the stream.
    """
    head = view.cleaned
    rows = _iter_rows(view)
    if (test := parse_test_name(head.text)) is not None:
        return _read_test_failure(view, source, base, rows, test)
    if _HEAD not in head.text:
        return None
    if _GROUPED.match(head.text) is not None:
        rows = _strip_bars(rows)
        frames, last = read_plain_frames(rows, 0)
    elif (name := parse_exception_class(head.text)) is not None:
        frames, last = read_cell_frames(rows, name)
        if frames and last is None:
            return _cut_off(_build_traceback(view, source, base, frames, None, rows), name)
    elif "─" in head.text or "╭" in head.text:
        frames, last = read_boxed_frames(rows)
    else:
        frames, last = read_plain_frames(rows, _measure_indent(head.text))
    if not frames and (last is None or match_exception(last.text) is None):
        return None
    return _cut_off(_build_traceback(view, source, base, frames, last, rows))


def _cut_off(found: Traceback, name: str = "") -> Traceback:
    """Infer the exception from its `raise` statement or its name where its own line is missing.

    From the head that names its class, and from the statement that raised it.
    """
    if found.exception or not found.frames:
        return found
    raised = parse_raise_statement(found.frames[-1].code)
    if raised is None:
        return dataclasses.replace(found, exception=name)
    return dataclasses.replace(found, exception=name or raised[0], message=raised[1])


def read_headless(view: View, source: int, base: int) -> tuple[Traceback | None, int]:
    """Read a traceback whose first lines are cut off.

    It counts only if an exception follows the frames.

    Returns:
        The traceback, and the offset in the stream up to which frames have been looked at.
    """
    head = view.cleaned
    match = match_frame(head.text)
    if match is None:
        return None, base + view.end
    first = Row(view.number, head.text, view.end)
    rows = _iter_rows(view)
    frames, last = read_plain_frames(
        itertools.chain([first], rows), max(0, _measure_indent(head.text) - 2)
    )
    if (
        last is None
        or (ending := match_exception(last.text)) is None
        or not is_exception_name(ending["name"])
        or (not match["function"] and ending["name"] not in _OF_SOURCE)
    ):
        return None, base + (last.end if last else view.end)
    return _build_traceback(view, source, base, frames, last, rows), base + last.end


def _read_test_failure(
    view: View, source: int, base: int, rows: Iterator[Row], test: str
) -> Traceback | None:
    """Read the section of a failed test; what it printed stands behind it and is no sequel."""
    frames, raised, end = parse_test_frames(rows, test)
    if not frames or raised is None:
        return None
    found = _build_traceback(view, source, base, frames, raised, iter(()))
    return dataclasses.replace(found, end_line=max(end, found.end_line), aside=TEST, went_on=0)


def _strip_bars(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the lines of one member of an exception group, without what is drawn before them."""
    for row in rows:
        if _GROUP_RULE.match(row.text) is not None:
            return
        yield row._replace(text=_GROUP_BAR.sub("", row.text, count=1))


def _measure_indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _build_traceback(
    view: View, source: int, base: int, frames: list[Frame], last: Row | None, rows: Iterator[Row]
) -> Traceback:
    head = view.cleaned
    name, message, exception = "", "", last
    looked: list[Row] = []
    if last is not None and (match := match_exception(last.text)):
        name, message = match["name"], (match["message"] or "")
        if not _is_whole_key(name, message):
            message, exception, looked = _read_whole_message(message, last, rows, view.data)
        if _COMPILER in name:
            looked += itertools.islice(rows, _MOST_ADVICE)
            frames = [*frames, *_read_compiled_frames(looked)]
    before = view.data[max(0, view.start - 300) : view.start]
    behind = list(itertools.islice(itertools.chain(looked, rows), MOST_BEHIND))
    ordinary = find_first_ordinary_line(behind)
    return Traceback(
        exception=name,
        message=cut(message, _MOST_TEXT),
        frames=tuple(frames),
        source=source,
        where=head.where,
        line=view.number,
        end_line=(exception or last or Row(view.number, "", view.end)).number,
        exception_line=(last or Row(view.number, "", 0)).number,
        offset=base + view.start,
        end_offset=base + (last.end if last else view.end),
        time=head.time,
        level=head.level,
        chained=any(phrase in before for phrase in CHAINS),
        wrapped="Original Traceback" in head.text,
        aside=identify_reporter(view) or _infer_logging(view, ordinary, behind),
        went_on=ordinary.number if ordinary is not None else 0,
    )


def _infer_logging(view: View, ordinary: Row | None, behind: Iterable[Row]) -> str:
    """Say whether the program logged the error, and whether it goes on behind it."""
    if ordinary is not None and is_continued(view, behind, ordinary):
        return BETWEEN
    if not is_reported(view):
        return ""
    is_going_on = ordinary is not None and ordinary.level != ""
    return LOGGED if is_going_on and is_logged(view) else REPORTED


def _read_compiled_frames(rows: Iterable[Row]) -> list[Frame]:
    """Read the frames of the code that was compiled, which stand behind what went wrong with it."""
    behind = itertools.dropwhile(lambda row: _FROM_USER_CODE not in row.text, rows)
    next(behind, None)
    return read_plain_frames(iter([*behind, Row(0, "end", 0)]), 0)[0]


def _iter_rows(view: View) -> Iterator[Row]:
    """Yield the cleaned lines of the same process that follow."""
    data, position, number, foreign, heads = view.data, view.end, view.number, 0, 0
    limit = min(view.start + LONG_REACH, len(data))
    end, where = b"\n" if data.find(b"\n", view.start, limit) >= 0 else b"\r", view.cleaned.where
    passed, spend = view.passed, view.rows.spend
    while position < limit:
        line = passed.get(position)
        if line is None or line.end >= limit:
            newline = data.find(end, position, limit)
            if newline < 0:
                return
            line = _inspect_line(view, position, newline + 1, end, limit)
        position, cleaned = line.end, line.cleaned
        number += 1
        spend(1)
        foreign += 1
        if foreign > _MOST_FOREIGN:
            return
        if is_same_process(cleaned.where, where):
            foreign = 0
            heads += _HEAD in cleaned.text
            if heads > _MOST_HEADS:
                return
            yield Row(
                number,
                cleaned.text,
                position,
                (line.begin, line.close) if cleaned.time is not None or cleaned.level else None,
                cleaned.level,
                cleaned.where == where,
            )


def _inspect_line(view: View, before: int, start: int, end: bytes, limit: int) -> FollowedLine:
    """Look at a line, and keep it for other tracebacks.

    What a limit or a carriage return ends may end elsewhere for another one, and is not kept.
    """
    close = view.data.find(end, start, limit)
    borders = _find_last_redraw(view.data, start, close if close >= 0 else limit)
    line = FollowedLine(*borders, close if close >= 0 else limit, view.clean_at(*borders))
    return view.passed_at(before, line) if close >= 0 and end == b"\n" else line


def _get_stamp_form(data: bytes, row: Row) -> str:
    """Give the form of what a logger and a container put before a line, without its figures."""
    if row.stamped is None:
        return ""
    bare = ANSI.sub("", data[slice(*row.stamped)].decode("utf-8", "replace"))
    return _FIGURES.sub("0", bare[: len(bare) - len(row.text)])


def _find_last_redraw(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Give the borders of what a line shows at last, where it is drawn over and over."""
    if data.find(b"\r", start, end) < 0:
        return start, end
    while end > start and data[end - 1] == 13:
        end -= 1
    return data.rfind(b"\r", start, end) + 1 or start, end


def _is_whole_key(name: str, message: str) -> bool:
    """Say whether a message is the key that a KeyError prints, which nothing continues."""
    return name.endswith("KeyError") and _LITERAL.fullmatch(message) is not None


def _read_whole_message(
    message: str, last: Row, rows: Iterator[Row], data: bytes
) -> tuple[str, Row, list[Row]]:
    """Add the lines that continue a message.

    Up to a blank line, a prefix of another kind, or thirty lines. A blank line behind a heading
    that says nothing itself, as Keras and TensorFlow print it, belongs to the message.

    Returns:
        The message, its last line, and the lines that were looked at.
    """
    end, own, looked = last, _get_stamp_form(data, last), list[Row]()
    for count, row in enumerate(rows):
        looked.append(row)
        if count == 0 and not row.text.strip() and message.startswith(_HEADINGS):
            continue
        if not _is_continuation(row, count, len(message)) or _get_stamp_form(data, row) not in {
            "",
            own,
        }:
            break
        message += "\n" + row.text
        end = row
    return message, end, looked


def _is_continuation(row: Row, count: int, length: int) -> bool:
    """Say whether a line may be the next one of a message of so many lines and characters."""
    text = row.text.strip()
    if (
        count >= 30
        or length > _MOST_TEXT
        or not text
        or "Traceback (most recent" in text
        or is_exception_line(text)
    ):
        return False
    if not row.text.startswith((" ", "\t")) and count >= 4:
        return False
    others = (_OTHER_PROGRAM, _RECORD, PROMPT)
    return not (_BAR.search(row.text) or any(other.match(row.text) for other in others))
