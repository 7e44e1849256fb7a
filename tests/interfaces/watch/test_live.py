"""A file in small pieces gives the records of the whole."""

import random
from pathlib import Path

import pytest

from postmortem.core.diagnosis import MetricRecord
from postmortem.extraction.literals import Matcher
from postmortem.extraction.source_extractor import SourceExtractor
from postmortem.interfaces.watch.watched_file import GrowingFile
from postmortem.pipeline import get_matcher
from postmortem.reading.sources import Block

SAMPLES = Path(__file__).resolve().parents[3] / "sample_logs"
NAMES = (
    "deepspeed/diverged-then-exhausted-0",
    "pytorch/clipped-divergence-0",
    "transformers-trainer/rate-divergence-clipped-0",
    "lightning/rate-divergence-0",
    "mmengine/half-adamw-0",
    "xtuner/rate-climbs-0",
    "pytorch/oom-leak-0",
    "pytorch/price-outlier-0",
)


def points(records: list[MetricRecord]) -> set[tuple[str, int, str]]:
    """Name, line and value of every figure.

    Not its step, which a bar behind the record may tell later.
    """
    return {
        (name, record.line, repr(value))
        for record in records
        for name, value in record.values.items()
    }


@pytest.fixture(scope="module")
def machine() -> Matcher:
    """The built-in rules."""
    return get_matcher(())


@pytest.mark.parametrize("name", NAMES)
def test_pieces_make_the_whole(machine: Matcher, name: str) -> None:
    """However the file grows, the figures are those of one reading."""
    raw = (SAMPLES / f"{name}.log").read_bytes()
    gathering = SourceExtractor(machine, 0)
    gathering.feed(Block(raw, 0, len(raw), 0))
    whole = {
        (series.name, line, repr(value))
        for series in gathering.result.series.values()
        for line, value in zip(series.lines, series.values, strict=True)
    }
    rng, live, found, start = random.Random(name), GrowingFile(machine, 0), [], 0
    while start < len(raw):
        size = rng.choice([1, 7, 40, 200, 3000])
        found += live.feed(raw[start : start + size])
        start += size
    found += live.feed(b"", is_end=True)
    assert points(found) == whole
    assert whole


def test_a_raw_line_is_at_hand(machine: Matcher) -> None:
    """By its number, also behind a megabyte that has been let go."""
    live = GrowingFile(machine, 0)
    for number in range(1, 20001):
        live.feed(
            f"{number:07d} nothing to see in this line, which is there to take room\n".encode()
        )
    assert live.get_line(20000).startswith("0020000 ")
    assert live.get_line(19990).startswith("0019990 ")
    assert live.get_line(5) == ""
    assert live.get_last_number() == 20000
    assert len(live.get_tail()[1]) < 100_000


def test_a_line_without_end_is_bounded(machine: Matcher) -> None:
    """What is held does not grow with it."""
    live = GrowingFile(machine, 0)
    for _ in range(100):
        live.feed(b"x" * 10_000)
    assert len(live.get_line(1)) + len(live.get_tail()[1]) < 300_000
