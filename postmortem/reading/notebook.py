r"""What the cells of a Jupyter notebook printed, on the lines of the file where it stands.

In: the whole text of an `.ipynb` file (nbformat 4). Out: text with as many lines as the file: streams, errors, plain and HTML results in the order of the cells,
each on its raw line; everything else (source, pictures, metadata) is an empty line. Several printed lines within one line of the file are parted by `\r`.
Not here: what the output means.

An error without a traceback gives its name and value instead.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

LARGEST: Final = 256 << 20
"""Bytes of a notebook that is still read as one; it must be held whole."""
_HEAD: Final = re.compile(rb'\s*\{\s*"(?:cells|metadata|nbformat(?:_minor)?)"')
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]')
_OUTPUT: Final = 5
"""Containers around what an output holds: the notebook, its cells, a cell, its outputs, an output."""
_PRINTED: Final = frozenset({("text",), ("traceback",), ("data", "text/plain"), ("data", "text/html")})
_ERROR: Final = frozenset({("ename",), ("evalue",)})


def claims(head: bytes) -> bool:
    """Say whether a file that begins like this is a notebook."""
    return _HEAD.match(head) is not None and b'"cell_type"' in head


def outputs(raw: bytes) -> bytes:
    """Give what the cells printed; a file cut off in the middle gives what is there."""
    text = raw.decode("utf-8", "replace")
    lines: dict[int, list[str]] = {}
    line, position = 0, 0
    for start, printed in _printed(text):
        line += text.count("\n", position, start)
        position = start
        lines.setdefault(line, []).append(printed.removesuffix("\n").replace("\r\n", "\r").replace("\n", "\r"))
    return "\n".join("\r".join(lines.get(number, ())) for number in range(text.count("\n") + 1)).encode("utf-8", "replace")


def _printed(text: str) -> Iterator[tuple[int, str]]:
    """Yield where a printed string stands in the file, and the string."""
    path: list[str] = []
    key, error = "", dict[str, tuple[int, str]]()
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in "{[":
            path.append(key)
            key = ""
        elif mark in "}]":
            if len(path) == _OUTPUT and "evalue" in error:
                start, value = error["evalue"]
                yield start, ": ".join(part for part in (error.get("ename", (0, ""))[1], value) if part)
            error = error if len(path) > _OUTPUT else {}
            path = path[:-1]
            key = ""
        elif text[token.end():token.end() + 8].lstrip().startswith(":"):
            key = _string(mark)
        elif len(path) >= _OUTPUT and (path[1], path[3]) == ("cells", "outputs"):
            place = (*path[_OUTPUT:], *([key] if key else []))
            if place in _PRINTED:
                error = {} if place == ("traceback",) else error
                yield token.start(), _string(mark)
            elif place in _ERROR:
                error[key] = (token.start(), _string(mark))
            key = ""
        else:
            key = ""


def _string(token: str) -> str:
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token[1:-1]
