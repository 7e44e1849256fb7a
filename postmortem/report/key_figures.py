"""The user's own figures: the line that failed, and numbers from the run and its message.

In: a `Diagnosis` and the phrases of its language. Out: the raw line with its place, short pairs of
a label and a value, not yet escaped. Not here: reading a message (`report.message_figures`),
judging, layout.
"""

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.core.answer import Evidence
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import cut
from postmortem.core.names import GRAD_NORM, LOSS
from postmortem.core.shown import SeriesView
from postmortem.report.about_run import format_duration
from postmortem.report.for_people import detect_input_type
from postmortem.report.message_figures import extract_message_values
from postmortem.report.parts import get_main_cause, is_sound
from postmortem.report.plain import format_number, format_one_line, iter_kept_lines, process
from postmortem.report.plotted import select_series
from postmortem.report.words import Words

_LONGEST_QUOTE: Final = 320
_MOST: Final = 8
_IN_LOGS: Final = frozenset({"signature", "traceback"})
_AT_A_GLANCE: Final = 120
_PARTS: Final = compile_lazily(r"\w+")
_EVIDENCE_SEARCHED: Final = 3
"""Pieces of evidence whose lines may tell figures."""


class Quoted(NamedTuple):
    """A raw line of the log and where it stands."""

    source: int
    line: int
    text: str


def find_failing_line(diagnosis: Diagnosis) -> Quoted | None:
    """Give the line of the first failure; without one that of the strongest evidence in a log.

    Where the line ends in a colon, the next goes with it.
    """
    if detect_input_type(diagnosis):
        return None
    first = diagnosis.first_failure
    if first is not None:
        found = first.source, first.line
    else:
        item = next(_iter_log_evidence(diagnosis), None)
        if item is None or item.source is None or item.line is None:
            return None
        found = item.source, item.line
    text = next((line for line in _iter_raw_lines(diagnosis, *found) if line.strip()), "").strip(
        "\r\n"
    )
    if text.rstrip().endswith(":"):
        text += "\n" + next(iter(_iter_raw_lines(diagnosis, found[0], found[1] + 1)), "")
    return Quoted(*found, cut(text.rstrip(), _LONGEST_QUOTE)) if text.strip() else None


def _iter_raw_lines(diagnosis: Diagnosis, source: int, line: int) -> Iterator[str]:
    """Yield what is kept of a raw line, also by the page's quotes."""
    for quote in diagnosis.quotes:
        if quote.source == source and 0 <= line - quote.first_line < len(quote.lines):
            yield quote.lines[line - quote.first_line]
    yield from iter_kept_lines(diagnosis, source, line)


def _iter_log_evidence(diagnosis: Diagnosis) -> Iterator[Evidence]:
    """Yield the evidence for the cause that has a log line, strongest first."""
    cause = get_main_cause(diagnosis) or next(iter(diagnosis.causes), None)
    for item in sorted(cause.evidence, key=lambda item: -item.weight) if cause is not None else ():
        if item.kind in _IN_LOGS and item.weight > 0 and item.line is not None:
            yield item


def list_key_values(diagnosis: Diagnosis, words: Words) -> tuple[tuple[str, str], ...]:
    """List figures of the message and the run as (label, value), most useful first."""
    if detect_input_type(diagnosis):
        return ()
    pairs = dict(list_message_values(diagnosis, words)) | dict(_iter_run_values(diagnosis, words))
    return tuple(pairs.items())[:_MOST]


def list_message_values(diagnosis: Diagnosis, words: Words) -> tuple[tuple[str, str], ...]:
    """List the figures of the message as (label, value)."""
    if detect_input_type(diagnosis):
        return ()
    return tuple(
        (words(f"figure.{key}"), format_one_line(text, 160))
        for key, text in _iter_message_values(diagnosis)
    )


def list_extra_message_values(diagnosis: Diagnosis, words: Words) -> tuple[tuple[str, str], ...]:
    """List the figures of the message that are not obvious from its line."""
    first = diagnosis.first_failure
    seen = first.why if first is not None and len(first.why) <= _AT_A_GLANCE else ""
    return tuple(
        (label, value)
        for label, value in list_message_values(diagnosis, words)
        if "≠" in value or not all(part in seen for part in _PARTS.findall(value))
    )


def _iter_message_values(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    """Yield the figures of the message; of a sound run none is asked for."""
    if is_sound(diagnosis):
        return
    quoted, first = find_failing_line(diagnosis), diagnosis.first_failure
    texts = [quoted.text if quoted else "", first.why if first else ""]
    texts += [item.text for item in list(_iter_log_evidence(diagnosis))[:_EVIDENCE_SEARCHED]]
    yield from extract_message_values("\n".join(texts))


def _iter_run_values(diagnosis: Diagnosis, words: Words) -> Iterator[tuple[str, str]]:
    """Yield the figures of the run: loss, step, process, end."""
    state, first = diagnosis.progress, diagnosis.first_failure
    for name in (LOSS, GRAD_NORM):
        series = select_main_series(diagnosis, name)
        trend = "" if series is None else _format_trend(diagnosis, series)
        if trend and series is not None:
            yield series.name, trend
    if state.last_good_step is not None:
        is_bad = first is not None or state.first_bad is not None
        label = "figure.good-step" if is_bad else "figure.last-step"
        yield words(label), format_number(state.last_good_step)
    who = process(first.where, words) if first is not None else ""
    if who:
        yield words("figure.process"), who
    if state.seconds_after_failure:
        yield words("figure.after"), format_duration(state.seconds_after_failure, words)
    for name in ("exit_status", "signal"):
        value = getattr(diagnosis.environment, name)
        if value is not None:
            yield words(name), str(value)


def select_main_series(diagnosis: Diagnosis, name: str = LOSS) -> SeriesView | None:
    """Give the most informative curve: the one of the source that failed first."""
    first = diagnosis.first_failure
    found = select_series(
        diagnosis.series, (name,), each=1, failing=None if first is None else first.source
    )
    return next((curve for curve in found if len(curve.samples) > 1), None)


def _format_trend(diagnosis: Diagnosis, series: SeriesView) -> str:
    """Describe a curve's change: around its fault, else over the whole run.

    A curve without a fault is described only if it is the loss.
    """
    values = [value for _, value, _ in series.samples]
    at = _find_fault_index(diagnosis, series)
    if at:
        return f"{format_number(values[at - 1])} → {format_number(values[at])}"
    return (
        f"{format_number(values[0])} → {format_number(values[-1])}" if series.name == LOSS else ""
    )


def _find_fault_index(diagnosis: Diagnosis, series: SeriesView) -> int | None:
    """Give the index of the first sample that is not finite, or where the curves go wrong."""
    bad = diagnosis.progress.first_bad
    return next(
        (
            index
            for index, (_, value, line) in enumerate(series.samples)
            if not math.isfinite(value)
            or (bad is not None and diagnosis.first_failure is not None and line >= bad[1])
        ),
        None,
    )


def find_user_code(diagnosis: Diagnosis, words: Words) -> tuple[str, str]:
    """Name the place in the user's own code that failed, and give its line; both may be empty."""
    first = diagnosis.first_failure
    frame = None if first is None else first.frame
    if frame is None:
        return "", ""
    where = f"{format_one_line(frame.file, 200)}:{frame.line}"
    named = words("own-code.in", place=where, function=format_one_line(frame.function, 80))
    return named if frame.function else where, format_one_line(frame.code, 200)
