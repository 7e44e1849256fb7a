"""Find the processes that ended in their own start-up: a wrong call, a script or package missing.

In: the tracebacks, findings and series of a source. Out: the lines of each such process. Not here:
starts that come again (`case.run_starts`).

Such a process printed nothing but what ended it, so what stands before and behind it is of others.
An import may also fail late, in a script without functions: it counts where no record stands
between it and the end of another process, and wherever the same one fails again.
"""

import bisect
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import Finding, Traceback
from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.extract import Extract
from postmortem.rules.traits import Trait, has_trait

_IMPORT_ERRORS: Final = ("ImportError", "ModuleNotFoundError")
_MODULE: Final = "<module>"
_SPAWNED: Final = ("<string>", "<stdin>")
"""Files of the outermost frame of a process that another one spawned, or of a shell."""
_USAGE: Final = 40
"""Lines that a parser of arguments may print before its error."""

_REFUSED: Final = compile_lazily(r"(\S{1,200}): error: ")
"""What a parser of arguments says, behind the name of its script."""


class _Ended(NamedTuple):
    """A process that ended in its start-up."""

    first: int
    last: int
    kind: object
    """Equal for the same failure."""
    is_certain: bool
    """No record needs to be missing before it."""


def find_failed_startups(extract: Extract, source: int, ends: Sequence[int]) -> list[int]:
    """Give the lines at which such processes of a source begin, and at which others go on.

    None where several processes print, each of which may have failed in one start, or where a
    shell runs several scripts one after the other.

    Args:
        extract: what was read.
        source: its index.
        ends: raw lines at which something in it ended, in order.
    """
    tracebacks = [found for found, _ in extract.tracebacks if found.source == source]
    findings = _list_findings(extract, source)
    if _is_parallel(tracebacks, findings) or len(_list_scripts(findings)) > 1:
        return []
    found = [
        *(_describe(one) for one in tracebacks if _is_import_failure(one)),
        *(_describe_call(one, ends) for one in findings if _is_about_call(one, tracebacks)),
    ]
    return (
        _list_borders(sorted(found, key=_get_place), _list_records(extract, source), ends)
        if found
        else []
    )


def _get_place(ended: _Ended) -> tuple[int, int]:
    return ended.first, ended.last


def _list_records(extract: Extract, source: int) -> list[int]:
    """List the lines of a source with a figure."""
    curves = (curve for curve in extract.series.values() if curve.source == source)
    return sorted({line for curve in curves for line in curve.lines})


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


def _list_findings(extract: Extract, source: int) -> list[Finding]:
    return [
        sighting.finding
        for (_, index, _), kept in extract.findings.items()
        if index == source
        for sighting in kept.all()
    ]


def _is_parallel(tracebacks: Iterable[Traceback], findings: Iterable[Finding]) -> bool:
    """Say whether several processes print into a source, or a launcher reports one's end."""
    places = (*(one.where for one in tracebacks), *(one.where for one in findings))
    return any(where.rank is not None or where.local_rank is not None for where in places) or any(
        found.role == "consequence" for found in findings
    )


def _list_scripts(findings: Iterable[Finding]) -> set[str]:
    """List the scripts that a shell says it runs."""
    named = (found.capture("script") for found in findings if found.role == "context")
    return {script for script in named if script}


def _is_import_failure(found: Traceback) -> bool:
    """Say whether a script could not import something at its head."""
    frames = found.frames
    return (
        found.exception.endswith(_IMPORT_ERRORS)
        and not (found.aside or found.was_caught())
        and bool(frames)
        and frames[0].file not in _SPAWNED
        and frames[0].function == _MODULE
        and all(frame.function == _MODULE or "importlib" in frame.file for frame in frames)
    )


def _describe(found: Traceback) -> _Ended:
    frame = found.frames[0]
    kind = (frame.file, frame.line, found.message)
    return _Ended(found.line, found.exception_line, kind, is_certain=False)


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
