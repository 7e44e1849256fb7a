"""Prepare a report for people: its language, its missing words, short texts, numbers and places.

In: an `Analysis` or a `Replayed`, a language; text from a log, numbers, places. Out: a
`Diagnosis` or a `Replayed` in that language, an input that is no log named, a blank first failure
filled in; short plain text. Not here: labels of the reports (`report.words`), layout, redaction,
making a text harmless (`core.log_text`), escaping, which each form does last. This is the one
place where a language is chosen.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from postmortem.core.answer import Event, FirstFailure
from postmortem.core.diagnosis import Analysis, Diagnosis, Replayed
from postmortem.core.findings import ProcessId, Source
from postmortem.core.log_text import compile_lazily, format_one_line
from postmortem.core.message import Message
from postmortem.core.wording import convert_texts
from postmortem.report.words import Words


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


def translate_analysis(analysis: Analysis, language: str) -> Diagnosis:
    """Give the same with all texts in `en` or `zh`."""
    diagnosis: Diagnosis = convert_texts(analysis, lambda message: message.text(language))
    return replace(diagnosis, language=language)


def translate_replay(found: Replayed[Message], language: str) -> Replayed:
    """Give the same with all texts in `en` or `zh`."""
    chosen: Replayed = convert_texts(found, lambda said: said.text(language))
    return chosen


_LARGEST_BLANK: Final = 4096
"""Bytes up to which the end of a file is all of it: if that holds nothing, the file is blank."""
_WITHOUT_LOG: Final = frozenset({"not-a-training-log", "incomplete"})
_NO_CONTENT: Final = compile_lazily(r"[\s:：,;.—-]*")
_BARE_EXCEPTION: Final = compile_lazily(r"([\w.]+)\s*:\s*")


def prepare_for_display(diagnosis: Diagnosis) -> Diagnosis:
    """Mend the texts of a diagnosis; findings, numbers and places stay."""
    words = Words(diagnosis.language)
    first = _fill_first_failure(diagnosis)
    shown = replace(
        diagnosis,
        first_failure=first,
        timeline=tuple(
            _update_failure_event(event, diagnosis.first_failure, first, words)
            for event in diagnosis.timeline
        ),
    )
    kind = detect_input_type(diagnosis)
    if not kind:
        return shown
    name = next(
        (
            shorten_source_path(diagnosis, index, words)
            for index, source in enumerate(diagnosis.sources)
            if source.kind == "environment" and source.path != "-"
        ),
        "env.txt",
    )
    return replace(
        shown,
        verdict=replace(
            shown.verdict,
            summary=words(f"input.{kind}.says", name=name),
            need=(),
            not_checked=(),
            would_change=(),
        ),
    )


def detect_input_type(diagnosis: Diagnosis) -> str:
    """Tell what an input without any log is: `empty`, `blank`, `environment` or `other`.

    An empty string if there is a log.
    """
    read = read_sources(diagnosis)
    if diagnosis.verdict.cause is not None or not read:
        return ""
    logs = list_log_sources(diagnosis)
    if not logs:
        return "" if diagnosis.outcome == "stalled" else "environment"
    if not any(log.bytes for log in logs):
        return "empty"
    if diagnosis.outcome in _WITHOUT_LOG and _is_blank(diagnosis, logs):
        return "blank"
    return "other" if diagnosis.outcome == "not-a-training-log" else ""


def list_log_sources(diagnosis: Diagnosis) -> tuple[Source, ...]:
    """Give the sources that were read as a log, not as an environment dump."""
    return tuple(source for source in read_sources(diagnosis) if source.kind != "environment")


def _is_blank(diagnosis: Diagnosis, logs: tuple[Source, ...]) -> bool:
    """Say whether a log holds blank lines only: then no end of it was kept to be quoted."""
    excerpt = diagnosis.excerpt
    is_quoted = excerpt is not None and diagnosis.sources[excerpt.source].kind != "environment"
    return (
        not is_quoted
        and not diagnosis.signatures
        and not diagnosis.series
        and sum(log.bytes for log in logs) <= _LARGEST_BLANK
    )


def _fill_first_failure(diagnosis: Diagnosis) -> FirstFailure | None:
    """Give the first failure with words for it.

    An exception without name and message is quoted from the log, or left unsaid.
    """
    first = diagnosis.first_failure
    if first is None:
        return None
    bare = _BARE_EXCEPTION.fullmatch(first.why)
    if bare:
        return replace(first, why=bare[1])
    if not _NO_CONTENT.fullmatch(first.why):
        return first
    sentence = (
        quote.strip().partition("\n")[0]
        for quote in iter_kept_lines(diagnosis, first.source, first.line)
    )
    return replace(
        first, why=next((quote for quote in sentence if not _NO_CONTENT.fullmatch(quote)), "")
    )


def _update_failure_event(
    event: Event, before: FirstFailure | None, first: FirstFailure | None, words: Words
) -> Event:
    """Give the timeline's entry of the first failure the same words."""
    if (
        before is None
        or first is None
        or before.why == first.why
        or (event.source, event.line) != (first.source, first.line)
        or not event.text.endswith(before.why)
    ):
        return event
    label = event.text.removesuffix(before.why).rstrip(" :：")
    return replace(event, text=words("colon").join(part for part in (label, first.why) if part))
