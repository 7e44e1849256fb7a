"""Format text, numbers and places for people.

In: text from a log, numbers, places. Out: short plain text. Not here: making a text harmless
(`core.log_text`), escaping for HTML or Markdown, which each form does last.
"""

import math
from collections.abc import Iterator

from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import ProcessId, Source
from postmortem.core.log_text import escape_control_characters
from postmortem.core.message import cut
from postmortem.report.words import Words


def format_one_line(text: str, limit: int) -> str:
    """Bring a text onto one line of at most `limit` characters."""
    flat = " ⏎ ".join(
        part.strip() for part in escape_control_characters(text).strip().split("\n") if part.strip()
    )
    return cut(flat, limit)


def format_number(value: float | None, digits: int = 5) -> str:
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


def format_time(time: str | None) -> str:
    """Write a printed time without the marks for what it lacks: `11-19T22:04:11`, `22:04:11`."""
    return format_one_line((time or "").removeprefix("--").removeprefix("T"), 40)


def format_weight(value: float) -> str:
    """Write a weight with its sign."""
    return f"{value:+.1f}"


def format_percent(probability: float) -> str:
    """Write a probability; none reads as certain: one of 1.0 was rounded to it."""
    share = probability * 100
    if share < 1:
        return "<1%" if share > 0 else "0%"
    return ">99%" if share > 99 else f"{share:.0f}%"


def process(where: ProcessId, words: Words) -> str:
    """Name the process that printed a line: `rank 3 on node-2`, or an empty string."""
    parts = []
    if where.rank is not None:
        parts.append(words("rank", value=where.rank))
    elif where.local_rank is not None:
        parts.append(words("local-rank", value=where.local_rank))
    if where.node is not None:
        parts.append(words("node", value=format_one_line(where.node, 60)))
    if where.pid is not None and not parts:
        parts.append(words("pid", value=where.pid))
    return " ".join(parts)


def shorten_source_path(diagnosis: Diagnosis, source: int | None, words: Words) -> str:
    """Give the shortest end of a source's path that names it and no other source."""
    if source is None or not 0 <= source < len(diagnosis.sources):
        return ""
    path = diagnosis.sources[source].path
    if path == "-":
        return words("stdin")
    pieces = _split_path(path)
    others = [
        found
        for candidate in diagnosis.sources
        if (found := _split_path(candidate.path))[-1] == pieces[-1] and candidate.path != path
    ]
    count = next(
        (
            count
            for count in range(1, len(pieces) + 1)
            if all(other[-count:] != pieces[-count:] for other in others)
        ),
        0,
    )
    return format_one_line("/".join(pieces[-count:]) if count else path, 200)


def _split_path(path: str) -> list[str]:
    return path.replace("\\", "/").rstrip("/").split("/")


def place(
    diagnosis: Diagnosis, source: int | None, lines: tuple[int | None, int | None], words: Words
) -> str:
    """Name a place in a log: `train.log:1832`, `train.log:1832-1840`, or an empty string."""
    name = shorten_source_path(diagnosis, source, words)
    first, last = lines
    if first is None:
        return name
    return f"{name}:{first}" if last in (None, first) else f"{name}:{first}-{last}"


def read_sources(diagnosis: Diagnosis) -> tuple[Source, ...]:
    """Give the sources that were read, without the ignored ones."""
    return tuple(source for source in diagnosis.sources if source.kind != "ignored")


def iter_kept_lines(diagnosis: Diagnosis, source: int, line: int) -> Iterator[str]:
    """Yield what is kept of a raw line.

    The line itself, if the excerpt shows it, then what signatures have quoted of it.
    """
    excerpt = diagnosis.excerpt
    if (
        excerpt is not None
        and excerpt.source == source
        and 0 <= line - excerpt.first_line < len(excerpt.lines)
    ):
        yield excerpt.lines[line - excerpt.first_line]
    yield from (
        hit.text for hit in diagnosis.signatures if (hit.source, hit.line) == (source, line)
    )
