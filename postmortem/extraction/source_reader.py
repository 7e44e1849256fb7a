"""Read one source of a job by its type, from its opening to its end: a log, metrics, an error file.

In: where a source comes from, its number in the job, or its text; the matcher. Out: `SourceResult`:
its `Extract`, what kind of source it is, how it is listed, what is to be said of it. Not here: the
other sources of the job (`extraction.job`), looking at lines (`extraction.source_extractor`), what
an exception means; whether an agent's "root cause" is to be believed (`case.order`).

The error file of torchelastic is JSON on one line: the exception that a worker decorated with
`@record` has died of, given here as the worker would have printed it. Source:
torch/distributed/elastic/multiprocessing/errors/error_handler.py, torch >= 1.9.
"""

import dataclasses
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from postmortem.core.findings import NOWHERE, ProcessId, Source
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import NOTHING, SEMICOLON, Message, add_label, join_list, say
from postmortem.core.printed_words import join_words
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.formats.arrays import name_column
from postmortem.extraction.literals import Matcher
from postmortem.extraction.source_extractor import (
    ReadSource,
    SourceExtractor,
    is_mapping,
    is_record_lines,
    may_be_figures,
    may_be_no_log,
)
from postmortem.reading.decode import Text
from postmortem.reading.non_logs import detect_text_type, is_document
from postmortem.reading.opener import open_log
from postmortem.reading.prefixes import LOUD, clean, has_srun_labels
from postmortem.reading.sources import (
    Block,
    Origin,
    Readable,
    Unpacking,
    fill,
    is_file,
    iter_blocks,
    name_of,
)
from postmortem.rules.engine import Budget

if TYPE_CHECKING:
    from postmortem.extraction.run_files import RunFiles

ERROR_FILE_NOTE: Final = say("error file of torchelastic")
_ERROR_FILE_BEGIN: Final = '{"message": {"message": "'


def is_error_file(head: str) -> bool:
    """Say whether a file that begins like this is an error file."""
    return head.startswith(_ERROR_FILE_BEGIN)


def extract_traceback(raw: str) -> str | None:
    """Give the call stack with the exception at its end.

    None if the JSON is cut off or has another shape.
    """
    try:
        error: Any = json.loads(raw)["message"]
        message, stack = (
            str(error["message"]),
            str(error.get("extraInfo", {}).get("py_callstack", "")),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return (
        f"{stack.rstrip()}\n"
        if message.split("\n", maxsplit=1)[0] in stack
        else f"{stack.rstrip()}\n{message}\n".lstrip()
    )


Progress = Callable[[str, int, int], None]
"""Told of a source's path, its bytes and its lines read so far, after each block."""
_ERROR_FILE_BYTES: Final = 16 << 20
"""An error file holds one message and its call stack, and is read whole."""
_HEAD: Final = 65536
"""Characters by which it is told what a text is."""
_CUT: Final = say("only its beginning was read")
_DOCUMENT: Final = say("source code or a document, not a training log")
_JSON: Final = say("JSON in which no metric was recognised, not a training log")
_FEWEST_WORDS: Final = 4
"""Words of a sentence; a cell of a table, or `Could not collect` of a dump, has fewer."""
_MOST_LINES_A_FACT: Final = 20
"""Lines of a dump for each that states a fact; the tables of `collect_env` have about ten."""
_WORD: Final = compile_lazily(r"[A-Za-z][\w'./-]*|[\u4e00-\u9fff]{2}")
_REFUSAL: Final = compile_lazily(
    r"\b(?:no|not|cannot|without|error|exception|fail\w*|refus\w*|abort\w*|exit\w*|quit\w*|stop\w*"
    r"|unable|invalid|missing|unsupported|needs?|requires?|must)\b|n't\b|" + join_words("refuses"),
    re.IGNORECASE,
)
_FRAMES: Final = say("its only line breaks are carriage returns: lines count its frames")


class SourceReader:
    """Reads sources of one job, which share a budget."""

    def __init__(
        self, matcher: Matcher, block_size: int, budget: Budget, progress: Progress | None
    ) -> None:
        """Store the matcher, the size of blocks and the progress callback."""
        self.matcher, self.block_size = matcher, block_size
        self.budget, self.progress = budget, progress
        self._files: RunFiles | None = None

    def read(self, text: Text, index: int, where: ProcessId, path: str) -> ReadSource:
        """Read a source to its end.

        Args:
            text: of the source.
            index: its number among the sources of the job.
            where: the process that its name tells.
            path: by which whoever waits is told how far it is.

        Returns:
            What is found in it, and what is to be said of it.
        """
        head = _decode_head(text)
        if may_be_no_log(path, head):
            other = self._run_files().read(text, head, index, path)
            if other is not None:
                return other._replace(notes=[*other.notes, *_list_notes(text)])
        if is_error_file(head):
            part = self._read_error_file(text, index, where)
            is_cut = bool(text.read(1))
            return ReadSource(
                part, [ERROR_FILE_NOTE, *([_CUT] if is_cut else []), *_list_notes(text)]
            )
        part = self._read_log(text, index, where, path, srun=has_srun_labels(head[:_HEAD]))
        if _is_document(part, text, head, index):
            nothing = Extract(lines={index: part.lines[index]}, records={index: 0})
            return ReadSource(nothing, [_JSON if is_mapping(head) else _DOCUMENT], "ignored")
        return ReadSource(part, _list_notes(text))

    def read_binary(self, opened: Readable, index: int, path: str) -> ReadSource | None:
        """Read a file of figures that is no text; None of any other, of which nothing is taken.

        Raises:
            InputError: what its kind needs is missing, or it holds nothing of its kind.
        """
        if not may_be_figures(path):
            return None
        return self._run_files().read_binary(opened, index, path)

    @property
    def is_shared(self) -> bool:
        """Say whether what was read means something only together with other sources of the job."""
        return self._files is not None and self._files.is_shared

    def settle(self, facts: FactStore) -> None:
        """Add what is known only after all sources have been read."""
        if self._files is not None:
            self._files.settle(facts)

    def _run_files(self) -> "RunFiles":
        if self._files is None:
            # A job of logs alone does not pay for the readers of other files.
            from postmortem.extraction.run_files import RunFiles  # noqa: PLC0415

            self._files = RunFiles(self.matcher, self.block_size)
        return self._files

    def _read_log(
        self, text: Text, index: int, where: ProcessId, path: str, *, srun: bool
    ) -> Extract:
        extractor = SourceExtractor(
            self.matcher,
            index,
            where,
            srun=srun,
            breaks_by_return=text.breaks_by_return,
            title=name_column(path),
            budget=self.budget,
        )
        for block in iter_blocks(text, self.block_size):
            extractor.feed(block)
            if self.progress is not None:
                self.progress(path, block.offset + block.hi, extractor.line)
        return extractor.finished()

    def _read_error_file(self, text: Text, index: int, where: ProcessId) -> Extract:
        """Read an error file: its one line holds a whole traceback, and all found stands on it."""
        raw = fill(text, _ERROR_FILE_BYTES).decode("utf-8", "replace")
        # JSON may hold half a character.
        data = (extract_traceback(raw) or raw).encode("utf-8", "replace")
        extractor = SourceExtractor(
            self.matcher, index, where, breaks_by_return=True, budget=self.budget
        )
        extractor.feed(Block(data, 0, len(data), 0))
        result = extractor.finished()
        result.lines[index] = raw.count("\n") + (not raw.endswith("\n"))
        result.error_files.add(index)
        result.tracebacks = [
            (dataclasses.replace(found, line=1, end_line=1, exception_line=1), before)
            for found, before in result.tracebacks
        ]
        return result


def identify_source_type(kind: str, text: Text, read: ReadSource, index: int, path: str) -> str:
    """Identify the type of a source, as `core.findings.Source` names it.

    Args:
        kind: `log`, or what the caller knows it to be.
        text: of the source.
        read: what was found in it.
        index: its number among the sources of the job.
        path: by which it is called.
    """
    if read.kind:
        return read.kind
    head, part = _decode_head(text), read.part
    if kind != "log":
        return kind
    if text.printed is not None:
        return "notebook"
    if part.records.get(index):
        return "metrics" if is_record_lines(head, path) else "log"
    is_silent = not (part.findings or part.tracebacks)
    if is_silent and _is_of_facts(part, index) and not _ends_in_message(part, index):
        return "environment"
    return detect_text_type(head[:_HEAD]) or "log"


def _is_of_facts(part: Extract, index: int) -> bool:
    """Say whether a good part of the lines states facts; a log may name a version or two."""
    lines = {fact.line for fact in part.facts.facts.values()}
    return bool(lines) and len(lines) * _MOST_LINES_A_FACT >= part.lines.get(index, 0)


def _ends_in_message(part: Extract, index: int) -> bool:
    """Say whether the last line of a source is what a program says before it gives up."""
    sample = part.samples.get(index)
    if sample is None or not sample.last:
        return False
    number, text = sample.last[-1]
    peeled = clean(text)
    is_fact = any(fact.line == number for fact in part.facts.facts.values())
    is_sentence = len(_WORD.findall(peeled.text)) >= _FEWEST_WORDS
    return not is_fact and (
        peeled.level in LOUD or (is_sentence and _REFUSAL.search(peeled.text) is not None)
    )


def _is_document(part: Extract, text: Text, head: str, index: int) -> bool:
    """Say whether a source is a document; a file of nothing but settings is none."""
    is_of_settings = bool(part.facts.facts) and not part.findings
    is_raised = any(traceback.frames for traceback, _ in part.tracebacks)
    if (
        is_raised
        or is_of_settings
        or part.records.get(index)
        or not text.is_whole
        or detect_text_type(head)
    ):
        return False
    return is_document(head, {sighting.finding.line for sighting in part.seen()})


def _list_notes(text: Text) -> list[Message]:
    """List notes on the text for the reader of the report."""
    notes = [_FRAMES] if text.breaks_by_return else []
    if text.printed is not None and text.printed.passed_over:
        notes.append(
            say(
                "{count} printed texts of more than 16 MiB were passed over",
                count=text.printed.passed_over,
            )
        )
    return notes


def _decode_head(text: Text) -> str:
    return text.head.decode("utf-8", "replace")


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
