"""Read the sources of a job, one after the other, into one `Extract`.

In: paths, the matcher. Out: `Extract`, with its sources, what is to be said of each, and warnings.
Not here: looking at lines, finding the files of a folder (`reading.discover`), judging.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from postmortem.core.errors import InputError, PatternError
from postmortem.core.findings import NOWHERE, ProcessId, Source
from postmortem.core.message import (
    SEMICOLON,
    Message,
    add_label,
    convert_to_message,
    cut,
    join_list,
    say,
)
from postmortem.extraction.copies import find_copies
from postmortem.extraction.extract import Extract, bound_series_points
from postmortem.extraction.facts.fact_store import STATED_BY_CALLER
from postmortem.extraction.literals import Matcher
from postmortem.extraction.parallel_files import (
    ParallelReaders,
    ParallelReading,
    create_local_reader,
    start_parallel_reading,
)
from postmortem.extraction.points import MOST_POINTS
from postmortem.extraction.source_reader import (
    Progress,
    SourceReader,
    SourceResult,
    read_whole_source,
)
from postmortem.reading.discover import Candidate, find_candidates
from postmortem.reading.file_names import parse_processes
from postmortem.reading.sources import (
    SIZE,
    LogSource,
    Origin,
    Unpacking,
    is_file,
    list_origins,
    name_of,
)
from postmortem.rules.engine import A_JOB, Budget

ALONE: Final = ParallelReaders()
_MOST_MESSAGE: Final = 200


def read(
    paths: LogSource | Sequence[LogSource],
    matcher: Matcher,
    *,
    env_files: Sequence[LogSource] = (),
    facts: Mapping[str, str] = MappingProxyType({}),
    block_size: int = SIZE,
    progress: Progress | None = None,
    within: Sequence[Path] | None = None,
    unpacking: Unpacking | None = None,
    helpers: ParallelReaders = ALONE,
) -> Extract:
    """Read one job.

    Args:
        paths: files, folders, `-` (standard input), bytes, streams: together the log of one job.
        matcher: what is looked for.
        env_files: environment dumps that are not in the log.
        facts: what the caller knows besides, by the names of patterns/README.md (package_torch ...)
        block_size: bytes that are looked at in one go; changes nothing in the result.
        progress: is told how far the reading is.
        within: the only folders that links may lead to: see `find_candidates`.
        unpacking: to how much all packed files together may unpack; None: each as any log.
        helpers: processes that read large files beside this one; they change nothing in the result.

    Raises:
        InputError: nothing could be read.
    """
    origins = list_origins(paths)
    found = list(find_candidates(origins, within))
    processes = parse_processes([candidate.path for candidate in found if not candidate.skip])
    reader = _Reader(matcher, block_size, processes, progress, unpacking)
    with reader.helped(found, helpers if unpacking is None else ALONE):
        for candidate in found:
            reader.take(candidate, is_alone=origins == [candidate.origin])
    reader.gathered.input_names += [name_of(origin) for origin in origins]
    reader.require_something()
    for origin in list_origins(env_files):
        reader.read(origin, is_alone=True, kind="environment")
    return reader.settle(facts)


class _Reader:
    """Reads the sources of a job, one after the other, into one `Extract`."""

    def __init__(
        self,
        matcher: Matcher,
        block_size: int,
        processes: Mapping[str, ProcessId],
        progress: Progress | None,
        unpacking: Unpacking | None,
    ) -> None:
        self.gathered, self._processes, self._unpacking = Extract(), processes, unpacking
        self._sources = SourceReader(matcher, block_size, Budget(A_JOB), progress)
        self._helped: ParallelReading | None = None
        self._points = 0
        """Kept points of all sources."""

    @contextmanager
    def helped(self, found: Sequence[Candidate], helpers: ParallelReaders) -> Iterator[None]:
        """Have others read some of the files meanwhile, where that pays."""
        sources = self._sources
        self._helped = start_parallel_reading(
            found,
            self._processes,
            helpers,
            here=lambda size: create_local_reader(sources.matcher, size, sources.progress),
            budget=sources.budget,
            block_size=sources.block_size,
        )
        try:
            yield
        finally:
            if self._helped is not None:
                self._helped.close()
                self._helped = None

    def take(self, candidate: Candidate, *, is_alone: bool) -> None:
        """Read a file, or list it as no part of the job's log."""
        if candidate.skip:
            self.ignore(candidate.origin, candidate.skip)
        else:
            self.read(candidate.origin, is_alone=is_alone)

    def ignore(self, origin: Origin, why: Message) -> None:
        """List a file that is no part of the job's log."""
        name, is_regular_file = name_of(origin), is_file(origin)
        ignored = Source(name, 0, 0, "", None, NOWHERE, "ignored", why, is_file=is_regular_file)
        self._list(origin, ignored)

    def read(self, origin: Origin, *, is_alone: bool, kind: str = "log") -> None:
        """Read one file.

        Of several, one that cannot be read is listed with the reason, and so is one on which this
        program fails.
        """
        path = name_of(origin)
        try:
            self._read(origin, kind)
        except InputError as error:
            if is_alone:
                raise
            self.ignore(origin, convert_to_message(error.what))
        except PatternError:
            raise
        except Exception as error:
            if os.environ.get("POSTMORTEM_DEBUG"):
                raise
            why = _describe_reader_error(error)
            if is_alone and kind == "log":
                raise InputError(
                    why, path, "set POSTMORTEM_DEBUG=1 for the traceback and report it"
                ) from error
            self.gathered.warnings.append(add_label(path, why))
            self.ignore(origin, why)

    def settle(self, facts: Mapping[str, str]) -> Extract:
        """Add what the caller knows, and what is known only after all files have been read."""
        for name, value in facts.items():
            self.gathered.facts.add(name, value, STATED_BY_CALLER, 0, 0)
        self._sources.settle(self.gathered.facts)
        series, sources = self.gathered.series, self.gathered.sources
        self.gathered.copies = find_copies(series, sources)
        for index, note in self.gathered.copies.notes(sources).items():
            notes = [sentence for sentence in (sources[index].note, note) if sentence]
            sources[index] = replace(sources[index], note=join_list(notes, SEMICOLON))
        return self.gathered

    def require_something(self) -> None:
        """Refuse a job none of whose files could be read.

        Raises:
            InputError: all files were ignored.
        """
        sources = self.gathered.sources
        if all(source.kind == "ignored" for source in sources):
            why = sources[0].note if sources else "nothing given"
            names = ", ".join(self.gathered.input_names)
            raise InputError(f"no log could be read: {why}", names, "name the text log of the run")

    def _read(self, origin: Origin, kind: str) -> None:
        index = len(self.gathered.sources)
        apart = None if self._helped is None else self._helped.take(index)
        read = self._read_source(origin, index, kind) if apart is None else apart.whole
        self._merge(read.part)
        self.gathered.warnings += read.warnings
        self._list(origin, read.source)

    def _read_source(self, origin: Origin, index: int, kind: str) -> SourceResult:
        where = self._processes.get(name_of(origin), NOWHERE) if kind == "log" else NOWHERE
        return read_whole_source(
            self._sources, origin, index, where, kind=kind, unpacking=self._unpacking
        )

    def _list(self, origin: Origin, source: Source[Message]) -> None:
        self.gathered.origins.append(origin)
        self.gathered.sources.append(source)

    def _merge(self, part: Extract) -> None:
        """Take in what one source holds; many sources together keep no more points than one may."""
        self._points += sum(len(series.values) for series in part.series.values())
        self.gathered.merge(part)
        if self._points > MOST_POINTS:
            self._points = bound_series_points(self.gathered.series.values(), MOST_POINTS)


def _describe_reader_error(error: Exception) -> Message:
    """Say that this program failed on a file."""
    message = cut(" ".join(str(error).split()), _MOST_MESSAGE)
    return say(
        "reading it failed with {kind}",
        kind=f"{type(error).__name__}: {message}" if message else type(error).__name__,
    )
