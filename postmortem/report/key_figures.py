"""The user's own figures: the line that failed, and numbers from the run and its message.

In: a `Diagnosis` and the phrases of its language; a line or two of a log. Out: the raw line with
its place, short pairs of a label and a value, most useful first, not yet escaped: sizes, types,
keys, names, memory. Not here: the labels (`report.words`), judging, layout.
"""

import math
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from postmortem.core.answer import Evidence, SeriesView
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.log_text import compile_lazily, format_one_line
from postmortem.core.message import cut
from postmortem.core.names import GRAD_NORM, LOSS
from postmortem.report.about_run import format_duration
from postmortem.report.curves import select_series
from postmortem.report.display import detect_input_type, format_number, iter_kept_lines, process
from postmortem.report.parts import get_main_cause, is_sound
from postmortem.report.words import Words

Figure = tuple[str, str]
_LONGEST: Final = 2000
_SHAPE: Final = r"(?:torch\.Size\()?(\[[\d, ]{0,80}\])\)?"
_AGAINST: Final = "{0} ≠ {1}"


def _format_matmul_mismatch(match: re.Match[str]) -> str:
    left, inner, other, right = match.groups()
    return f"{left}x{inner} · {other}x{right}: {inner} ≠ {other}"


def _format_view_mismatch(match: re.Match[str]) -> str:
    sizes = [int(size) for size in re.findall(r"-?\d+", match[1])]
    wanted = math.prod(size for size in sizes if size > 0)
    unsaid = "…" if -1 in sizes else ""
    return f"[{match[1]}] = {wanted}{unsaid} ≠ {match[2]}"


def _build_match_formatter(wording: str) -> Callable[[re.Match[str]], str]:
    return lambda match: wording.format(*(group or "" for group in match.groups()))


_FIGURES: Final[tuple[tuple[str, str, Callable[[re.Match[str]], str]], ...]] = (
    (
        "shapes",
        r"shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        _format_matmul_mismatch,
    ),
    (
        "shapes",
        r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)[\w -]{0,30}dimension (\d+)",
        _build_match_formatter("{0} ≠ {1} (dim {2})"),
    ),
    (
        "shapes",
        r"except in dimension (\d+)\. Expected size (\d+) but got size (\d+)",
        _build_match_formatter("{1} ≠ {2} (dim ≠ {0})"),
    ),
    (
        "batch-sizes",
        r"input batch_size \((\d+)\) to match target batch_size \((\d+)\)",
        _build_match_formatter(_AGAINST),
    ),
    (
        "elements",
        r"shape '\[([\d, -]{1,80})\]' is invalid for input of size (\d+)",
        _format_view_mismatch,
    ),
    (
        "shapes",
        rf"equal size, but got {_SHAPE} at entry \d+ and {_SHAPE} at entry",
        _build_match_formatter(_AGAINST),
    ),
    (
        "shapes",
        rf"a param with shape {_SHAPE} from checkpoint, the shape in current model is {_SHAPE}",
        _build_match_formatter(_AGAINST),
    ),
    (
        "shapes",
        rf"target size \({_SHAPE}\)[\w ]{{0,40}}input size \({_SHAPE}\)",
        _build_match_formatter(_AGAINST),
    ),
    (
        "channels",
        r"to have (\d+) channels, but got (\d+) channels",
        _build_match_formatter(_AGAINST),
    ),
    (
        "index",
        r"index (-?\d+) is out of bounds for \w+ \d+ with size (\d+)",
        _build_match_formatter("{0} ≥ {1}"),
    ),
    (
        "unpacked",
        r"unpack \(expected (?:at least )?(\d+), got (\d+)\)",
        _build_match_formatter(_AGAINST),
    ),
    ("types", r"expected (?:scalar type )?(\w+) but found (\w+)", _build_match_formatter(_AGAINST)),
    (
        "types",
        r"(?:same|to have the same) dtype, but got:? ([\w.]+) (?:!=|and) ([\w.]+)",
        _build_match_formatter(_AGAINST),
    ),
    ("devices", r"at least two devices, ([\w:]+) and ([\w:]+)", _build_match_formatter(_AGAINST)),
    ("key", r"KeyError: (['\"]?[^'\"\n]{1,80}['\"]?)", _build_match_formatter("{0}")),
    (
        "there",
        r"(?i)\b(?:available|current|existing|known|valid|one of|choose from)\b[\w '-]{0,60}"
        r"[:=]? ?(\[[^\]\n]{1,300}\]|\{[^}\n]{1,300}\}|dict_keys\(\[[^\]\n]{1,300}\]\))",
        _build_match_formatter("{0}"),
    ),
    (
        "attribute",
        r"'([\w.]{1,80})' object has no attribute '(\w{1,80})'",
        _build_match_formatter("{0}.{1}"),
    ),
    ("name", r"NameError: name '(\w{1,80})' is not defined", _build_match_formatter("{0}")),
    ("argument", r"unexpected keyword argument '(\w{1,80})'", _build_match_formatter("{0}")),
    (
        "argument",
        r"missing \d+ required \w+(?: argument|-only argument)s?: ('\w{1,80}')",
        _build_match_formatter("{0}"),
    ),
    ("module", r"No module named '([\w.]{1,80})'", _build_match_formatter("{0}")),
    ("path", r"No such file or directory: '([^'\n]{1,200})'", _build_match_formatter("{0}")),
    ("asked", r"(?i)tried to allocate ([\d.]+ ?[KMGT]i?B)", _build_match_formatter("{0}")),
    ("free", r"(?:of which|;) ([\d.]+ ?[KMGT]i?B) (?:is )?free", _build_match_formatter("{0}")),
    (
        "total",
        r"([\d.]+ ?[KMGT]i?B) total capacity|total capacity of ([\d.]+ ?[KMGT]i?B)",
        _build_match_formatter("{0}{1}"),
    ),
    (
        "allocated",
        r"([\d.]+ ?[KMGT]i?B) (?:is allocated by PyTorch|already allocated)",
        _build_match_formatter("{0}"),
    ),
    (
        "timeout",
        r"OpType=(\w+)[^)\n]{0,120}Timeout\(ms\)=(\d+)",
        _build_match_formatter("{0}, {1} ms"),
    ),
)


def extract_message_values(text: str) -> Iterator[Figure]:
    """Yield the figures of a message, each kind once."""
    shown: set[str] = set()
    for key, pattern, worded in _FIGURES:
        match = None if key in shown else re.search(pattern, text[:_LONGEST])
        if match is not None:
            shown.add(key)
            yield key, worded(match)


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
