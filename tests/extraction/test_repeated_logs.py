"""Logs that the benchmark of real logs makes longer go on as they began."""

import itertools
import json
import random

import pytest
from repeating import repeated


def longer(text: str, times: int) -> str:
    """The text with what it repeats so many times more."""
    return repeated(text, (times + 1) * len(text), random.Random(7))


def test_what_is_counted_goes_on() -> None:
    """Steps grow, the total is larger wherever it stands, and the ends of the log stay."""
    text = "".join(
        [
            "steps in all = 1,200\n",
            *(f"step {n}/1200 loss {3 / n:.4f} lr 1e-04\n" for n in range(1, 1200)),
            "done\n",
        ]
    )
    lines = longer(text, 3).splitlines()
    steps = [int(line.split()[1].partition("/")[0]) for line in lines[1:-1]]
    assert steps == sorted(steps)
    assert {line.split()[1].partition("/")[2] for line in lines[1:-1]} == {"4800"}
    assert (lines[0], lines[-1]) == ("steps in all = 4,800", "done")
    assert {line.split()[5] for line in lines[1:-1]} == {"1e-04"}
    assert len({line.split()[3] for line in lines[1:-1]}) > 500


def test_draws_and_records_alternate_as_they_did() -> None:
    """A bar is drawn between carriage returns; how full it is is no part of its shape."""
    text = "".join(
        f"\r{n:3d}%|{'#' * (n // 10):<10}| {n}/100 [00:{n % 60:02d}<01:00]\n{{'loss': {n / 7:.4f}}}"
        for n in range(1, 100)
    )
    shapes = ["%|" in part for part in longer(text, 4).replace("\r", "\n").split("\n") if part]
    assert len(shapes) > 900
    assert all(one != other for one, other in itertools.pairwise(shapes))


def test_records_of_several_lines_stay_whole() -> None:
    """A JSON file of records remains one."""
    history = [{"epoch": n / 50, "loss": 3 / n, "step": n} for n in range(1, 400)]
    text = json.dumps({"epoch": 7.98, "log_history": history, "max_steps": 400}, indent=2)
    found = json.loads(longer(text, 3))["log_history"]
    assert len(found) > 1500
    assert [one["step"] for one in found] == sorted(one["step"] for one in found)
    assert all(one.keys() == history[0].keys() for one in found)


@pytest.mark.parametrize("text", ["a log\nof nothing\n", "step 1 loss 2.5\n"])
def test_what_repeats_nothing_stays(text: str) -> None:
    """There is no shape that comes again."""
    assert repeated(text, 1000, random.Random(7)) == text
