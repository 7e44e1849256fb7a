"""Read the files of a run folder that are not logs: metrics, configurations, event files.

In: the path and the text (or bytes) of a source. Out: `ReadSource`: what it holds, its kind, what
is to be said of it; None of a file that is read as a log. Not here: larger kinds of files
(`formats`), which files of a folder are looked at (`reading.discover`).

Read here: a metric in MLflow's file store, a line for each value with its time and step
(mlflow/store/tracking/file_store.py); `wandb-summary.json`, the last value of each metric (wandb's
history is in its binary record or on its server); `trainer_state.json` of the Hugging Face Trainer,
the log history with exact steps, even of a file that the crash cut off: its entries are found by
their braces, since the parsers that stream JSON take no `NaN`, which the Trainer writes, and tell
no lines.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Final, NamedTuple

from postmortem.core.errors import InputError
from postmortem.core.findings import NOWHERE
from postmortem.core.log_text import compile_lazily, parse_whole_number
from postmortem.core.message import Message, say
from postmortem.core.names import ASSUMED_LOOP, EPOCH
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.formats import (
    binary_files,
    config_files,
    csv_metrics,
    histories,
    plain_values,
)
from postmortem.extraction.formats.arrays import Document, parse_arrays
from postmortem.extraction.formats.binary_files import is_event_file
from postmortem.extraction.formats.config_files import KeyTable, StatedFact
from postmortem.extraction.formats.figures import parse_value
from postmortem.extraction.formats.plain_values import MOST_PICKLE_BYTES
from postmortem.extraction.formats.record_parts import find_known_name, normalise_metric_name
from postmortem.extraction.formats.records import Record, RecordLists, RecordRows
from postmortem.extraction.literals import Matcher
from postmortem.extraction.source_extractor import ReadSource, SourceExtractor
from postmortem.reading.decode import SNIFF, Text
from postmortem.reading.sources import Block, LineCounter, Readable, fill, iter_blocks, iter_lines

MLFLOW: Final = "mlflow"
_MLFLOW_LINE: Final = compile_lazily(
    r"\d{1,19} (?P<value>\S{1,40}) (?P<step>-?\d{1,15})(?: \S+){0,4}\s*$"
)


def is_mlflow_metric(head: str) -> bool:
    """Say whether a file that begins like this is one."""
    return _MLFLOW_LINE.match(head.split("\n", 1)[0]) is not None


def iter_mlflow_records(lines: Iterable[str], name: str) -> Iterator[tuple[Record, int]]:
    """Yield every value; a line that is cut off is passed over."""
    known = normalise_metric_name(name)
    for number, line in enumerate(lines, 1):
        match = _MLFLOW_LINE.match(line)
        value = parse_value(match["value"]) if match else None
        if match and value is not None:
            yield Record(float(match["step"]), [(known, value)], NOWHERE), number


WANDB_SUMMARY: Final = "wandb-summary.json"
WANDB: Final = "wandb"
WANDB_NOTE: Final = say("last values that wandb kept")
_WANDB_STEP: Final = "_step"


def iter_last_values(text: str) -> Iterator[tuple[Record, int]]:
    """Yield the figures at the step that the file names; none where it names none.

    Only those whose course is asked about: a single figure of any other says little.
    """
    leaves, _ = plain_values.parse_leaves(text)
    step = next((parse_value(leaf.value) for leaf in leaves if leaf.name == _WANDB_STEP), None)
    for leaf in leaves if step is not None else ():
        value, name = parse_value(leaf.value), find_known_name(leaf.name)
        if step is not None and value is not None and name and name != EPOCH:
            yield Record(step, [(name, value)], NOWHERE), leaf.line


_HISTORY: Final = b'"log_history"'
_ENTRY: Final = compile_lazily(rb"\{[^{}]{1,20000}\}")
_TOTAL: Final = compile_lazily(rb'"max_steps":\s{0,8}(\d{1,12})')
_SKIPPED: Final = frozenset(
    {
        "step",
        "total_flos",
        "train_runtime",
        "train_loss",
        "train_samples_per_second",
        "train_steps_per_second",
    }
)
_TRAINER_NAMES: Final = {"lr": "learning_rate"}


def is_trainer_state(head: str) -> bool:
    """Say whether a file that begins like this is a trainer state."""
    start = head.lstrip()[:1]
    return (
        start == "{" and '"log_history"' in head and '"global_step"' in head[:4000] + head[-4000:]
    )


def iter_trainer_records(blocks: Iterable[Block]) -> Iterator[tuple[Record, int]]:
    """Yield every entry of the log history with its raw line.

    An entry that is cut off is passed over. The last one is kept back until the steps of the run
    are known, which stand behind the history.
    """
    line, has_begun, total = 1, False, math.nan
    last: tuple[Record, int] | None = None
    for block in blocks:
        begin = block.lo if has_begun else block.data.find(_HISTORY, block.lo)
        has_begun = has_begun or block.lo <= begin < block.hi
        position = block.lo
        for match in _ENTRY.finditer(block.data, begin) if has_begun else ():
            if match.start() >= block.hi:
                break
            line += block.data.count(b"\n", position, match.start())
            position = match.start()
            record = _build_trainer_record(match[0].decode("utf-8", "replace"))
            if record is not None:
                if last is not None:
                    yield last
                last = record, line
        named = _TOTAL.search(block.data, block.lo)
        total = total if named is None else float(named[1])
        line += block.data.count(b"\n", position, block.hi)
    if last is not None:
        yield last[0]._replace(total=total), last[1]


def _build_trainer_record(text: str) -> Record | None:
    try:
        entry = _DECODER.decode(text)
    except (ValueError, RecursionError):  # RecursionError: lists nested without end
        return None
    if not isinstance(entry.get("step"), int) or "train_runtime" in entry:
        return None
    values = [
        (_TRAINER_NAMES.get(key, key), float(value))
        for key, value in entry.items()
        if key not in _SKIPPED and isinstance(value, (int, float)) and not isinstance(value, bool)
    ]
    return Record(float(entry["step"]), values, NOWHERE, math.nan) if values else None


def _parse_number(text: str) -> int | float:
    """Read an integer; one of more digits than any count is a figure."""
    value = parse_whole_number(text)
    return float(text) if value is None else value


_DECODER: Final = json.JSONDecoder(parse_int=_parse_number)


_ROW_BYTES: Final = 1 << 20
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

    def __init__(self, matcher: Matcher, block_size: int) -> None:
        """Take what names mean, and how many bytes are read at a time."""
        self._matcher, self._block_size = matcher, block_size
        self._keys = KeyTable(matcher.knowledge.keys)
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
        rank = binary_files.rank_of_dump(path)
        if rank is not None:
            return self._read_flight_recorder(opened, index, path, rank)
        return self._read_tensorboard_events(opened, index, path) if is_event_file(path) else None

    def _read_flight_recorder(
        self, opened: Readable, index: int, path: str, rank: int
    ) -> ReadSource:
        data = fill(opened, MOST_PICKLE_BYTES)
        try:
            dump = binary_files.read_dump(data, rank, index)
        except ValueError as error:
            raise InputError(binary_files.DUMP_REFUSED, path, "name the log of the run") from error
        part = Extract(lines={index: 1}, records={index: 0}, rank_dumps=[dump])
        return ReadSource(part, [dump.describe()], _METRICS)

    def _read_tensorboard_events(self, opened: Readable, index: int, path: str) -> ReadSource:
        parse = binary_files.load_parser()
        if parse is None:
            raise InputError(binary_files.EVENTS_UNREADABLE, path, "or name the log of the run")
        file = binary_files.EventFile(opened, parse)
        part = self._extract_records(index, file.records(), binary_files.TENSORBOARD, "")
        if not file.count:
            raise InputError(binary_files.NO_EVENTS, path, "name the log of the run")
        part.lines[index] = file.count
        return ReadSource(part, binary_files.note_of(file), _METRICS)

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
        if is_trainer_state(head):
            return _Records(
                "transformers-trainer",
                "transformers-trainer",
                lambda source: iter_trainer_records(iter_blocks(source, self._block_size)),
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
        if config_files.is_metric(path) and is_mlflow_metric(head):
            name = config_files.name_in_store(path)
            return _Records(
                MLFLOW,
                "",
                lambda source: iter_mlflow_records(iter_lines(source, _ROW_BYTES), name),
                [],
            )
        if PurePath(path).name == WANDB_SUMMARY:
            return _Records(
                WANDB,
                "",
                lambda source: iter_last_values(source.read(SNIFF).decode("utf-8", "replace")),
                [WANDB_NOTE],
            )
        metrics, notes = self._matcher.knowledge.metrics, list[Message]()
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
        extractor = SourceExtractor(self._matcher, index)
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


def _read_to_end(source: Readable) -> None:
    """Read a source to its end: its lines are counted and its bytes hashed."""
    while source.read(_ROW_BYTES):
        pass
