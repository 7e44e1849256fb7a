"""Text and numbers made fit to be shown: nothing in a log may steer a terminal, a page or a comment.

In: text from a log, numbers, places. Out: short plain text. Not here: escaping for HTML or Markdown, which each form does last.
"""

import math
import re
from collections.abc import Sequence
from typing import Final

from postmortem.model.diagnosis import Diagnosis, Source
from postmortem.model.lines import Where
from postmortem.reading.prefixes import ANSI
from postmortem.report.words import Words

# Bidirectional controls reorder what a reader sees (CVE-2021-42574); U+2028 and U+2029 break lines in some viewers.
_STEERING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]")
_CR_BEFORE_BREAK: Final = re.compile(r"\r+(?=\n|$)")


def safe(text: str) -> str:
    r"""Take colours out and show every other control character as a picture or an escape; `\n` stays, a tab is four spaces."""
    bare = _CR_BEFORE_BREAK.sub("", ANSI.sub("", text)) if "\x1b" in text or "\r" in text else text
    return _STEERING.sub(_shown, bare).replace("\t", "    ")


def _shown(match: "re.Match[str]") -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\\u{code:04x}"


def one_line(text: str, limit: int) -> str:
    """Bring a text onto one line of at most `limit` characters."""
    flat = " ⏎ ".join(part.strip() for part in safe(text).strip().split("\n") if part.strip())
    return cut(flat, limit)


def cut(text: str, limit: int) -> str:
    """Cut a text that is too long and say so with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def number(value: float | None, digits: int = 5) -> str:
    """Write a number shortly: at most `digits` significant digits, a whole number in full."""
    if value is None:
        return "?"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if float(value).is_integer() and abs(value) < 1e7:
        return str(int(value))
    return f"{value:.{digits}g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def labels(values: Sequence[float]) -> tuple[str, ...]:
    """Write the numbers of an axis with as many digits as tell them apart."""
    texts: tuple[str, ...] = ()
    for digits in range(3, 10):
        texts = tuple(_thousands(value) or number(value, digits) for value in values)
        if len(set(texts)) == len(values):
            break
    return texts


def _thousands(value: float) -> str:
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if 10_000 <= abs(value) < 1e9 and abs(value) >= unit and value % (unit / 10) == 0:
            return f"{value / unit:g}{name}"
    return ""


def weight(value: float) -> str:
    """Write a weight with its sign."""
    return f"{value:+.1f}"


def percent(probability: float) -> str:
    """Write a probability; what is rounded never reads as certain."""
    share = probability * 100
    if share < 1:
        return "<1%" if share > 0 else "0%"
    return ">99%" if 99 < share < 100 else f"{share:.0f}%"


def process(where: Where, words: Words) -> str:
    """Name the process that printed a line: `rank 3 on node-2`, or an empty string."""
    parts = []
    if where.rank is not None:
        parts.append(words("rank", value=where.rank))
    elif where.local_rank is not None:
        parts.append(words("local-rank", value=where.local_rank))
    if where.node is not None:
        parts.append(words("node", value=one_line(where.node, 60)))
    if where.pid is not None and not parts:
        parts.append(words("pid", value=where.pid))
    return " ".join(parts)


def file_name(diagnosis: Diagnosis, source: int | None, words: Words) -> str:
    """Give the shortest end of a source's path that names it and no other source."""
    if source is None or not 0 <= source < len(diagnosis.sources):
        return ""
    path = diagnosis.sources[source].path
    if path == "-":
        return words("stdin")
    tail = _tail(path)
    is_shared = sum(_tail(one.path) == tail for one in diagnosis.sources) > 1
    return one_line(path if is_shared else tail, 200)


def _tail(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path


def place(diagnosis: Diagnosis, source: int | None, lines: tuple[int | None, int | None], words: Words) -> str:
    """Name a place in a log: `train.log:1832`, `train.log:1832-1840`, or an empty string."""
    name = file_name(diagnosis, source, words)
    first, last = lines
    if first is None:
        return name
    return f"{name}:{first}" if last in (None, first) else f"{name}:{first}-{last}"


def read_sources(diagnosis: Diagnosis) -> tuple[Source, ...]:
    """Give the sources that were read, without the ignored ones."""
    return tuple(source for source in diagnosis.sources if source.kind != "ignored")
