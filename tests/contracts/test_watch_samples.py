"""Every recorded run is written again while it is watched.

Collapsing ones are warned of before they stop, healthy ones never.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import watching

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    """Every run, as `benchmarks/watching.py` sees it."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return list(pool.map(watching.watched, watching.labels_in(SAMPLES), chunksize=8))


def test_collapsing_runs_are_warned_of_before_they_stop(rows: list[dict[str, Any]]) -> None:
    """All whose log shows a sign before the line at which the program stops."""
    collapsing = [row for row in rows if row["cause"].startswith("numerics.") and row["has_sign"]]
    assert len(collapsing) >= 75
    assert [row["name"] for row in collapsing if not row["before"]] == []


def test_healthy_runs_are_never_warned_of(rows: list[dict[str, Any]]) -> None:
    """Not once, of anything."""
    healthy = [row for row in rows if row["cause"].startswith("healthy.")]
    assert len(healthy) >= 40
    assert [(row["name"], row["kinds"], row["text"]) for row in healthy if row["kinds"]] == []


def test_runs_that_fail_for_another_reason_are_not_said_to_collapse(
    rows: list[dict[str, Any]],
) -> None:
    """A missing file, a full disk.

    At most one in a hundred is warned of on its way, and those by what their figures show.
    """
    other = [
        row
        for row in rows
        if not row["cause"].startswith(("numerics.", "healthy.", "memory.", "learning."))
    ]
    told = [(row["name"], row["kinds"]) for row in other if row["kinds"]]
    assert len(told) <= 0.01 * len(other), told


def test_memory_that_runs_out_is_foreseen(rows: list[dict[str, Any]]) -> None:
    """Runs that print a memory that rises to their end."""
    assert (
        sum(
            "memory" in row["kinds"] and row["before"]
            for row in rows
            if row["cause"].startswith("memory.")
        )
        >= 5
    )
