"""Which attempt counts: of several the last, in one file or over the folders of a launcher.

In: start markers, lines of failures, the sources' paths. Out: the line of each source at which the
last attempt begins. Not here: what happened in it (`inference.order`).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from postmortem.gathering.gathered import Gathered
from postmortem.model.diagnosis import Source
from postmortem.model.findings import Finding
from postmortem.model.said import Said
from postmortem.reading.file_names import attempts_of

START: Final = "context.training-start"
COMMAND: Final = "context.command"


def last_attempts(
    gathered: Gathered,
    starts: Sequence[Finding],
    fatal_lines: Mapping[int, Sequence[int]],
    sources: Sequence[Source[Said]] = (),
) -> dict[int, int]:
    """Find where the last attempt of each source begins.

    In a file: at a start marker that stands behind a failure and has something behind it; a command
    of the shell is one from its second time on. Over folders (attempt_0, attempt_1, ...): files of
    an earlier attempt have no part in the last one, which begins behind their end.
    """
    begins: dict[int, int] = {}
    started: set[tuple[int, str | None]] = set()
    for finding in starts:
        if (
            finding.signature == COMMAND
            and (finding.source, finding.capture("script")) not in started
        ):
            started.add((finding.source, finding.capture("script")))
            continue
        earlier = [line for line in fatal_lines.get(finding.source, ()) if line < finding.line]
        has_more = gathered.lines.get(finding.source, 0) > finding.line + 1
        if earlier and has_more:
            begins[finding.source] = max(begins.get(finding.source, 0), finding.line)
    read = {source.path: index for index, source in enumerate(sources) if source.kind != "ignored"}
    numbers = attempts_of(read)
    last = max(numbers.values(), default=0)
    for path, number in numbers.items():
        if number < last:
            begins[read[path]] = gathered.lines.get(read[path], 0) + 1
    return begins
