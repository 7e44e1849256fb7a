r"""The printed output of a Jupyter notebook, on the raw lines of its file.

In: the bytes of an `.ipynb` file (nbformat 4) as they are read. Out: text with as many lines as the
file: streams, errors, plain and HTML results in the order of the cells, each on its raw line;
everything else (source, pictures, metadata) is an empty line. Several printed lines within one line
of the file are parted by `\r`. Not here: what the output means.

An error without a traceback gives its name and value instead. No more of the file is held than one
string of it: a tokenizer of our own, since the parsers that stream JSON do not tell the line of a
string, and end where the file was cut off.
"""

import json
import re
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.reading.sources import Readable

_PIECE: Final = 1 << 20
_LONGEST: Final = 16 << 20
"""Bytes of a string beyond which it is passed over."""
_HEAD: Final = compile_lazily(rb'\s*\{\s*"(?:cells|metadata|nbformat(?:_minor)?)"')
_TOKEN: Final = compile_lazily(
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
    return _HEAD.match(head) is not None and b'"cell_type"' in head


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
        for token in _TOKEN.finditer(data, begin):
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
