"""Find the attempts of a job, in one file or over a launcher's folders, and choose one.

In: what was read; the tracebacks, findings and series of a source. Out: `Span`s, the part of the
extract that belongs to one attempt; the lines at which one process has ended for certain, so that
what follows is another's. Not here: starts that come again within a file (`case.run_starts`), what
happened in an attempt (`case.order`).

A process that fails in its start-up, by a wrong call or for want of a script or a package, printed
nothing but that. An import may also fail late, in a script without functions: it counts where no
record stands between it and the end of another process, and wherever the same one fails again. An
exception that came up to the script's outermost frame ends the process. Of what it had printed some
may be written behind it, a buffer at most, and counts on.
"""

import bisect
import itertools
import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.core.errors import UsageError
from postmortem.core.findings import NOWHERE, Finding, Traceback
from postmortem.core.log_text import compile_lazily
from postmortem.core.names import EPOCH
from postmortem.diagnosis.case.failures import is_consequence
from postmortem.diagnosis.case.run_starts import find_starts
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.series import Series
from postmortem.extraction.one_attempt import select_lines
from postmortem.reading.file_names import parse_attempts
from postmortem.rules.vocabulary import Trait, has_trait

_IMPORT_ERRORS: Final = ("ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError")
_MODULE: Final = "<module>"
_AT_HEAD: Final = (_MODULE, "")
"""Functions of the frames of an import, and of what cannot be read."""
_SPAWNED: Final = ("<string>", "<stdin>")
"""Files of the outermost frame of a process that another one spawned, or of a shell."""
_USAGE: Final = 40
"""Lines that a parser of arguments may print before its error."""
_REFUSED: Final = compile_lazily(r"(\S{1,200}): error: ")
"""What a parser of arguments says, behind the name of its script."""
_BUFFERED: Final = 400
"""Lines of records behind an exception that are more than a buffer holds."""
_FEWEST_KINDS: Final = 4
"""Different exceptions in a row that no ranks of one start print."""


class _Ended(NamedTuple):
    """A process that ended in its start-up."""

    first: int
    last: int
    kind: object
    """Equal for the same failure."""
    is_certain: bool
    """No record needs to be missing before it."""


def find_next_processes(
    extract: Extract, source: int, ends: Sequence[int], starts: Sequence[int]
) -> list[int]:
    """Give the lines of a source at which a process begins because another one has ended.

    None where several processes print, each of which may have failed in one start, or where a
    shell runs several scripts one after the other.

    Args:
        extract: what was read.
        source: its index.
        ends: raw lines at which something in it ended, in order.
        starts: those at which starts are known to begin.
    """
    tracebacks = [found for found, _ in extract.tracebacks if found.source == source]
    findings = extract.findings_in(source)
    startups = _list_startups(tracebacks, findings, ends)
    crashes = [found for found in tracebacks if _has_ended_script(found)]
    if not startups and not crashes:
        return []
    curves = [curve for curve in extract.series.values() if curve.source == source]
    if _are_several(tracebacks, findings, curves):
        return []
    records = sorted({line for curve in curves for line in curve.lines})
    crashes.sort(key=operator.attrgetter("line"))
    return [
        *_list_borders(startups, records, ends),
        *_list_goings_on(crashes, curves, records, starts),
        *([] if records else _list_other_crashes(crashes)),
    ]


def _list_startups(
    tracebacks: Sequence[Traceback], findings: Iterable[Finding], ends: Sequence[int]
) -> list[_Ended]:
    """List the processes that failed in their start-up, in order."""
    found = [
        *(_describe(one) for one in tracebacks if _is_import_failure(one)),
        *(_describe_call(one, ends) for one in findings if _is_about_call(one, tracebacks)),
    ]
    return sorted(found, key=operator.attrgetter("first", "last"))


def _has_ended_script(found: Traceback) -> bool:
    """Say whether an exception came up to the outermost frame of a script."""
    frames = found.frames
    return (
        bool(frames)
        and bool(found.exception)
        and not (found.aside or found.chained or found.wrapped or found.was_caught())
        and frames[0].file not in _SPAWNED
        and any(frame.function == _MODULE for frame in frames)
    )


def _list_goings_on(
    crashes: Sequence[Traceback],
    curves: Sequence[Series],
    records: Sequence[int],
    starts: Sequence[int],
) -> list[int]:
    """Give the lines behind exceptions at which another process begins, unless it is known."""
    limits = [*(one.line for one in crashes[1:]), 1 << 62]
    found = []
    for crash, limit in zip(crashes, limits, strict=False):
        end = crash.exception_line
        behind = records[bisect.bisect_right(records, end) : bisect.bisect_left(records, limit)]
        if not behind or _holds(starts, end, behind[0] + 1):
            continue
        if len(behind) > _BUFFERED or _has_count_fallen(curves, crash.line, behind[0]):
            found.append(end + 1)
    return found


def _has_count_fallen(curves: Iterable[Series], line: int, behind: int) -> bool:
    """Say whether the epochs, or else the steps, of the records fall at a line."""
    around = [
        one for one in curves if one.lines and one.lines[0] < line and one.lines[-1] >= behind
    ]
    epochs = [one for one in around if one.name == EPOCH]
    return any(_falls(one, line) for one in epochs or around)


def _falls(curve: Series, line: int) -> bool:
    """Say whether the count of a series falls at a line."""
    at = bisect.bisect_left(curve.lines, line)
    counts = curve.values if curve.name == EPOCH else curve.steps
    return 0 < at < len(counts) and counts[at] < counts[at - 1]


def _list_other_crashes(crashes: Sequence[Traceback]) -> list[int]:
    """Give the lines at which exceptions begin that are other than the one before.

    Of a source that holds nothing else.
    """
    kinds = [(one.exception, one.frames[-1].file, one.frames[-1].line) for one in crashes]
    if len(set(kinds)) < _FEWEST_KINDS:
        return []
    pairs = zip(crashes[1:], itertools.pairwise(kinds), strict=True)
    return [crash.line for crash, (before, kind) in pairs if kind != before]


def _list_borders(
    found: Sequence[_Ended], records: Sequence[int], ends: Sequence[int]
) -> list[int]:
    """Give the borders of the failed starts before and behind which something was done."""
    before = [0, *(one.last for one in found)]
    known = {
        one.kind
        for one, last in zip(found, before, strict=False)
        if one.is_certain or not _holds(records, last, one.first)
    }
    work = (*records[-1:], *ends[-1:])
    borders: set[int] = set()
    for one in found:
        if one.kind in known:
            is_behind = _holds(records, 0, one.first) or _holds(ends, 0, one.first)
            borders |= {one.first} if is_behind else set()
            borders |= {one.last + 1} if max(work) > one.last else set()
    return sorted(borders)


def _holds(lines: Sequence[int], above: int, below: int) -> bool:
    """Say whether one of some lines, in order, stands between two others."""
    at = bisect.bisect_right(lines, above)
    return at < len(lines) and lines[at] < below


def _are_several(
    tracebacks: Iterable[Traceback], findings: Sequence[Finding], curves: Iterable[Series]
) -> bool:
    """Say whether several processes print, a launcher reports one's end, or scripts take turns."""
    places = {one.where for group in (tracebacks, findings, curves) for one in group}
    scripts = {found.capture("script") for found in findings if found.role == "context"}
    return (
        any(where[:2] != NOWHERE[:2] or where.pid is not None for where in places)
        or any(found.role == "consequence" for found in findings)
        or len(scripts - {None, ""}) > 1
    )


def _is_import_failure(found: Traceback) -> bool:
    """Say whether a script could not import something at its head, or be parsed."""
    frames = found.frames
    return (
        found.exception.endswith(_IMPORT_ERRORS)
        and bool(frames)
        and not (frames[0].function and (found.aside or found.was_caught()))
        and frames[0].file not in _SPAWNED
        and all(frame.function in _AT_HEAD or "importlib" in frame.file for frame in frames)
    )


def _describe(found: Traceback) -> _Ended:
    frame = found.frames[0]
    kind = (frame.file, frame.line, found.message)
    is_unread = not frame.function  # a script that cannot be parsed has done nothing
    return _Ended(found.line, found.exception_line, kind, is_certain=is_unread)


def _is_about_call(found: Finding, tracebacks: Iterable[Traceback]) -> bool:
    """Say whether a call was refused; by another script than ran, it is the next stage of a job."""
    if not has_trait(found.signature, Trait.ENDS_AT_THE_CALL):
        return False
    script = _REFUSED.match(found.text)
    scripts = {one.frames[0].file.rsplit("/", 1)[-1] for one in tracebacks if one.frames}
    return script is None or not scripts or script[1] in scripts


def _describe_call(found: Finding, ends: Sequence[int]) -> _Ended:
    """Describe a call that was refused; the usage stands between the end before and its error."""
    at = bisect.bisect_left(ends, found.line)
    last = ends[at - 1] if at else 0
    first = last + 1 if found.line - last <= _USAGE else found.line
    return _Ended(first, found.end_line, found.signature, is_certain=True)


START: Final = "context.training-start"
COMMAND: Final = "context.command"
_ENDS: Final = frozenset({"cause", "consequence"})
_SIGNALS: Final = (Trait.SIGNAL_WITHOUT_REASON, Trait.NATIVE_CRASH)
_LOGS: Final = frozenset({"log", "notebook"})
"""Kinds of sources that tell attempts apart; files of metrics do where nothing else was given."""


class Span(NamedTuple):
    """The lines of an attempt in one source."""

    source: int
    number: int
    """Of the attempt, from 1."""
    first: int
    last: int
    is_of_folder: bool = False
    """The name of its folder tells which attempt it belongs to."""


def list_spans(extract: Extract) -> list[Span]:
    """List the attempts of each log, or of files of metrics alone, by sources and lines."""
    mirrored = {source for source, _ in extract.copies.mirrored}
    kinds = {source.kind for source in extract.sources}
    split = _LOGS if kinds & _LOGS else {"metrics"}
    logs = [
        index
        for index, source in enumerate(extract.sources)
        if source.kind in split and index not in mirrored and source.lines
    ]
    folders = _number_folders(extract)
    found = []
    for source in logs:
        last = extract.sources[source].lines
        if source in folders:
            found.append(Span(source, folders[source], 1, last, is_of_folder=True))
            continue
        ends, crashes = list_ends(extract, source), _list_crashes(extract, source)
        again = find_starts(extract, source, ends, crashes)
        starts = sorted({*again, *find_next_processes(extract, source, ends, again)})
        borders = zip(starts, [*(start - 1 for start in starts[1:]), last], strict=True)
        found += [Span(source, number, *border) for number, border in enumerate(borders, 1)]
    return found


def _number_folders(extract: Extract) -> dict[int, int]:
    """Number the attempts to which sources belong by the names of their folders, from 1."""
    paths = {
        source.path: index
        for index, source in enumerate(extract.sources)
        if source.kind != "ignored"
    }
    found = parse_attempts(paths)
    order = sorted(set(found.values()))
    return {paths[path]: order.index(number) + 1 for path, number in found.items()}


def list_ends(extract: Extract, source: int) -> list[int]:
    """List the raw lines of a source at which something ended, in order."""
    found = {
        line
        for traceback, _ in extract.tracebacks
        if traceback.source == source
        for line in (traceback.line, traceback.exception_line)
    }
    found |= {one.line for one in extract.findings_in(source) if one.role in _ENDS}
    return sorted(found)


def _list_crashes(extract: Extract, source: int) -> list[int]:
    """List the last lines of exceptions of the outermost frame, and of fatal signals."""
    raised = (
        traceback.end_line
        for traceback, _ in extract.tracebacks
        if traceback.source == source
        and (is_consequence(traceback) or not (traceback.aside or traceback.was_caught()))
    )
    signals = (
        finding.end_line
        for finding in extract.findings_in(source)
        if finding.role in _ENDS and any(has_trait(finding.signature, trait) for trait in _SIGNALS)
    )
    return sorted({*raised, *signals})


def count_attempts(spans: Sequence[Span]) -> int:
    """Count the attempts of a job."""
    return max((span.number for span in spans), default=1)


def list_last_epochs(extract: Extract, spans: Sequence[Span]) -> list[tuple[int, float]]:
    """List the last epoch that each attempt of a log printed as a figure of its records."""
    found = []
    for curve in extract.series.values() if len(spans) > 1 else ():
        for span in spans if curve.name == EPOCH else ():
            at = bisect.bisect_right(curve.lines, span.last)
            if span.source == curve.source and at and curve.lines[at - 1] >= span.first:
                found.append((span.number, curve.values[at - 1]))
    return found


def choose_attempt(spans: Sequence[Span], asked: int | None) -> int:
    """Give the number of the attempt to judge: the last, unless another one is asked for.

    Raises:
        UsageError: there is no such attempt.
    """
    count = count_attempts(spans)
    if asked is None:
        return count
    if not 1 <= asked <= count:
        held = "1 attempt" if count == 1 else f"{count} attempts"
        raise UsageError(f"no attempt {asked}: the log holds {held}", "", f"name 1 to {count}")
    return asked


def select_attempt(
    extract: Extract, spans: Sequence[Span], number: int
) -> tuple[Extract, dict[int, int]]:
    """Give the part of an extract that belongs to an attempt, and where that begins by source.

    A log with a single attempt belongs to each, unless its folder names it; of one with fewer than
    others the last is taken for the last.
    """
    chosen = _choose_lines(extract, spans, number)
    parts = {
        source: lines
        for source, lines in chosen.items()
        if lines != (1, extract.sources[source].lines)
    }
    begins = {source: first for source, (first, _) in parts.items() if first > 1}
    return select_lines(extract, parts), begins


def _nothing(extract: Extract, source: int) -> tuple[int, int]:
    """Give the lines behind the end of a source."""
    return extract.lines.get(source, 0) + 1, extract.lines.get(source, 0)


def _choose_lines(
    extract: Extract, spans: Sequence[Span], number: int
) -> dict[int, tuple[int, int]]:
    """Choose the lines of each log of several attempts that belong to one of them."""
    total, counts = count_attempts(spans), Counter(span.source for span in spans)
    chosen: dict[int, tuple[int, int]] = {}
    for span in spans:
        count = counts[span.source]
        if not span.is_of_folder and count == 1:
            continue
        chosen.setdefault(span.source, _nothing(extract, span.source))
        if span.number == (number if number < total or span.is_of_folder else count):
            chosen[span.source] = (span.first, span.last)
    return chosen
