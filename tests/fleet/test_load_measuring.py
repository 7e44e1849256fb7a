"""What is measured of a triage, with a stand-in for the command."""

import json
import random
import shlex
import sys
from pathlib import Path
from typing import Any

import process_tree
import pytest
import triage_jobs
import triage_load
from generated_job import Sizes, Wanted
from triage_jobs import generate
from triage_load import Load

STAND_IN = '''
"""Judges a file at a time into a store, and goes on where it was."""
import argparse, json, os, re, sqlite3, time
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("tree", type=Path)
for name in ("out", "store", "engine", "workers", "jobs"):
    parser.add_argument("--" + name)
parser.add_argument("--bad", action="store_true")
args = parser.parse_args()
opened = sqlite3.connect(args.store)
opened.execute("CREATE TABLE IF NOT EXISTS postmortem_analyses (key TEXT PRIMARY KEY, state TEXT)")
files = sorted(p for p in args.tree.rglob("*") if p.is_file())
for path in files:
    with opened:
        opened.execute("INSERT OR IGNORE INTO postmortem_analyses VALUES (?, 'done')", (str(path),))
    time.sleep(0.02)
rows = [
    {
        "job": re.search(r"[0-9]{7}", str(p))[0],
        "title": p.name,
        "locations": [str(p)],
        "state": "judged",
        "cause": None,
    }
    for p in files
]
if args.bad:
    rows[0]["began"] = time.time()
out = Path(args.out)
out.mkdir(exist_ok=True)
for name in ("results.jsonl", "results.csv"):
    (out / ".part").write_text("".join(json.dumps(row) + "\\n" for row in rows))
    os.replace(out / ".part", out / name)
'''


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """A tree of twelve jobs, and the stand-in for the command."""
    script = tmp_path / "stand_in.py"
    script.write_text(STAND_IN, encoding="utf-8")
    generate(Wanted(tmp_path / "tree", 12, Sizes(5_000, 6_000)))
    return Load(
        tmp_path / "tree",
        tmp_path,
        (sys.executable, str(script)),
        2,
        "local",
        "",
        (),
        triage_jobs.build_sibling_path(tmp_path / "tree", ".scheduler") / "sacct.json",
    )


def arguments(load: Load, *more: str) -> list[str]:
    """The command line that measures the stand-in."""
    return ["x", str(load.tree), "--command", shlex.join(load.command), *more]


def test_memory_and_time_of_descendants_count(tmp_path: Path) -> None:
    """A child's memory is in the peak, its CPU time in the sum."""
    child = "x = bytearray(200_000_000); sum(range(6_000_000)); import time; time.sleep(0.4)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    usage = process_tree.measured([sys.executable, "-c", parent], tmp_path / "log")
    assert usage.status == 0
    assert usage.peak_rss > 200_000_000
    assert usage.largest > 200_000_000
    assert usage.processes >= 2
    assert usage.cpu_seconds > 0.05


def test_the_whole_tree_is_killed(tmp_path: Path) -> None:
    """A grandchild in a session of its own dies too."""
    mark = tmp_path / "pid"
    grandchild = (
        f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    )
    parent = (
        "import subprocess, sys;"
        f"subprocess.Popen([sys.executable, '-c', {grandchild!r}], start_new_session=True).wait()"
    )
    usage = process_tree.measured(
        [sys.executable, "-c", parent],
        tmp_path / "log",
        is_time=lambda _: mark.is_file() and bool(mark.read_text()),
    )
    assert usage.is_killed
    assert usage.status < 0
    assert process_tree._seen(process_tree.PROC / mark.read_text()) is None


def test_all_figures_are_in_one_line(
    load: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whole, compared, killed and again: one JSON value."""
    monkeypatch.setattr(sys, "argv", arguments(load, "--compare", "--kill", "2", "--again", "3"))
    with pytest.raises(SystemExit) as ended:
        triage_load.main()
    assert ended.value.code == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    files = sum(path.is_file() for path in load.tree.rglob("*"))
    assert report["whole"]["jobs"] <= files
    assert report["whole"]["first_row_s"] < report["whole"]["seconds"]
    assert report["truths"]["absent"] == 0
    assert report["compare"]["ratio"] > 0
    assert report["kill"]["kills"] >= 1
    assert report["kill"]["equal"] == {"results.jsonl": True, "results.csv": True}
    assert report["again"]["jobs"] == report["whole"]["jobs"] + 3
    assert report["unchanged"]["first_row_s"] == 0
    assert (
        len(triage_jobs.rows_of(triage_jobs.build_sibling_path(load.tree, ".truths.jsonl"))) == 15
    )


def test_results_that_differ_are_told(
    load: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row that is another in each run ends with exit status 1."""
    monkeypatch.setattr(sys, "argv", arguments(load, "--kill", "1", "--", "--bad"))
    with pytest.raises(SystemExit) as ended:
        triage_load.main()
    assert ended.value.code == 1
    assert json.loads(capsys.readouterr().out)["kill"]["equal"]["results.jsonl"] is False


def test_a_triage_that_fails_ends_the_measuring(load: Load) -> None:
    """Its last words are shown."""
    with pytest.raises(SystemExit, match="unrecognized arguments: --no-such"):
        triage_load.run(
            Load(
                **{
                    **{n: getattr(load, n) for n in Load.__dataclass_fields__},
                    "options": ("--no-such",),
                }
            ),
            "whole",
        )


def test_verdicts_are_held_against_truths() -> None:
    """Right, wrong, abstained, absent, twice, and what became of poison."""
    truths = [
        {"scheduler_id": 4100000 + n, "cause": "a.b", "also": ["c.d"], "poison": None}
        for n in range(6)
    ] + [{"scheduler_id": 9000000, "poison": "pipe", "states": ["unreadable"]}]
    rows = [
        {"title": "", "locations": [], **row}
        for row in (
            {"job": "4100000.1", "state": "judged", "cause": "a.b"},
            {
                "job": "0385662a-1653-46f7-ab94-821502085815.1",
                "title": "sft-4100001",
                "state": "judged",
                "cause": "c.d",
            },
            {"job": "4100002.1", "state": "judged", "cause": "e.f"},
            {"job": "4100003.1", "state": "judged", "cause": None},
            {"job": "4100004.1", "state": "crashed"},
            {"job": "4100004.2", "state": "crashed"},
            {"job": "9000000.1", "state": "judged"},
            {"job": "other", "state": "judged"},
        )
    ]
    assert triage_load.judged(rows, truths) == {
        "right": 2,
        "wrong": 1,
        "abstained": 1,
        "crashed": 2,
        "of no known job": 1,
        "twice": 1,
        "absent": 1,
        "poison": {"pipe": "judged (unexpected)"},
    }


def test_kills_come_within_a_whole_run() -> None:
    """The gaps are of the seed, and none is shorter than a start."""
    found = triage_load.gaps(5, 100.0, random.Random(1))
    assert found == triage_load.gaps(5, 100.0, random.Random(1))
    assert len(found) == 5
    assert sum(found) <= 100
    assert min(triage_load.gaps(9, 0.1, random.Random(1))) == triage_load.LEAST_GAP


def test_each_run_needs_a_store_of_its_own(
    load: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One store for runs that are compared is refused."""
    monkeypatch.setattr(sys, "argv", arguments(load, "--kill", "1", "--store", "one.sqlite"))
    with pytest.raises(SystemExit):
        triage_load.main()
    assert "{run}" in capsys.readouterr().err
