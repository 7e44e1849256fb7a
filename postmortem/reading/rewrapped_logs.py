r"""Unwrap logs that were packed once more: notebooks, lists of lines, Docker records, terminals.

In: the whole of a short log, in UTF-8; the bytes of an `.ipynb` file (nbformat 4) as they are read.
Out: the lines as the program printed them, or None where nothing was packed. Not here: encodings
(`reading.decode`), what the output means.

A list of strings (`["line\n", ...]`, as JSON or as Python shows it) is given item by item, and its
lines count the printed ones. Records (`{"log": "line\n", ...}`) and wrapped lines keep their
numbers: behind a line that was joined stand as many empty ones.

Of a notebook streams, errors, plain and HTML results are given in the order of the cells, each on
its raw line; everything else (source, pictures, metadata) is an empty line. Several printed lines
within one line of the file are parted by `\r`. An error without a traceback gives its name and
value instead. No more of the file is held than one string of it: a tokenizer of our own, since the
parsers that stream JSON do not tell the line of a string, and end where the file was cut off.
"""

import ast
import json
import re
from typing import Final

from postmortem.core.log_text import ANSI, compile_lazily
from postmortem.reading.sources import Readable

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
    return [line for item in items for line in _unquote_item(item).removesuffix("\n").split("\n")]


def _unquote_item(item: str) -> str:
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


_PIECE: Final = 1 << 20
_LONGEST: Final = 16 << 20
"""Bytes of a string beyond which it is passed over."""
_NOTEBOOK_HEAD: Final = compile_lazily(rb'\s*\{\s*"(?:cells|metadata|nbformat(?:_minor)?)"')
_JSON_TOKEN: Final = compile_lazily(
    rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|(?P<open>\\?\Z))|[{}\[\]][{}\[\],\s]*', re.DOTALL
)
"""A run of brackets or a string; `open` where what was read ends within it."""
_INSIDE: Final = compile_lazily(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
"""The inside of a string from anywhere but between a backslash and what it escapes."""
_QUOTE: Final = ord('"')
_BRACKETS: Final = {ord("{"): True, ord("["): True, ord("}"): False, ord("]"): False}
_COLON: Final = 8
"""Bytes behind a string within which a colon tells that it is a key."""
_OUTPUT: Final = 5
"""Containers around what an output holds: the notebook, its cells, a cell, its outputs, one."""
_DEEPEST: Final = 8
"""Containers beyond which nothing printed stands."""
_LONGEST_KEY: Final = 100
_PRINTED: Final = frozenset(
    {("text",), ("traceback",), ("data", "text/plain"), ("data", "text/html")}
)
_ERROR: Final = frozenset({("ename",), ("evalue",)})


def is_notebook(head: bytes) -> bool:
    """Say whether a file that begins like this is a notebook."""
    return _NOTEBOOK_HEAD.match(head) is not None and b'"cell_type"' in head


class NotebookOutput:
    """What the cells printed, to be read like a file."""

    def __init__(self, source: Readable) -> None:
        """Take the bytes of the notebook, in UTF-8."""
        self.passed_over = 0
        """Printed strings that were too long to be held."""
        self._source, self._lines = source, _Lines()
        self._path: list[str] = []
        self._depth = 0
        self._key = ""
        self._error: dict[str, tuple[int, str]] = {}
        self._line = 0
        self._rest = self._ready = b""
        self._is_inside = self._is_done = False

    def read(self, size: int, /) -> bytes:
        """Give up to `size` bytes, b"" at the end."""
        while not self._ready and not self._is_done:
            piece = self._source.read(_PIECE)
            self._is_done = not piece
            self._take(self._rest + piece)
            error = {} if self._is_done else self._error
            self._ready = self._lines.written(
                error["evalue"][0] if "evalue" in error else self._line,
                is_all="evalue" not in error,
            )
        chunk, self._ready = self._ready[:size], self._ready[size:]
        return chunk

    def _take(self, data: bytes) -> None:
        """Understand what is whole, and keep what is not."""
        begin = self._behind_string(data, 0) if self._is_inside else 0
        counted, rest = 0, begin if self._is_inside else len(data)
        for token in _JSON_TOKEN.finditer(data, begin):
            start, end = token.span()
            if data[start] != _QUOTE:
                self._brackets(data[start:end])
                continue
            if token["open"] is not None or (end + _COLON > len(data) and not self._is_done):
                rest = start
                break
            if self._depth > _DEEPEST:
                continue
            self._line += data.count(b"\n", counted, start)
            counted = start
            if data[end : end + _COLON].lstrip().startswith(b":"):
                self._key = _decode_string(data[start:end]) if end - start < _LONGEST_KEY else ""
            else:
                self._value(data, start, end)
        if len(data) - rest > _LONGEST:
            self.passed_over += self._place() in _PRINTED
            rest = self._behind_string(data, rest + 1)
        self._line += data.count(b"\n", counted, len(data) if self._is_done else rest)
        self._rest = data[rest:]

    def _behind_string(self, data: bytes, start: int) -> int:
        """Find where a string that is passed over ends, or how far it is known to go."""
        inside = _INSIDE.match(data, start)
        end = inside.end() if inside else start
        self._is_inside = data[end : end + 1] != b'"'
        return end if self._is_inside else end + 1

    def _brackets(self, run: bytes) -> None:
        """Go up and down through containers; far down only their number counts."""
        opened, closed = run.count(b"{") + run.count(b"["), run.count(b"}") + run.count(b"]")
        if self._depth - closed > _DEEPEST:
            self._depth += opened - closed
            return
        for mark in run:
            if mark in _BRACKETS:
                self._bracket(_BRACKETS[mark])

    def _bracket(self, is_opening: bool) -> None:  # noqa: FBT001 -- one or the other
        if is_opening:
            self._depth += 1
            if self._depth <= _DEEPEST:
                self._path.append(self._key)
        else:
            if self._depth == _OUTPUT and "evalue" in self._error:
                line, value = self._error["evalue"]
                self._lines.say(
                    line,
                    ": ".join(
                        part for part in (self._error.get("ename", (0, ""))[1], value) if part
                    ),
                )
            if self._depth <= _OUTPUT:
                self._error = {}
            if 0 < self._depth <= _DEEPEST:
                self._path.pop()
            self._depth = max(0, self._depth - 1)
        self._key = ""

    def _value(self, data: bytes, start: int, end: int) -> None:
        place = self._place()
        if place in _PRINTED:
            self._error = {} if place == ("traceback",) else self._error
            self._lines.say(self._line, _decode_string(data[start:end]))
        elif place in _ERROR:
            self._error[self._key] = (self._line, _decode_string(data[start:end]))
        self._key = ""

    def _place(self) -> tuple[str, ...]:
        """Give the key path of a string within a cell's output; empty outside of outputs."""
        path = self._path
        if not _OUTPUT <= self._depth <= _DEEPEST or (path[1], path[3]) != ("cells", "outputs"):
            return ()
        return (*path[_OUTPUT:], self._key) if self._key else tuple(path[_OUTPUT:])


class _Lines:
    """Puts strings on their lines."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, str]] = []
        self._line, self._has_text = 0, False

    def say(self, line: int, text: str) -> None:
        """Put a string on a line; of one line in the order in which they come."""
        self._waiting.append((line, text))

    def written(self, until: int, *, is_all: bool) -> bytes:
        """Write all lines before one, and all that waits if nothing can come before it any more."""
        self._waiting.sort(key=lambda entry: entry[0])
        ready = self._waiting if is_all else [entry for entry in self._waiting if entry[0] < until]
        self._waiting = self._waiting[len(ready) :]
        parts = []
        for line, text in ready:
            parts += [
                self._breaks(line),
                b"\r" if self._has_text else b"",
                text.removesuffix("\n")
                .replace("\r\n", "\r")
                .replace("\n", "\r")
                .encode("utf-8", "replace"),
            ]
            self._has_text = True
        return b"".join([*parts, self._breaks(until)])

    def _breaks(self, line: int) -> bytes:
        """Go to the beginning of a line, unless it is the present one."""
        count, self._line = line - self._line, line
        self._has_text = self._has_text and not count
        return b"\n" * count


def _decode_string(token: bytes) -> str:
    text = token.decode("utf-8", "replace")
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return text[1:-1]
