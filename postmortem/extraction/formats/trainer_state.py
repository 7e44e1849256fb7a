"""`trainer_state.json` of the Hugging Face Trainer: the log history with exact steps.

In: the blocks of the file (even of one cut off by the crash). Out: records with raw lines.
Not here: the printed dicts of the same run (`patterns/formats/trainer.yaml`).

Entries are found by their braces, not by a parser of the whole: the parsers that stream JSON take
no `NaN`, which the Trainer writes, and tell no lines.
"""

import json
import math
from collections.abc import Iterable, Iterator
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.numerals import parse_whole_number
from postmortem.extraction.formats.records import Record
from postmortem.reading.block_reader import Block

PRODUCER: Final = "transformers-trainer-state"
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
_NAMES: Final = {"lr": "learning_rate"}


def is_trainer_state(head: str) -> bool:
    """Say whether a file that begins like this is a trainer state."""
    start = head.lstrip()[:1]
    return (
        start == "{" and '"log_history"' in head and '"global_step"' in head[:4000] + head[-4000:]
    )


def iter_records(blocks: Iterable[Block]) -> Iterator[tuple[Record, int]]:
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
            record = _record(match[0].decode("utf-8", "replace"))
            if record is not None:
                if last is not None:
                    yield last
                last = record, line
        named = _TOTAL.search(block.data, block.lo)
        total = total if named is None else float(named[1])
        line += block.data.count(b"\n", position, block.hi)
    if last is not None:
        yield last[0]._replace(total=total), last[1]


def _record(text: str) -> Record | None:
    try:
        entry = _DECODER.decode(text)
    except (ValueError, RecursionError):  # RecursionError: lists nested without end
        return None
    if not isinstance(entry.get("step"), int) or "train_runtime" in entry:
        return None
    values = [
        (_NAMES.get(key, key), float(value))
        for key, value in entry.items()
        if key not in _SKIPPED and isinstance(value, (int, float)) and not isinstance(value, bool)
    ]
    return Record(float(entry["step"]), values, NOWHERE, math.nan) if values else None


def _parse_number(text: str) -> int | float:
    """Read an integer; one of more digits than any count is a figure."""
    value = parse_whole_number(text)
    return float(text) if value is None else value


_DECODER: Final = json.JSONDecoder(parse_int=_parse_number)
