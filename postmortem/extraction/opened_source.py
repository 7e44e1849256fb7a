"""Read one source of a job, from its opening to its end.

In: where it comes from, its number in the job. Out: `SourceResult`: what it holds, how it is
listed, warnings. Not here: the other sources of the job (`extraction.job`), looking at lines.
"""

from typing import NamedTuple

from postmortem.core.job_facts import Source
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.message import NOTHING, SEMICOLON, Message, add_label, join_list
from postmortem.extraction.extract import Extract
from postmortem.extraction.source_reader import SourceReader, identify_source_type
from postmortem.reading.decode import Text
from postmortem.reading.opener import open_log
from postmortem.reading.sources import Origin, Unpacking, is_file, name_of


class SourceResult(NamedTuple):
    """A source that was read to its end."""

    part: Extract
    source: Source[Message]
    warnings: list[Message]


def read_whole_source(
    sources: SourceReader,
    origin: Origin,
    index: int,
    where: ProcessId = NOWHERE,
    *,
    kind: str = "log",
    unpacking: Unpacking | None = None,
) -> SourceResult:
    """Read the source of this number in its job to its end; raises InputError if it cannot be read.

    `where` is the process that its name tells, `kind` what the caller knows it to be; `unpacking`
    says to how much it may unpack (None: as any log).
    """
    opened, path = open_log(origin, unpacking), name_of(origin)
    try:
        read, encoding = sources.read_binary(opened, index, path), ""
        if read is None:
            text = Text(opened)
            read, encoding = sources.read(text, index, where, path), text.encoding
            read = read._replace(kind=identify_source_type(kind, text, read, index, path))
    finally:
        opened.close()
    faults = [] if opened.fault is None else [opened.fault]
    notes, lines = [*read.notes, *faults], read.part.lines.get(index, 0)
    source = Source(
        path,
        opened.bytes_read,
        lines,
        encoding,
        opened.compression,
        where,
        read.kind,
        join_list(notes, SEMICOLON) if notes else NOTHING,
        opened.digest,
        is_file(origin),
    )
    return SourceResult(read.part, source, [add_label(path, fault) for fault in faults])
