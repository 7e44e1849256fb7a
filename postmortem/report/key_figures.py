"""The user's own figures: the line that failed, and what the run and its message tell in numbers.

In: a `Diagnosis` and the phrases of its language. Out: the raw line with its place, short pairs of
a label and a value, not yet escaped. Not here: reading a message (`report.message_figures`),
judging, layout.
"""

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.lazy_regex import lazy_compile
from postmortem.model.answer import Evidence
from postmortem.model.diagnosis import Diagnosis
from postmortem.model.said import cut
from postmortem.model.shown import SeriesView
from postmortem.names import GRAD_NORM, LOSS
from postmortem.report.about_run import duration
from postmortem.report.for_people import input_kind
from postmortem.report.message_figures import told_in
from postmortem.report.parts import is_sound, main_cause
from postmortem.report.plain import kept_lines, number, one_line, process
from postmortem.report.plotted import chosen
from postmortem.report.words import Words

_LONGEST_QUOTE: Final = 320
_MOST: Final = 8
_IN_LOGS: Final = frozenset({"signature", "traceback"})
_AT_A_GLANCE: Final = 120
_PARTS: Final = lazy_compile(r"\w+")
_ASKED_OF: Final = 3
"""Pieces of evidence whose lines may tell figures."""


class Quoted(NamedTuple):
    """A raw line of the log and where it stands."""

    source: int
    line: int
    text: str


def failing_line(diagnosis: Diagnosis) -> Quoted | None:
    """Give the line of the first failure; without one that of the strongest evidence in a log.

    Where the line ends in a colon, the next goes with it.
    """
    if input_kind(diagnosis):
        return None
    first = diagnosis.first_failure
    if first is not None:
        found = first.source, first.line
    else:
        item = next(_in_logs(diagnosis), None)
        if item is None or item.source is None or item.line is None:
            return None
        found = item.source, item.line
    text = next((one for one in _raw(diagnosis, *found) if one.strip()), "").strip("\r\n")
    if text.rstrip().endswith(":"):
        text += "\n" + next(iter(_raw(diagnosis, found[0], found[1] + 1)), "")
    return Quoted(*found, cut(text.rstrip(), _LONGEST_QUOTE)) if text.strip() else None


def _raw(diagnosis: Diagnosis, source: int, line: int) -> Iterator[str]:
    """Yield what is kept of a raw line, also by the page's quotes."""
    for quote in diagnosis.quotes:
        if quote.source == source and 0 <= line - quote.first_line < len(quote.lines):
            yield quote.lines[line - quote.first_line]
    yield from kept_lines(diagnosis, source, line)


def _in_logs(diagnosis: Diagnosis) -> Iterator[Evidence]:
    """Yield what speaks for the cause and stands in a line, the weightiest first."""
    cause = main_cause(diagnosis) or next(iter(diagnosis.causes), None)
    for item in sorted(cause.evidence, key=lambda one: -one.weight) if cause is not None else ():
        if item.kind in _IN_LOGS and item.weight > 0 and item.line is not None:
            yield item


def figures_of(diagnosis: Diagnosis, words: Words) -> tuple[tuple[str, str], ...]:
    """List what the message and the run tell in figures: (label, value), what says most first."""
    if input_kind(diagnosis):
        return ()
    pairs = dict(of_message(diagnosis, words)) | dict(_of_run(diagnosis, words))
    return tuple(pairs.items())[:_MOST]


def of_message(diagnosis: Diagnosis, words: Words) -> tuple[tuple[str, str], ...]:
    """List what the message tells: (label, value)."""
    if input_kind(diagnosis):
        return ()
    return tuple((words(f"figure.{key}"), one_line(text, 160)) for key, text in _told(diagnosis))


def beyond_the_line(diagnosis: Diagnosis, words: Words) -> tuple[tuple[str, str], ...]:
    """List what the message tells, but for what a reader of its line sees at once."""
    first = diagnosis.first_failure
    seen = first.why if first is not None and len(first.why) <= _AT_A_GLANCE else ""
    return tuple(
        (label, value)
        for label, value in of_message(diagnosis, words)
        if "≠" in value or not all(part in seen for part in _PARTS.findall(value))
    )


def _told(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    """Yield the figures of the message; of a sound run none is asked for."""
    if is_sound(diagnosis):
        return
    quoted, first = failing_line(diagnosis), diagnosis.first_failure
    texts = [quoted.text if quoted else "", first.why if first else ""]
    texts += [item.text for item in list(_in_logs(diagnosis))[:_ASKED_OF]]
    yield from told_in("\n".join(texts))


def _of_run(diagnosis: Diagnosis, words: Words) -> Iterator[tuple[str, str]]:
    """Yield the figures of the run: loss, step, process, end."""
    state, first = diagnosis.progress, diagnosis.first_failure
    for name in (LOSS, GRAD_NORM):
        series = loss_of(diagnosis, name)
        told = "" if series is None else _course(diagnosis, series)
        if told and series is not None:
            yield series.name, told
    if state.last_good_step is not None:
        is_bad = first is not None or state.first_bad is not None
        label = "figure.good-step" if is_bad else "figure.last-step"
        yield words(label), number(state.last_good_step)
    who = process(first.where, words) if first is not None else ""
    if who:
        yield words("figure.process"), who
    if state.seconds_after_failure:
        yield words("figure.after"), duration(state.seconds_after_failure, words)
    for name in ("exit_status", "signal"):
        value = getattr(diagnosis.environment, name)
        if value is not None:
            yield words(name), str(value)


def loss_of(diagnosis: Diagnosis, name: str = LOSS) -> SeriesView | None:
    """Give the curve that tells most of the run: that of the source which failed first."""
    first = diagnosis.first_failure
    found = chosen(
        diagnosis.series, (name,), each=1, failing=None if first is None else first.source
    )
    return next((one for one in found if len(one.samples) > 1), None)


def _course(diagnosis: Diagnosis, series: SeriesView) -> str:
    """Say what a curve came from and to: around its fault, else over the run.

    Only the loss is told where nothing went wrong with the curve itself.
    """
    values = [value for _, value, _ in series.samples]
    at = _fault(diagnosis, series)
    if at:
        return f"{number(values[at - 1])} → {number(values[at])}"
    return f"{number(values[0])} → {number(values[-1])}" if series.name == LOSS else ""


def _fault(diagnosis: Diagnosis, series: SeriesView) -> int | None:
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


def own_code(diagnosis: Diagnosis, words: Words) -> tuple[str, str]:
    """Name the place in the user's own code that failed, and give its line; both may be empty."""
    first = diagnosis.first_failure
    frame = None if first is None else first.frame
    if frame is None:
        return "", ""
    where = f"{one_line(frame.file, 200)}:{frame.line}"
    named = words("own-code.in", place=where, function=one_line(frame.function, 80))
    return named if frame.function else where, one_line(frame.code, 200)
