r"""Unwrap logs that were packed once more: lists of lines, Docker records, wrapped terminals.

In: the whole of a short log, in UTF-8. Out: the lines as the program printed them, or None where
nothing was packed. Not here: notebooks (`reading.notebook`), encodings (`reading.decode`).

A list of strings (`["line\n", ...]`, as JSON or as Python shows it) is given item by item, and its
lines count the printed ones. Records (`{"log": "line\n", ...}`) and wrapped lines keep their
numbers: behind a line that was joined stand as many empty ones.
"""

import ast
import json
import re
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.visible import ANSI

_STRING: Final = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
_LIST: Final = compile_lazily(rf"\s*\[\s*(?:(?:{_STRING})\s*(?:,\s*)?)+\]?\s*")
_LIST_HEAD: Final = compile_lazily(r"\s{0,200}\[\s{0,200}[\"']")
_ITEM: Final = compile_lazily(
    r"\"(?:[^\"\\\n]|\\.)*(?:\"|\\?(?=\n)|\\?\Z)"
    r"|'(?:[^'\\\n]|\\.)*(?:'|\\?(?=\n)|\\?\Z)"
)
"""A string; what has no end runs to that of its line, so that nothing is read again and again."""
_LEAST_ITEMS: Final = 3
_RECORD: Final = b'{"log":"'
_NARROWEST, _WIDEST = 60, 400
_LEAST_CUT: Final = 2
"""Lines that a terminal must have cut within a word."""
_LEAST_SHARE: Final = 0.5
_RULE: Final = 2
"""Characters of which a line that parts others is made."""
_RULED: Final = compile_lazily(r"(?P<one>[=_*#~-])(?P=one){7}\s*$")
"""The end of a heading that is drawn over the whole width."""
_WITHIN: Final = compile_lazily(r"[\w/.,=:'\"()\[\]-]")
_NEW: Final = compile_lazily(
    r"\s*(?:File \"|Traceback \(|[\^~]+\s*$)|\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\[rank\d|\s{4}\S"
    r"|(?:INFO|WARN|WARNING|ERROR|DEBUG)\b|[IWE]\d{4} "
)
_BOX_END: Final = compile_lazily(r"╰─{40,400}╯")
_FIGURE: Final = compile_lazily(r"[-+]?(?:\d+(?:\.\d+)?|\b(?:nan|inf)\b)", re.IGNORECASE)
_COMPARED: Final = 12


def extract_printed_lines(data: bytes) -> bytes | None:
    """Give the lines that a program printed, if the text is a packing of them."""
    if data.lstrip().startswith((_RECORD, b'{"log": "')):
        return _extract_from_records(data)
    text = data.decode("utf-8", "replace")
    lines = (
        _extract_from_list(text)
        if _LIST_HEAD.match(text)
        else _join_wrapped_lines(text) or _join_below_boxes(text)
    )
    return None if lines is None else "\n".join(lines).encode("utf-8", "replace")


def _extract_from_records(data: bytes) -> bytes | None:
    found = []
    for line in data.split(b"\n"):
        try:
            text = json.loads(line)["log"] if line.strip() else ""
        except (ValueError, KeyError, TypeError, RecursionError):
            text = None
        if not isinstance(text, str):
            return None
        found.append(text.removesuffix("\n").replace("\n", "\r").encode("utf-8", "replace"))
    return b"\n".join(found)


def _extract_from_list(text: str) -> list[str] | None:
    items = _ITEM.findall(text) if _LIST.fullmatch(text) else []
    if len(items) < _LEAST_ITEMS:
        return None
    return [line for item in items for line in _read(item).removesuffix("\n").split("\n")]


def _read(item: str) -> str:
    try:
        return str(ast.literal_eval(item))
    except (ValueError, SyntaxError):
        return item[1:-1]


def _join_wrapped_lines(text: str) -> list[str] | None:
    """Join the lines that a terminal cut at its width."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if "\r" in text.replace("\r\n", "\n"):
        return None
    lengths = [len(ANSI.sub("", line)) for line in lines]
    width = max(lengths)
    if not _NARROWEST <= width <= _WIDEST:
        return None
    full = {number for number, length in enumerate(lengths[:-1]) if length == width}
    cut = _cut(lines, full)
    within = [number for number in cut if _is_within(lines[number], lines[number + 1])]
    if len(within) < _LEAST_CUT or len(within) < _LEAST_SHARE * len(full):
        return None
    if (
        len(
            {
                (_get_line_form(lines[number]), _get_line_form(lines[number + 1]))
                for number in within
            }
        )
        == 1
    ):
        return None  # two messages that always come one behind the other
    return _join_cut_lines(lines, cut)


def _join_below_boxes(text: str) -> list[str] | None:
    """Join the lines of the exception below a traceback that Rich has drawn a box around.

    Rich breaks it between words, at the width of the box.
    """
    lines = text.split("\n")
    widths = {
        number: len(end[0]) for number, line in enumerate(lines) if (end := _BOX_END.match(line))
    }
    cut: set[int] = set()
    for number, width in widths.items():
        last = number + 1
        while last + 1 < len(lines) and _is_full(lines[last], lines[last + 1], width):
            cut.add(last)
            last += 1
    return _join_cut_lines(lines, cut, " ") if cut else None


def _is_full(line: str, following: str, width: int) -> bool:
    """Say whether the first word of the next line had no room on this one."""
    word = following.split(" ", 1)[0]
    return bool(line.strip() and word) and len(line) <= width < len(line) + 1 + len(word)


def _cut(lines: list[str], full: set[int]) -> set[int]:
    """Give the full lines that go on: what stands elsewhere by itself is no rest of one."""
    own = {
        _get_line_form(line)
        for number, line in enumerate(lines)
        if number - 1 not in full and len(line) >= _COMPARED
    }
    return {
        number
        for number in full
        if _is_continuation(lines[number], lines[number + 1])
        and _get_line_form(lines[number + 1]) not in own
    }


def _join_cut_lines(lines: list[str], cut: set[int], between: str = "") -> list[str]:
    found: list[str] = []
    owed = 0
    for number, line in enumerate(lines):
        if number - 1 in cut:
            found[-1] += between + line
            owed += 1
        else:
            found += [""] * owed + [line]
            owed = 0
    return found + [""] * owed


def _is_continuation(line: str, following: str) -> bool:
    """Say whether the next line may be the rest of one, not another of its kind."""
    return (
        bool(following.strip())
        and _get_line_form(line) != _get_line_form(following)
        and _NEW.match(following) is None
        and _RULED.search(line) is None
        and len(set(line.strip())) > _RULE
        and len(set(following.strip())) > _RULE
    )


def _get_line_form(line: str) -> str:
    """Give the beginning of a line without its figures, however long they are."""
    return _FIGURE.sub("0", line[: 10 * _COMPARED])[:_COMPARED]


def _is_within(line: str, following: str) -> bool:
    """Say whether a line may be cut within a word; a capital behind a figure begins a line."""
    is_new = line[-1:].isdigit() and following[:1].isupper()
    return not is_new and bool(_WITHIN.match(line[-1:]) and _WITHIN.match(following[:1]))
