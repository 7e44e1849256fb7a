"""Choose the attempt that is judged: the last one, in one file or over a launcher's folders.

In: start markers, lines of failures, the sources' paths. Out: the line of each source at which the
last attempt begins. Not here: what happened in it (`case.order`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from postmortem.core.findings import Finding
from postmortem.core.job_facts import Source
from postmortem.core.message import Message
from postmortem.extraction.extract import Extract
from postmortem.reading.file_names import parse_attempts

START: Final = "context.training-start"
COMMAND: Final = "context.command"


def begin_of_the_last(
    extract: Extract,
    starts: Iterable[Finding],
    fatal_lines: Mapping[int, Sequence[int]],
    sources: Sequence[Source[Message]] = (),
) -> dict[int, int]:
    """Give the line at which the last attempt of each source begins; absent: at its first.

    Args:
        extract: tells how many lines each source has.
        starts: start markers and commands of the shell.
        fatal_lines: by source, where something failed.
        sources: the files of the job.
    """
    return _find_starts_within_files(extract, starts, fatal_lines) | _find_starts_across_folders(
        extract, sources
    )


def _find_starts_within_files(
    extract: Extract, starts: Iterable[Finding], fatal_lines: Mapping[int, Sequence[int]]
) -> dict[int, int]:
    """Begin at a start marker that stands behind a failure and has something behind it."""
    begins: dict[int, int] = {}
    for finding in _iter_restarts(starts):
        earlier = [line for line in fatal_lines.get(finding.source, ()) if line < finding.line]
        has_more = extract.lines.get(finding.source, 0) > finding.line + 1
        if earlier and has_more:
            begins[finding.source] = max(begins.get(finding.source, 0), finding.line)
    return begins


def _iter_restarts(starts: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the start markers; a command of the shell is one from its second time on."""
    started: set[tuple[int, str | None]] = set()
    for finding in starts:
        script = (finding.source, finding.capture("script"))
        if finding.signature == COMMAND and script not in started:
            started.add(script)
        else:
            yield finding


def _find_starts_across_folders(
    extract: Extract, sources: Sequence[Source[Message]]
) -> dict[int, int]:
    """Let the last attempt begin behind the end of the files of an earlier one.

    They stand in folders of their own (attempt_0, attempt_1, ...).
    """
    read = {source.path: index for index, source in enumerate(sources) if source.kind != "ignored"}
    numbers = parse_attempts(read)
    last = max(numbers.values(), default=0)
    return {
        read[path]: extract.lines.get(read[path], 0) + 1
        for path, number in numbers.items()
        if number < last
    }


def list_ends(extract: Extract, source: int) -> list[int]:
    """List the raw lines of a source at which something ended, in order."""
    found = [
        line
        for traceback, _ in extract.tracebacks
        if traceback.source == source
        for line in (traceback.line, traceback.end_line)
    ]
    found += [
        sighting.finding.line
        for kept in extract.findings.values()
        for sighting in kept.all()
        if sighting.finding.source == source
        and (sighting.finding.role in {"cause", "consequence"})
    ]
    return sorted(set(found))
