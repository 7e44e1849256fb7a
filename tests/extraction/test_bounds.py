"""No log hangs the program: work and memory grow with the length of a log.

They do so whatever stands in it.
"""

import gc
import time
from collections.abc import Callable
from pathlib import Path

import hostile
import pytest

from postmortem.diagnosis.detectors.out_of_memory import parse_gib
from postmortem.extraction import finding_lines
from postmortem.extraction.extract import Extract
from postmortem.extraction.formats import generic_reader
from postmortem.extraction.formats.records import FormatReader
from postmortem.extraction.formats.templates import Template
from postmortem.extraction.frames import match_frame
from postmortem.extraction.job import read
from postmortem.extraction.literals import Scan
from postmortem.extraction.points import Columns
from postmortem.extraction.source_extractor import SourceExtractor
from postmortem.pipeline import get_matcher
from postmortem.reading import windows
from postmortem.reading.prefixes import clean
from postmortem.reading.sources import Block
from postmortem.reading.windows import REACH, View, ViewContext
from postmortem.rules.engine import Budget

GROWTH = 3.0
"""Twice the log may take so many times as long; a quadratic one takes four times."""
ENOUGH = 0.15
"""CPU seconds below which nothing is slow."""
HEADER = "Traceback (most recent call last):"


def seconds(work: Callable[[], object]) -> float:
    """CPU time, the better of two, with the rules out of the collector's sight as `analyze` does."""
    best = float("inf")
    gc.collect()
    gc.freeze()
    for _ in range(2):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    gc.unfreeze()
    return best


@pytest.mark.parametrize("kind", [*hostile.TWELVE, *hostile.MORE])
def test_reading_is_linear(kind: str, tmp_path: Path) -> None:
    """A hostile log that is twice as long takes about twice as long to read."""
    logs = []
    for size in (60_000, 120_000):
        logs.append(tmp_path / f"{size}.log")
        hostile.write(logs[-1], kind, size)
        read(logs[-1], get_matcher(()))  # rules are compiled when their first candidate comes
    for _ in range(3):  # a busy moment looks like growth once, not each time
        half, whole = (seconds(lambda log=log: read(log, get_matcher(()))) for log in logs)  # type: ignore[misc]
        if whole < max(ENOUGH, GROWTH * half):
            return
    assert whole < max(ENOUGH, GROWTH * half)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("2024-05-01 12:00:00" + " " * 8000 + "x", id="a time stamp and blanks"),
        pytest.param("2024-05-01 12:00:00 INFO" + " " * 8000 + "x", id="a level and blanks"),
        pytest.param("[rank" + "9" * 8000 + "]: x", id="a rank without end"),
        pytest.param("(pid=" + "9" * 8000 + ") x", id="a process without end"),
    ],
)
def test_a_line_is_cleaned_at_once(line: str) -> None:
    """Eight kilobytes take a hundredth of a second at most."""
    assert seconds(lambda: clean(line)) < 0.01


def test_a_size_is_read_at_once() -> None:
    """Digits without a unit are no size, however many they are."""
    assert seconds(lambda: parse_gib("1" * 8000)) < 0.02
    assert parse_gib("2.00 GiB") == 2.0


def gathered(text: str) -> Extract:
    """What is found in a text."""
    gathering = SourceExtractor(get_matcher(()), 0)
    data = text.encode()
    gathering.feed(Block(data, 0, len(data), 0))
    return gathering.snapshot()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "".join(f"[rank{number % 1000}]: {HEADER}\n" for number in range(4000)),
            id="headers of other processes",
        ),
        pytest.param(
            (f"╭─── {HEADER[:-1]} ───╮\n" + "│ a │\n" * 400) * 200, id="boxes that never close"
        ),
    ],
)
def test_what_is_passed_over_is_counted(text: str) -> None:
    """Headers without a traceback, thousands of them in a row, are not all followed.

    The report says so.
    """
    assert gathered(text).passed_over > 0


def test_a_traceback_behind_many_headers_is_read() -> None:
    """Once a log goes on as logs do, tracebacks are followed again."""
    noise = "".join(f"[rank{number % 1000}]: {HEADER}\n" for number in range(4000))
    ordinary = "an ordinary line of a log that goes on\n" * 400
    found = gathered(
        f'{noise}{ordinary}{HEADER}\n  File "train.py", line 3, in main\n    run()\nValueError: batch 7 is empty\n'
    )
    assert found.passed_over
    assert found.tracebacks[-1][0].exception == "ValueError"


def test_a_thousand_ranks_that_fail_together_are_all_read() -> None:
    """Real tracebacks of a thousand processes are within the allowance.

    They come one line of each in turn.
    """
    rows = (
        HEADER,
        '  File "train.py", line 3, in main',
        "    run()",
        "ValueError: batch 7 is empty",
    )
    found = gathered(
        "".join(
            f"[rank{rank}]: {row}\n"
            for start in range(0, 1024, 64)
            for row in rows
            for rank in range(start, start + 64)
        )
    )
    assert (found.traceback_count, found.passed_over) == (1024, 0)


def test_long_lines_of_a_real_log_are_all_looked_at() -> None:
    """Configurations in one line of some kilobytes do not come near the allowance.

    A line of megabytes full of literals does.
    """
    machine = get_matcher(())
    words = b" ".join(
        literal for literal in machine.literals if b"\n" not in literal and b"\r" not in literal
    ).decode("utf-8", "replace")
    assert gathered((words[:4000] + "\n") * 5).passed_over == 0
    assert gathered(words * 20).passed_over > 0


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(
            ["2024-05-01 12:00:00 a", "b", "needle"], "2024-05-01T12:00:00", id="two lines before"
        ),
        pytest.param(
            ["2024-05-01 12:00:00 a", *["b"] * 118, "needle"],
            "2024-05-01T12:00:00",
            id="as far as is looked",
        ),
        pytest.param(
            ["2024-05-01 12:00:00 a", *["b"] * 119, "needle"], None, id="further than is looked"
        ),
        pytest.param(
            ["2024-05-01 12:00:00 a", "x" * (REACH + 1), "needle"], None, id="beyond the window"
        ),
        pytest.param(
            ["2024-05-01 12:00:00 a", "needle", "b", "2024-05-01 12:00:07 needle"],
            "2024-05-01T12:00:07",
            id="in the line itself",
        ),
        pytest.param(
            ["2024-05-01 12:00:00 a", "needle", "b", "needle", "c", "needle"],
            "2024-05-01T12:00:00",
            id="found before, from there",
        ),
        pytest.param(
            ["2024-05-01 12:00:00 a", *["b"] * 60, "needle", *["b"] * 59, "needle"],
            None,
            id="found before, too far from here",
        ),
        pytest.param(["needle", *["b"] * 200, "needle"], None, id="nowhere"),
    ],
)
def test_the_nearest_printed_time(lines: list[str], expected: str | None) -> None:
    """It is that of the line or of one of 119 before it, within the window.

    What an earlier look has found is used again.
    """
    data = "\n".join(lines).encode()
    sight, position, found = ViewContext(srun=False), -1, None
    while (position := data.find(b"needle", position + 1)) >= 0:
        count = len(sight.stamps)
        sight.stamp(sight.view(data, position, 1), 0)
        found = sight.stamps[-1][1] if len(sight.stamps) > count else None
    assert found == expected


def test_a_line_is_cleaned_once() -> None:
    """Views of one block share what they have cleaned."""
    data = b"one here\ntwo here\nthree here\n"
    known: dict[tuple[int, int], object] = {}
    first, second = (
        View(data, data.index(word), 1, srun=False, known=known) for word in (b"one", b"two")
    )  # type: ignore[arg-type]
    assert first.following(3) == ["one here", "two here", "three here"]
    before = dict(known)
    assert second.following(2) == ["two here", "three here"]
    assert known == before


def words() -> bytes:
    """Every literal of the rules, on one line."""
    return b" ".join(
        literal
        for literal in get_matcher(()).literals
        if b"\n" not in literal and b"\r" not in literal
    )


def test_what_nobody_will_look_at_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long line whose looks are spent most literals are not even found, and the report is told."""
    monkeypatch.setattr(windows, "_TEXT", 1 << 20)
    machine, found = get_matcher(()), 0
    hits = machine.filter.hits

    def counted(data: bytes, lo: int, hi: int) -> list[tuple[int, int]]:
        nonlocal found
        some = hits(data, lo, hi)
        found += len(some)
        return some

    monkeypatch.setattr(machine.filter, "hits", counted)
    data = words() * 40
    gathering = SourceExtractor(machine, 0)
    gathering.feed(Block(data, 0, len(data), 0))
    assert gathering.snapshot().passed_over > 0
    assert found < len(hits(data, 0, len(data))) / 3


@pytest.mark.parametrize("until", [0, 1, 700, 5000, 10**9])
def test_a_scan_finds_all_that_is_wanted(until: int) -> None:
    """All literals from the place on where the next is wanted; of those before, some may be left out."""
    machine, data = get_matcher(()), words()[:40_000]
    scan = Scan(machine.filter, data, 0, len(data))
    found = []
    for hit in scan:
        if not found:
            scan.until = until
        found.append(hit)
    every = machine.filter.hits(data, 0, len(data))
    assert sorted(hit for hit in found if hit[1] >= until) == sorted(
        hit for hit in every if hit[1] >= until
    )


def test_a_scan_begins_where_something_is_wanted() -> None:
    """A line that goes on from another block is passed over at once."""
    machine, data = get_matcher(()), words()[:40_000]
    scan = Scan(machine.filter, data, 0, len(data))
    scan.until = 30_000
    assert min(start for _, start in scan) >= scan.until


def test_rows_of_a_crowd_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors between the records of a thousand processes do not put each record into its series alone."""
    flushed = 0
    flush = Columns.flush

    def counted(rows: Columns) -> None:
        nonlocal flushed
        flushed += 1
        flush(rows)

    monkeypatch.setattr(Columns, "flush", counted)
    found = gathered(
        "".join(
            f"[rank{rank}]: {{'loss': 1.5, 'learning_rate': 2e-05, 'epoch': {step / 100}}}\n"
            f"[rank{rank}]: RuntimeError: CUDA error: device-side assert triggered\n"
            for step in range(20)
            for rank in range(100)
        )
    )
    assert flushed <= 2 * 100
    seen = [one for one in found.seen() if one.finding.signature == "cuda.assert-triggered"]
    assert {one.records_before for one in seen if one.finding.line < 200} == {1}
    assert max(one.records_before for one in seen) == 20


def test_a_crowd_is_read_in_part_and_what_follows_it_whole() -> None:
    """Lines of which not all can be kept are paid for dearly; a run that named too many metrics once goes on as any other."""
    once = "{{'loss': 1.5, {}, 'epoch': 0.1}}\n".format(
        ", ".join(f"'n{n}': 1.0" for n in range(30))
    )
    crowd = "".join(once.replace("'n", f"'m{n}_") for n in range(200))
    rest = "".join(
        f"{{'loss': {step / 7:.4f}, 'learning_rate': 1e-05, 'epoch': {step / 100}}}\n"
        for step in range(5000)
    )
    found = gathered(crowd + rest)
    assert found.unkept > 0
    series = next(one for name, one in found.series.items() if name[0] == "loss")
    assert series.points >= 5000
    ranks = gathered(
        "".join(
            f"[rank{n % 8192}]: {{'loss': 1.5, 'learning_rate': 2e-05, 'epoch': {n / 1e6:.4f}}}\n"
            for n in range(60_000)
        )
    )
    assert sum(ranks.records.values()) < 30_000
    assert ranks.crowded_out > 20_000


def test_texts_of_long_lines_are_kept_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the first findings on long lines a text is cut shorter."""
    monkeypatch.setattr(finding_lines, "_MOST_LONG", 5)
    line = "x" * 2000 + " RuntimeError: CUDA error: device-side assert triggered " + "y" * 2000
    found = gathered(f"{line}\n" * 12)
    lengths = [
        len(one.finding.text)
        for one in sorted(found.seen(), key=lambda one: one.finding.line)
        if one.finding.signature == "cuda.assert-triggered"
    ]
    assert max(lengths) > 900
    assert lengths[-1] <= 200
    assert all("device-side assert" in one.finding.text for one in found.seen())


def test_surroundings_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many characters of them are kept, not more for more findings."""
    monkeypatch.setattr(finding_lines, "_MOST_CONTEXTS", 10_000)
    rows = "".join(
        f"[rank{n}]: RuntimeError: CUDA error: device-side assert triggered\n" for n in range(400)
    )
    kept = sum(len(one.context[1]) for one in gathered(rows).seen())
    assert 0 < kept < 10_000 + 7000


def test_lines_that_never_come_again_are_looked_at_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand lines of ever another layout are not all read for metrics, and the report is told."""
    looks = 0
    look = generic_reader.parse_metric_line

    def counted(*given: object) -> object:
        nonlocal looks
        looks += 1
        return look(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(generic_reader, "parse_metric_line", counted)
    word = "abcdefghij"
    found = gathered(
        "".join(
            "".join(word[int(digit)] for digit in f"{n:05d}") + f": step {n} loss nan\n"
            for n in range(10_000)
        )
    )
    assert looks < 6000
    assert found.crowded_out > 3000


def test_frames_that_come_again_are_read_once() -> None:
    """Of headers within headers each is followed over the same frames, whose lines are read once."""
    match_frame.cache_clear()
    frames = "".join(f'  File "a.py", line {n}, in f\n    x{n}\n' for n in range(50))
    gathered(f"{HEADER}\n" * 60 + frames + "ValueError: x\n")
    assert match_frame.cache_info().misses < 200


def test_what_templates_do_not_help_is_hardly_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of lines that differ in their names a few are learnt from, not each sixteenth."""
    learnt = 0
    learn = FormatReader.learn

    def counted(reader: FormatReader, view: View, budget: Budget | None = None) -> Template | None:
        nonlocal learnt
        learnt += 1
        return learn(reader, view, budget)

    monkeypatch.setattr(FormatReader, "learn", counted)
    gathered(
        "".join(
            f"{{'loss': 1.5, 'metric_{number}': 0.5, 'epoch': {number / 100}}}\n"
            for number in range(4000)
        )
    )
    assert 0 < learnt < 64
