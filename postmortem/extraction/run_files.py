"""Read the files of a run folder that are not logs: metrics, configurations, event files.

In: the path and the text (or bytes) of a source. Out: `ReadSource`: what it holds, its kind, what
is to be said of it; None of a file that is read as a log. Not here: what stands in each kind of
file (`formats`), which files of a folder are looked at (`reading.discover`).
"""

from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Final, NamedTuple

from postmortem.core.errors import InputError
from postmortem.core.message import Message, say
from postmortem.core.names import ASSUMED_LOOP
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.formats import (
    config_files,
    csv_metrics,
    flight_recorder,
    histories,
    mlflow_metric,
    tensorboard_events,
    trainer_state,
    wandb_summary,
)
from postmortem.extraction.formats.arrays import Document, parse_arrays
from postmortem.extraction.formats.plain_pickle import MOST_BYTES
from postmortem.extraction.formats.records import Record, RecordLists, RecordRows
from postmortem.extraction.formats.setting_keys import KeyTable, StatedFact
from postmortem.extraction.formats.tensorboard_events import is_event_file
from postmortem.extraction.literals import Matcher
from postmortem.extraction.non_log_files import ReadSource
from postmortem.extraction.source_extractor import SourceExtractor
from postmortem.reading.block_reader import Block, iter_blocks
from postmortem.reading.byte_streams import LineCounter, fill, iter_lines
from postmortem.reading.decode import SNIFF, Text
from postmortem.reading.sources import Readable

_ROW_BYTES: Final = 1 << 20
_AT_ONCE: Final = 1 << 20
_METRICS, _SETTINGS = "metrics", "environment"
_CUT: Final = say("only its beginning was read")
_HISTORY_BYTES: Final = 32 << 20
"""Of a history, whose lists are read whole."""
_MOST_OTHERS: Final = 200
"""Files of unknown origin that are looked at as configurations; more are data."""


class _Records(NamedTuple):
    """How a file of records is read."""

    producer: str
    framework: str
    """Which it tells of; empty where anybody writes such a file."""
    of: Callable[[Readable], Iterable[tuple[Record, int] | RecordRows | RecordLists]]
    notes: list[Message]


class RunFiles:
    """Reads them, of one job."""

    def __init__(self, machine: Matcher, block_size: int) -> None:
        """Take what names mean, and how many bytes are read at a time."""
        self._machine, self._block_size = machine, block_size
        self._keys = KeyTable(machine.knowledge.keys)
        self._likely: list[tuple[int, StatedFact]] = []
        """What configurations of unknown origin state, by source."""
        self._others = 0
        """Files that may be such a configuration."""

    def read(self, text: Text, head: str, index: int, path: str) -> ReadSource | None:
        """Read a source that is no log; None of any other."""
        how = self._find_record_reader(head, path)
        if how is not None:
            return self._take_records(text, index, how)
        if not config_files.may_be(path, head):
            return None
        if not config_files.is_of_tool(path, head):
            self._others += 1
            if self._others > _MOST_OTHERS:
                return None
        return self._read_settings(text, head, index, path)

    def read_binary(self, opened: Readable, index: int, path: str) -> ReadSource | None:
        """Read a file of figures that is no text; None of any other, of which nothing is taken.

        Raises:
            InputError: what its kind needs is missing, or it holds nothing of its kind.
        """
        rank = flight_recorder.rank_of_dump(path)
        if rank is not None:
            return self._read_flight_recorder(opened, index, path, rank)
        return self._read_tensorboard_events(opened, index, path) if is_event_file(path) else None

    def _read_flight_recorder(
        self, opened: Readable, index: int, path: str, rank: int
    ) -> ReadSource:
        data = fill(opened, MOST_BYTES)
        try:
            dump = flight_recorder.read_dump(data, rank, index)
        except ValueError as error:
            raise InputError(flight_recorder.REFUSED, path, "name the log of the run") from error
        part = Extract(lines={index: 1}, records={index: 0}, rank_dumps=[dump])
        return ReadSource(part, [dump.describe()], _METRICS)

    def _read_tensorboard_events(self, opened: Readable, index: int, path: str) -> ReadSource:
        parse = tensorboard_events.load_parser()
        if parse is None:
            raise InputError(tensorboard_events.MISSING, path, "or name the log of the run")
        file = tensorboard_events.EventFile(opened, parse)
        part = self._extract_records(index, file.records(), tensorboard_events.PRODUCER, "")
        if not file.count:
            raise InputError(tensorboard_events.GARBAGE, path, "name the log of the run")
        part.lines[index] = file.count
        return ReadSource(part, tensorboard_events.note_of(file), _METRICS)

    @property
    def is_shared(self) -> bool:
        """Say whether any file read was a configuration of unknown origin: see `settle`."""
        return self._others > 0 or bool(self._likely)

    def settle(self, facts: FactStore) -> None:
        """Add what the configurations of unknown origin state and none of them denies."""
        values: dict[str, set[str]] = {}
        for _, fact in self._likely:
            values.setdefault(fact.name, set()).add(fact.value)
        for index, fact in self._likely:
            if len(values[fact.name]) == 1:
                facts.add(fact.name, fact.value, config_files.LIKELY, index, fact.line)

    def _find_record_reader(self, head: str, path: str) -> _Records | None:
        """Say how the records of a file are read; None where it is no file of records."""
        if trainer_state.is_trainer_state(head):
            return _Records(
                "transformers-trainer",
                "transformers-trainer",
                lambda source: trainer_state.iter_records(iter_blocks(source, self._block_size)),
                [],
            )
        if csv_metrics.is_metrics_table(head):
            wide = csv_metrics.describe_excess_columns(head)
            return _Records(
                csv_metrics.PRODUCER,
                ASSUMED_LOOP,
                lambda source: csv_metrics.iter_records(iter_lines(source, _ROW_BYTES)),
                [] if wide is None else [wide],
            )
        if config_files.is_metric(path) and mlflow_metric.is_mlflow_metric(head):
            name = config_files.name_in_store(path)
            return _Records(
                mlflow_metric.PRODUCER,
                "",
                lambda source: mlflow_metric.iter_records(iter_lines(source, _ROW_BYTES), name),
                [],
            )
        if PurePath(path).name == wandb_summary.NAME:
            return _Records(
                wandb_summary.PRODUCER,
                "",
                lambda source: wandb_summary.iter_last_values(_read_head(source)),
                [wandb_summary.NOTE],
            )
        metrics, notes = self._machine.knowledge.metrics, list[Message]()
        if histories.is_history(head, metrics):
            return _Records(
                csv_metrics.PRODUCER,
                ASSUMED_LOOP,
                lambda source: histories.iter_records(_parse_history(source, notes), metrics),
                notes,
            )
        return None

    def _take_records(self, text: Text, index: int, how: _Records) -> ReadSource:
        source = LineCounter(text)
        part = self._extract_records(index, how.of(source), how.producer, how.framework)
        _read_to_end(source)
        part.lines[index] = source.lines
        return ReadSource(part, how.notes, _METRICS)

    def _extract_records(
        self,
        index: int,
        records: Iterable[tuple[Record, int] | RecordRows | RecordLists],
        producer: str,
        framework: str,
    ) -> Extract:
        """Take the records of a file that holds nothing else."""
        extractor = SourceExtractor(self._machine, index)
        extractor.take_state(records, producer, framework)
        extractor.feed(Block(b"", 0, 0, 0))
        return extractor.finished()

    def _read_settings(self, text: Text, head: str, index: int, path: str) -> ReadSource | None:
        """Take what a configuration states; None where it states too little to be one."""
        config = config_files.read_config(path, head)
        stated = self._keys.stated(config.leaves)
        if len(stated) < config.fewest:
            return None
        part, source = Extract(), LineCounter(text)
        _read_to_end(source)
        part.lines[index], part.records[index] = source.lines, 0
        if config.strength == config_files.SURE:
            for fact in stated:
                part.facts.add(fact.name, fact.value, config.strength, index, fact.line)
        else:
            self._likely += [(index, fact) for fact in stated]
        notes = [config.note]
        if len(head) >= SNIFF:
            notes.append(_CUT)
        elif config.broken is not None:
            notes.append(say("breaks off at line {line}", line=config.broken))
        return ReadSource(part, notes, _SETTINGS)


def _parse_history(source: Readable, notes: list[Message]) -> Document:
    """Read a history, and note where it is too long to be read whole."""
    data = fill(source, _HISTORY_BYTES)
    notes += [_CUT] if len(data) == _HISTORY_BYTES else []
    return parse_arrays(data.decode("utf-8", "replace"))


def _read_head(source: Readable) -> str:
    return source.read(SNIFF).decode("utf-8", "replace")


def _read_to_end(source: Readable) -> None:
    """Read a source to its end: its lines are counted and its bytes hashed."""
    while source.read(_AT_ONCE):
        pass
