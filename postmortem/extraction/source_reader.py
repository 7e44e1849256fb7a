"""Read a source by its type: a log, a metrics file, an error file.

In: the text of a source, the matcher. Out: `Extract`, what kind of source it is, what is to be said
of it. Not here: opening it, the other sources of the job (`extraction.job`).
"""

import dataclasses
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import ProcessId
from postmortem.core.message import Message, say
from postmortem.core.printed_words import join_words
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.formats import error_file
from postmortem.extraction.formats.bare_rows import name_column
from postmortem.extraction.literals import Matcher
from postmortem.extraction.non_log_files import (
    ReadSource,
    is_mapping,
    is_record_lines,
    may_be_figures,
    may_be_no_log,
)
from postmortem.extraction.source_extractor import SourceExtractor
from postmortem.reading.block_reader import Block, iter_blocks
from postmortem.reading.byte_streams import fill
from postmortem.reading.decode import Text
from postmortem.reading.documents import is_document
from postmortem.reading.prefixes import LOUD, clean, has_srun_labels
from postmortem.reading.sources import Readable
from postmortem.reading.system_logs import detect_text_type
from postmortem.rules.engine import Budget

if TYPE_CHECKING:
    from postmortem.extraction.run_files import RunFiles

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
        self, machine: Matcher, block_size: int, budget: Budget, progress: Progress | None
    ) -> None:
        """Store the matcher, the size of blocks and the progress callback."""
        self.machine, self.block_size = machine, block_size
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
        if error_file.is_error_file(head):
            part = self._read_error_file(text, index, where)
            is_cut = bool(text.read(1))
            return ReadSource(
                part, [error_file.NOTE, *([_CUT] if is_cut else []), *_list_notes(text)]
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

            self._files = RunFiles(self.machine, self.block_size)
        return self._files

    def _read_log(
        self, text: Text, index: int, where: ProcessId, path: str, *, srun: bool
    ) -> Extract:
        extractor = SourceExtractor(
            self.machine,
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
        data = (error_file.extract_traceback(raw) or raw).encode("utf-8", "replace")
        extractor = SourceExtractor(
            self.machine, index, where, breaks_by_return=True, budget=self.budget
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
    """Identify the type of a source, as `core.job_facts.Source` names it.

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
