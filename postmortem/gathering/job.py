"""The sources of a job, one after the other, into one `Gathered`.

In: paths, the matching machine. Out: `Gathered`, with its sources, what is to be said of each, and
warnings. Not here: looking at lines, finding the files of a folder (`reading.discover`), judging.
"""

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from postmortem.errors import InputError, PatternError
from postmortem.facts import environment as env
from postmortem.formats import csv_metrics, error_file, trainer_state
from postmortem.formats.records import Record
from postmortem.gather import Gathering
from postmortem.gathered import Gathered, bounded
from postmortem.knowledge.engine import A_JOB, Budget
from postmortem.literals import Machine
from postmortem.metrics.points import MOST_POINTS
from postmortem.model.diagnosis import Source
from postmortem.model.lines import NOWHERE, Where
from postmortem.model.said import NOTHING, Said, cut, labelled, listed, quote, say
from postmortem.reading.blocks import SIZE, Block, blocks
from postmortem.reading.decode import Text
from postmortem.reading.discover import candidates
from postmortem.reading.file_names import processes_of
from postmortem.reading.kinds import kind_of
from postmortem.reading.opener import open_log
from postmortem.reading.prefixes import carries_srun_labels
from postmortem.reading.readable import Counted, fill, lines_of
from postmortem.reading.sources import LogSource, Origin, is_file, name_of, origins_of

Progress = Callable[[str, int, int], None]
"""Told of a source's path, its bytes and its lines read so far, after each block."""
_ERROR_FILE_BYTES: Final = 16 << 20
"""An error file holds one message and its call stack, and is read whole."""
_ROW_BYTES: Final = 1 << 20
_MOST_MESSAGE: Final = 200
_CUT: Final = say("only its beginning was read", "只读取了开头部分")
_FRAMES: Final = say(
    "its only line breaks are carriage returns: lines count its frames",
    "文件只用回车符换行：行号按进度条的帧计数",
)


def read(
    paths: LogSource | Sequence[LogSource],
    machine: Machine,
    *,
    env_files: Sequence[LogSource] = (),
    facts: Mapping[str, str] = MappingProxyType({}),
    block_size: int = SIZE,
    progress: Progress | None = None,
) -> Gathered:
    """Read one job.

    Args:
        paths: files, folders, `-` (standard input), bytes or streams that together are the log of
            one job.
        machine: what is looked for.
        env_files: environment dumps (collect_env, nvidia-smi, pip list ...) that are not in the
            log.
        facts: what the caller knows besides, by the names of patterns/README.md (env_exit_status,
            package_torch ...).
        block_size: how many bytes are looked at in one go; changes nothing in the result.
        progress: is told how far the reading is.

    Raises:
        InputError: nothing could be read.
    """
    given = origins_of(paths)
    found = list(candidates(given))
    processes = processes_of([candidate.path for candidate in found if not candidate.skip])
    reader = _Reader(machine, block_size, processes, progress)
    for candidate in found:
        if candidate.skip:
            reader.ignore(candidate.origin, candidate.skip)
        else:
            reader.read(candidate.origin, is_alone=given == [candidate.origin])
    names = [name_of(origin) for origin in given]
    reader.require_something(names)
    for origin in origins_of(env_files):
        reader.read(origin, is_alone=True, kind="environment")
    gathered = reader.gathered
    for name, value in facts.items():
        gathered.facts.add(name, value, env.TOLD, 0, 0)
    gathered.given += names
    return gathered


class _Reader:
    """Reads the sources of a job, one after the other, into one `Gathered`."""

    def __init__(
        self,
        machine: Machine,
        block_size: int,
        processes: Mapping[str, Where],
        progress: Progress | None,
    ) -> None:
        self.machine, self.block_size = machine, block_size
        self.processes, self.progress = processes, progress
        self.gathered = Gathered()
        self.points = 0
        """Kept points of all sources."""
        self.budget = Budget(A_JOB)

    def ignore(self, origin: Origin, why: Said) -> None:
        """List a file that is no part of the job's log."""
        self.gathered.origins.append(origin)
        self.gathered.sources.append(
            Source(
                name_of(origin), 0, 0, "", None, NOWHERE, "ignored", why, is_file=is_file(origin)
            )
        )

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
            what = error.what
            self.ignore(origin, what if isinstance(what, Said) else quote(str(what)))
        except PatternError:
            raise
        except Exception as error:
            if os.environ.get("POSTMORTEM_DEBUG"):
                raise
            why = _failed(error)
            if is_alone and kind == "log":
                raise InputError(
                    why, path, "set POSTMORTEM_DEBUG=1 for the traceback and report it"
                ) from error
            self.gathered.warnings.append(labelled(path, why))
            self.ignore(origin, why)

    def require_something(self, given: Sequence[str]) -> None:
        """Refuse a job none of whose files could be read.

        Raises:
            InputError: all files were ignored.
        """
        sources = self.gathered.sources
        if not any(source.kind != "ignored" for source in sources):
            why = sources[0].note if sources else "nothing given"
            raise InputError(
                f"no log could be read: {why}", ", ".join(given), "name the text log of the run"
            )

    def _read(self, origin: Origin, kind: str) -> None:
        opened, path = open_log(origin), name_of(origin)
        index = len(self.gathered.sources)
        where = self.processes.get(path, NOWHERE) if kind == "log" else NOWHERE
        try:
            text = Text(opened)
            head = text.head.decode("utf-8", "replace")
            part, notes = self._part(text, head, index, where, path)
            self._merge(part)
        finally:
            opened.close()
        notes += _notes(text)
        if opened.fault is not None:
            self.gathered.warnings.append(labelled(path, opened.fault))
            notes.append(opened.fault)
        self.gathered.origins.append(origin)
        self.gathered.sources.append(
            Source(
                path,
                opened.bytes_read,
                part.lines.get(index, 0),
                text.encoding,
                opened.compression,
                where,
                _kind(kind, text, head, part, index),
                listed(notes, "; ", "；") if notes else NOTHING,
                opened.digest,
                is_file(origin),
            )
        )

    def _part(
        self, text: Text, head: str, index: int, where: Where, path: str
    ) -> tuple[Gathered, list[Said]]:
        """Read a source as what it says it is, with what is to be said of that."""
        if trainer_state.claims(head):
            return self._state(text, index), []
        if csv_metrics.claims(head):
            return self._columns(text, index), []
        if error_file.claims(head):
            part = self._error_file(text, index, where)
            return part, [error_file.NOTE, *([_CUT] if text.read(1) else [])]
        return self._log(text, index, where, path, srun=carries_srun_labels(head[:65536])), []

    def _merge(self, part: Gathered) -> None:
        """Take in what one source holds; many sources together keep no more points than one may."""
        self.points += sum(len(series.values) for series in part.series.values())
        self.gathered.merge(part)
        if self.points > MOST_POINTS:
            self.points = bounded(self.gathered.series.values(), MOST_POINTS)

    def _log(self, text: Text, index: int, where: Where, path: str, *, srun: bool) -> Gathered:
        gathering = Gathering(
            self.machine,
            index,
            where,
            srun=srun,
            breaks_by_return=text.breaks_by_return,
            budget=self.budget,
        )
        for block in blocks(text, self.block_size):
            gathering.feed(block)
            if self.progress is not None:
                self.progress(path, block.offset + block.hi, gathering.line)
        return gathering.snapshot()

    def _error_file(self, text: Text, index: int, where: Where) -> Gathered:
        """Read an error file: its one line holds a whole traceback, and all found stands on it."""
        raw = fill(text, _ERROR_FILE_BYTES).decode("utf-8", "replace")
        # JSON may hold half a character.
        data = (error_file.text(raw) or raw).encode("utf-8", "replace")
        gathering = Gathering(self.machine, index, where, breaks_by_return=True, budget=self.budget)
        gathering.feed(Block(data, 0, len(data), 0))
        result = gathering.snapshot()
        result.lines[index] = raw.count("\n") + (not raw.endswith("\n"))
        result.error_files.add(index)
        result.tracebacks = [
            (dataclasses.replace(found, line=1, end_line=1, exception_line=1), before)
            for found, before in result.tracebacks
        ]
        return result

    def _state(self, text: Text, index: int) -> Gathered:
        source = Counted(text)
        records = trainer_state.records(blocks(source, self.block_size))
        return self._records(source, index, records, "transformers-trainer")

    def _columns(self, text: Text, index: int) -> Gathered:
        source = Counted(text)
        records = csv_metrics.records(lines_of(source, _ROW_BYTES))
        return self._records(source, index, records, csv_metrics.PRODUCER)

    def _records(
        self, source: Counted, index: int, records: Iterable[tuple[Record, int]], producer: str
    ) -> Gathered:
        """Take the records of a file that holds nothing else."""
        gathering = Gathering(self.machine, index)
        gathering.take_state(records, producer)
        gathering.feed(Block(b"", 0, 0, 0))
        result = gathering.snapshot()
        result.lines[index] = source.lines
        return result


def _kind(given: str, text: Text, head: str, part: Gathered, index: int) -> str:
    """Tell what a source is, as `model.diagnosis.Source` names it."""
    if trainer_state.claims(head) or csv_metrics.claims(head):
        return "metrics"
    if given != "log":
        return given
    if text.printed is not None:
        return "notebook"
    if part.records.get(index):
        return "log"
    if not part.findings and part.facts.facts:
        return "environment"
    return kind_of(head[:65536]) or "log"


def _notes(text: Text) -> list[Said]:
    """Say what of the text a reader of the report should know."""
    notes = [_FRAMES] if text.breaks_by_return else []
    if text.printed is not None and text.printed.passed_over:
        notes.append(
            say(
                "{count} printed texts of more than 16 MiB were passed over",
                "有 {count} 段超过 16 MiB 的输出文本已跳过",
                count=text.printed.passed_over,
            )
        )
    return notes


def _failed(error: Exception) -> Said:
    """Say that this program failed on a file."""
    message = cut(" ".join(str(error).split()), _MOST_MESSAGE)
    return say(
        "reading it failed with {kind}",
        "读取时出错：{kind}",
        kind=f"{type(error).__name__}: {message}" if message else type(error).__name__,
    )
