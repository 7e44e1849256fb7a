"""A triage as it is called: the same result whatever happens on the way."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOGS = sorted((ROOT / "sample_logs" / "pytorch").glob("style-*-0.log"))[:6]

Triaged = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six failures, each as three jobs, and one that holds nothing."""
    folder = tmp_path_factory.mktemp("cluster")
    for place, log in enumerate(LOGS):
        for copy in range(3):
            shutil.copy(log, folder / f"slurm-{100 * copy + place + 1000}.out")
    (folder / "slurm-9000.out").write_bytes(b"")
    return folder


@pytest.fixture(scope="session")
def triaged(command: list[str]) -> Triaged:
    """Run a triage and give its results."""

    def run(jobs: Path, out: Path, *options: str, status: int = 0) -> list[dict[str, Any]]:
        done = subprocess.run(
            [*command, "triage", str(jobs), "--out", str(out), "--no-model", *options],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stderr
        text = (out / "results.jsonl").read_text(encoding="utf-8") if not status else ""
        return [json.loads(line) for line in text.splitlines()]

    return run


@pytest.fixture(scope="module")
def undisturbed(
    jobs: Path, triaged: Triaged, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[dict[str, Any]]]:
    """The folder and the results of a triage that nothing happened to."""
    out = tmp_path_factory.mktemp("undisturbed")
    return out, triaged(jobs, out, "--workers", "2")


def test_every_job_is_a_row_and_every_content_an_analysis(
    undisturbed: tuple[Path, list[dict[str, Any]]],
) -> None:
    """Eighteen jobs of six contents; the empty one is a row with its reason."""
    out, rows = undisturbed
    assert [row["job"] for row in rows] == sorted(row["job"] for row in rows)
    judged = [row for row in rows if row["state"] == "judged"]
    assert len(rows) == 19
    assert len(judged) == 18
    assert {row["attempts"] for row in rows} == {1}
    assert (out / "results.csv").read_text(encoding="utf-8").startswith("job,title,attempts,")
    assert len({row["analysis"] for row in judged}) == 6
    (refused,) = (row for row in rows if row["state"] != "judged")
    assert refused["reason"]["en"]
    assert refused["reason"]["zh"]
    page = (out / "index.html").read_text(encoding="utf-8")
    assert page.count("<html") == 1
    for row in judged:
        assert row["report"] is None or (out / row["report"]).is_file()


def test_groups_have_a_page_of_their_first_job(
    undisturbed: tuple[Path, list[dict[str, Any]]],
) -> None:
    """It names the job's own file, not the neutral name that it was analysed under."""
    out, rows = undisturbed
    linked = [row for row in rows if row["report"]]
    assert len(linked) == len({row["group"] for row in rows if row["group"]})
    for row in linked:
        page = (out / row["report"]).read_text(encoding="utf-8")
        assert f"{row['job'].split('.')[0]}.out" in page
        assert "%j" not in page


def test_neither_workers_nor_order_change_anything(
    jobs: Path,
    triaged: Triaged,
    undisturbed: tuple[Path, list[dict[str, Any]]],
    tmp_path: Path,
) -> None:
    """One worker, the files named one by one from the last: the same bytes."""
    files = sorted(map(str, jobs.glob("*.out")), reverse=True)
    triaged(Path(files[0]), tmp_path, *files[1:], "--workers", "1")
    assert _bytes(tmp_path) == _bytes(undisturbed[0])


@pytest.mark.cluster
def test_ray_gives_the_same(
    jobs: Path,
    triaged: Triaged,
    undisturbed: tuple[Path, list[dict[str, Any]]],
    tmp_path: Path,
) -> None:
    """Two workers of a local Ray cluster: the same bytes."""
    triaged(jobs, tmp_path, "--engine", "ray", "--workers", "2")
    assert _bytes(tmp_path) == _bytes(undisturbed[0])


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def shared_store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that several processes open at once."""
    if request.param == "sqlite":
        return str(tmp_path / "shared.sqlite")
    return str(request.getfixturevalue("postgresql").new_schema())


def test_parts_make_a_whole(
    jobs: Path,
    triaged: Triaged,
    undisturbed: tuple[Path, list[dict[str, Any]]],
    tmp_path: Path,
    command: list[str],
    shared_store: str,
) -> None:
    """Two parts at once into one store, then the page: the same bytes."""
    asked = ["--store", shared_store, "--no-model", "--workers", "1"]
    parts = [
        subprocess.Popen(
            [*command, "triage", str(jobs), "--out", str(tmp_path / "out"), *asked, *part],
            stderr=subprocess.PIPE,
            text=True,
        )
        for part in (("--shard", "1/2"), ("--shard", "2/2"))
    ]
    told = [part.communicate()[1] for part in parts]
    assert [part.returncode for part in parts] == [0, 0], told
    triaged(jobs, tmp_path / "out", *asked)
    assert _bytes(tmp_path / "out") == _bytes(undisturbed[0])


def test_killed_again_and_again(
    jobs: Path,
    triaged: Triaged,
    undisturbed: tuple[Path, list[dict[str, Any]]],
    tmp_path: Path,
    command: list[str],
) -> None:
    """Whenever it is killed, it goes on where it was, and the result is the same."""
    chance = random.Random(1)
    asked = [*command, "triage", str(jobs), "--out", str(tmp_path), "--no-model", "--workers", "2"]
    for _ in range(4):
        process = subprocess.Popen(asked, start_new_session=True, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.3, 3.0))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    triaged(jobs, tmp_path, "--workers", "2")
    assert _bytes(tmp_path) == _bytes(undisturbed[0])


def test_a_second_triage_judges_what_is_new(jobs: Path, triaged: Triaged, tmp_path: Path) -> None:
    """What was judged is not judged again, nor its page written; a group not met before is new."""
    mine = tmp_path / "jobs"
    shutil.copytree(jobs, mine)
    new = sorted((ROOT / "sample_logs" / "pytorch").glob("oom-*-0.log"))
    new = new or sorted((ROOT / "sample_logs" / "pytorch").glob("*.log"))[:1]
    first = triaged(mine, tmp_path / "out")
    store = tmp_path / "out" / "triage.sqlite"
    before, pages = _kept(store), _written(tmp_path / "out")
    shutil.copy(new[0], mine / "slurm-5000.out")
    (mine / "slurm-1000.out").unlink()
    second = triaged(mine, tmp_path / "out")
    assert _kept(store).items() > before.items()
    assert len(_kept(store)) == len(before) + 1
    assert {row["job"] for row in second} - {row["job"] for row in first} == {"5000.1"}
    groups = {row["group"] for row in first}
    changed = {row["report"] for row in second if row["job"] in {"1100.1", "5000.1"}} - {None}
    assert dict(_written(tmp_path / "out").items() - pages.items()).keys() == changed
    (fresh,) = (row for row in second if row["job"] == "5000.1")
    value = json.loads((tmp_path / "out" / "overview.json").read_text(encoding="utf-8"))
    new_groups = {group["id"] for group in value["groups"] if group["is_new"]}
    assert new_groups == {fresh["group"]} - groups


def test_what_the_scheduler_said_is_remembered(
    jobs: Path, triaged: Triaged, tmp_path: Path
) -> None:
    """Its file reaches back to some jobs only; of the others it has told before."""
    store = f"sqlite:///{tmp_path / 'kept.sqlite'}"
    header = "job,user,gpus,start,end,state"
    first, second = tmp_path / "monday.csv", tmp_path / "tuesday.csv"
    times = "2026-01-05T10:00:00,2026-01-05T12:00:00"
    first.write_text(
        f"{header}\n1000,anna,4,{times},FAILED\n1001,ben,2,{times},FAILED\n77,eve,9,{times},FAILED\n",
        encoding="utf-8",
    )
    second.write_text(f"{header}\n1001,ben,8,{times},FAILED\n", encoding="utf-8")
    hours = []
    for place, options in enumerate(
        (["--jobs", str(first), "--zone", "Asia/Shanghai"], ["--jobs", str(second)], [])
    ):
        out = tmp_path / str(place)
        rows = triaged(jobs, out, "--store", store, "--reports", "none", *options)
        told = {row["job"]: row for row in rows}
        hours.append([told[job]["gpu_hours"] for job in ("1000.1", "1001.1", "1002.1")])
        value = json.loads((out / "overview.json").read_text(encoding="utf-8"))
        assert value["totals"]["lost_gpu_hours"] == sum(filter(None, hours[-1]))
        lost = [one["gpu_hours"] for one in value["groups"] if one["gpu_hours"]]
        assert sum(lost) == sum(filter(None, hours[-1]))
    assert hours == [[8.0, 4.0, None], [8.0, 16.0, None], [8.0, 16.0, None]]
    assert told["1000.1"]["end"] == "2026-01-05T04:00:00Z"


def test_what_cannot_be_asked_is_said(triaged: Triaged, tmp_path: Path) -> None:
    """No job, a part that is none, a store that is none: one line, exit status 2."""
    (tmp_path / "empty").mkdir()
    triaged(tmp_path / "empty", tmp_path / "out", status=2)
    triaged(tmp_path / "absent", tmp_path / "out", status=2)
    triaged(tmp_path, tmp_path / "out", "--shard", "3/2", status=2)
    triaged(tmp_path, tmp_path / "out", "--store", "mysql://x/y", status=2)
    triaged(tmp_path, tmp_path / "out", "--zone", "Mars/Olympus", status=2)


def _bytes(out: Path) -> tuple[bytes, bytes]:
    return (out / "results.jsonl").read_bytes(), (out / "results.csv").read_bytes()


def _written(out: Path) -> dict[str, int]:
    """When each page of a group was written."""
    return {f"groups/{page.name}": page.stat().st_mtime_ns for page in out.glob("groups/*")}


def _kept(store: Path) -> dict[str, bytes]:
    with sqlite3.connect(store) as opened:
        rows: Sequence[tuple[str, bytes]] = opened.execute(
            "select key, blob from postmortem_analyses where state = 'judged'"
        ).fetchall()
    return dict(rows)
