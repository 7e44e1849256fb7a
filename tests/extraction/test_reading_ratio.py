"""Reading costs a bounded multiple of the least that any reader must do, in the same process.

Ratios of CPU time, the best of three rounds each, and bounds far above what is measured
(`docs/PERFORMANCE.md`): what fails here has become slow by an order of magnitude.
"""

import collections
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import kinds
import pytest
from log_kinds import KINDS

from postmortem.extraction.job import read
from postmortem.pipeline import get_matcher

MOST_OF_NUMBERS = {
    "only a loss": 60,
    "a loss, CRLF": 60,
    "step on the line before": 60,
    "records of four lines": 60,
    "tabs": 60,
    "RLlib": 90,
    "SB3": 60,
    "columns": 60,
    "alternating records": 60,
    "prose": 250,
    "heads and frames": 120,
}
"""Ratios to finding all numbers, several times what is measured (`benchmarks/kinds.py`)."""
LINE = re.compile(rb"([^\n]*)\n")
MOST = {
    "noise": 60,
    "dense": 60,
    "generic": 60,
    "mmengine": 60,
    "Megatron": 60,
    "loss-scale events": 90,
}


def seconds(work: Callable[[], object]) -> float:
    """The least CPU time of three runs."""
    found = []
    for _ in range(3):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


@pytest.mark.parametrize("kind", sorted(MOST))
def test_reading_costs_a_bounded_multiple(kind: str, tmp_path: Path) -> None:
    """Two megabytes of one kind of lines, against finding its lines and literals."""
    lines, size, made = [], 0, KINDS[kind](random.Random(7))
    while size < 2_000_000:
        lines.append(next(made) + "\n")
        size += len(lines[-1])
    log = tmp_path / "run.log"
    log.write_text("".join(lines), newline="")
    machine, data = get_matcher(()), log.read_bytes()
    least = seconds(lambda: (machine.filter.hits(data, 0, len(data)), LINE.findall(data)))
    assert seconds(lambda: read([str(log)], machine)) < MOST[kind] * least


@pytest.mark.parametrize("kind", sorted(MOST_OF_NUMBERS))
def test_reading_costs_a_bounded_multiple_of_finding_numbers(kind: str, tmp_path: Path) -> None:
    """Half a megabyte of a kind of text without a known format."""
    log = tmp_path / "run.log"
    kinds.write(log, kinds.KINDS[kind](random.Random(7)), 0.5)
    machine, text = get_matcher(()), log.read_text(encoding="utf-8")
    least = seconds(lambda: collections.deque(kinds.NUMBER.finditer(text), maxlen=0))
    assert seconds(lambda: read([str(log)], machine)) < MOST_OF_NUMBERS[kind] * least
