"""A run that is slow, waits for data, stands still by its own bar, or waits for one rank."""

import dataclasses
import json
from pathlib import Path

import pytest

import postmortem
from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.progress_lines import detect_frozen_bar
from postmortem.diagnosis.detectors.ranks import detect_straggler


def observed(text: str, records: int = 1) -> Observed:
    """A job of one file with this end."""
    return dataclasses.replace(
        Observed(), tails={0: (1, text)}, last_records={0: records}, processes={0: NOWHERE}
    )


def bar(now: int, minutes: int) -> str:
    """A draw of a bar."""
    return f" 40%|####      | {now}/1000 [{minutes // 60}:{minutes % 60:02d}:00<9:00:00, 9.1s/it]"


@pytest.mark.parametrize(
    ("draws", "stands"),
    [
        pytest.param([(398 + i, i) for i in range(9)], False, id="it moves"),
        pytest.param(
            [*((398 + i, i) for i in range(4)), *((402, 10 * i) for i in range(1, 9))],
            True,
            id="one position for an hour",
        ),
        pytest.param(
            [*((398 + i, i) for i in range(4)), (402, 4), (402, 5)], False, id="drawn twice"
        ),
        pytest.param(
            [*((998 + i, i) for i in range(2)), *((1000, 10 * i) for i in range(1, 9))],
            False,
            id="at its end",
        ),
    ],
)
def test_a_bar_stands_by_its_own_clock(draws: list[tuple[int, int]], *, stands: bool) -> None:
    """It is drawn at one position, and its clock goes on."""
    text = "\r".join(bar(now, minutes) for now, minutes in draws)
    assert [shape.id for shape in detect_frozen_bar(observed(text))] == ["same-step"] * stands


@pytest.mark.parametrize(
    ("line", "rank"),
    [
        pytest.param("it {i} compute/rank 0:0.31 1:0.30 2:0.99 3:0.31", 2, id="pairs"),
        pytest.param("step {i} fwd ms per rank: [210, 211, 209, 640]", 3, id="a list"),
        pytest.param(
            "^^^^ Bottom 2 Ranks with lowest  Etpt(TF): 13{i}.02/11, 296.17/2,\n"
            "^^^^ Top    2 Ranks with highest Etpt(TF): 297.28/15, 297.3{i}/0,",
            11,
            id="both ends of Megatron's throughput",
        ),
        pytest.param(
            "^^^^ Bottom 2 Ranks with lowest  Etpt(TF): 29{i}.02/11, 296.17/2,\n"
            "^^^^ Top    2 Ranks with highest Etpt(TF): 297.28/15, 297.3{i}/0,",
            None,
            id="both ends alike",
        ),
        pytest.param("step {i} wait/rank 0:0.31 1:0.30 2:0.99 3:0.31", None, id="waiting"),
        pytest.param("step {i} loss/rank 0:0.31 1:0.30 2:0.99 3:0.31", None, id="no time"),
        pytest.param("step {i} compute/rank 0:0.3 1:0.5 2:0.7 3:0.9", None, id="all differ"),
        pytest.param("step {i} compute/rank 0:0.31 1:0.30 2:0.33 3:0.31", None, id="alike"),
    ],
)
def test_one_rank_is_slower(line: str, rank: int | None) -> None:
    """Its own work takes long, record after record."""
    text = "\n".join(line.format(i=i) for i in range(6))
    assert [shape.where.rank for shape in detect_straggler(observed(text))] == (
        [] if rank is None else [rank]
    )


def clocked(seconds: list[int]) -> str:
    """Records with a clock that have these distances."""
    now, lines = 9 * 3600, []
    for number, apart in enumerate(seconds):
        now += apart
        clock = f"{now // 3600:02d}:{now // 60 % 60:02d}:{now % 60:02d}"
        lines.append(f"2026-03-04 {clock} - INFO - step {number * 20} loss {2 - number * 0.01:.3f}")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        pytest.param(clocked([12] * 20 + [70] * 18), "performance.slow", id="by the clock"),
        pytest.param(clocked([12] * 38), "healthy.running", id="steady"),
        pytest.param(
            "\n".join(
                f"step:{i} loss:{0.9 - i * 0.001:.3f} step_time:{(i % 45 + 1) * 73}ms"
                for i in range(63)
            ),
            "healthy.running",
            id="a time since the start of each phase",
        ),
        pytest.param(
            clocked([200 if i % 10 == 9 else 12 for i in range(40)]),
            "healthy.running",
            id="an evaluation now and then",
        ),
        pytest.param(
            "\n".join(
                f"it {i} loss {0.9 - i * 0.001:.3f} time {14.2 if i % 4 == 0 else 0.21} "
                f"data {14.0 if i % 4 == 0 else 0.004}"
                for i in range(101, 125)
            ),
            "performance.input-bound",
            id="waits in stalls",
        ),
        pytest.param(
            "\n".join(
                f"iter: {i}0, loss: {9 - i * 0.01:.3f}, reader_cost: 7.{i % 9}1 s, batch_cost: 10.2 s"
                for i in range(6)
            ),
            "performance.input-bound",
            id="a few steps that wait for many seconds",
        ),
        pytest.param(
            "\n".join(
                f"iter: {i}0, loss: {9 - i * 0.01:.3f}, reader_cost: 0.7{i % 9}, batch_cost: 1.02"
                for i in range(6)
            ),
            "performance.input-bound",
            id="a few steps that wait for less than one",
        ),
        pytest.param(
            "\n".join(
                f"iter: {i}0, loss: {9 - i * 0.01:.3f}, reader_cost: 0.3{i % 9}, batch_cost: 1.02"
                for i in range(6)
            ),
            "healthy.running",
            id="a few steps that wait for a third of their time",
        ),
        pytest.param(
            "\n".join(
                f"it {i}0 loss {0.9 - i * 0.001:.3f} time {14.2 if i % 4 == 0 else 0.21} "
                f"data {14.0 if i % 4 == 0 else 0.004}"
                for i in range(101, 125)
            ),
            "healthy.running",
            id="records now and then may be the first of their epochs",
        ),
    ],
)
def test_pace_and_waits(tmp_path: Path, text: str, cause: str) -> None:
    """The clock tells the speed, the sum of the waits tells the stalls."""
    log = tmp_path / "train.log"
    log.write_text(text, encoding="utf-8")
    report = json.loads(postmortem.analyze(str(log)).render("json"))
    assert report["causes"][0]["id"] == cause
