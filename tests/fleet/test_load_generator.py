"""The generated cluster: deterministic, of the wanted sizes, and its logs still mean their truths."""

import gzip
import json
import random
import sys
from pathlib import Path

import cluster_records
import generated_job
import poisoned_jobs
import pytest
import triage_jobs
from generated_job import Sizes, Wanted, made
from lengthening import lengthened
from triage_jobs import generate, refused

import postmortem

SMALL = Sizes(*triage_jobs.SMALL)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict]]:
    """Forty small jobs."""
    folder = tmp_path_factory.mktemp("cluster") / "tree"
    return folder, generate(Wanted(folder, 40, SMALL, seed=3))


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a tree."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_seed_gives_the_same_bytes(tree: tuple[Path, list[dict]], tmp_path: Path) -> None:
    """A second generation is the same in every file, another seed is not."""
    folder, truths = tree
    again = generate(Wanted(tmp_path / "again", 40, SMALL, seed=3))
    assert contents(tmp_path / "again") == contents(folder)
    assert again == truths
    generate(Wanted(tmp_path / "other", 40, SMALL, seed=4))
    assert contents(tmp_path / "other") != contents(folder)


def test_every_file_belongs_to_one_job(tree: tuple[Path, list[dict]]) -> None:
    """The truths name all files that lie there, each once."""
    folder, truths = tree
    named = [name for truth in truths for name in truth["files"]]
    assert sorted(named) == sorted(contents(folder))
    assert len({truth["scheduler_id"] for truth in truths}) == 40


def test_the_layouts_of_a_cluster_are_there(tree: tuple[Path, list[dict]]) -> None:
    """Flat logs, folders and plain logs; some jobs have an error stream, some are packed."""
    _, truths = tree
    assert {truth["layout"] for truth in truths} >= {"flat", "folder", "plain"}
    names = [name for truth in truths for name in truth["files"]]
    assert any(name.endswith(".err") for name in names)
    assert any(name.endswith((".gz", ".zst")) for name in names)


def test_some_jobs_are_identical(tree: tuple[Path, list[dict]]) -> None:
    """A quarter of a small tree has the same bytes under different ids."""
    folder, truths = tree
    same = [truth for truth in truths if truth["same"]]
    assert len(same) == 10
    assert len({(folder / truth["files"][0]).read_bytes() for truth in same}) == 1


def test_sizes_lie_in_the_range(tree: tuple[Path, list[dict]]) -> None:
    """Lengthened logs reach their sizes before packing, give or take the last line."""
    _, truths = tree
    sizes = [
        truth["bytes"]
        for truth in truths
        if not any(name.endswith((".gz", ".zst")) for name in truth["files"])
    ]
    assert min(sizes) > SMALL.least * 0.8
    assert max(sizes) < SMALL.most * 2.5


def test_verdicts_are_the_truths(tree: tuple[Path, list[dict]]) -> None:
    """Of the generated jobs nearly all are judged as their recordings are."""
    folder, truths = tree
    wrong = []
    for truth in truths[20:]:
        is_folder = truth["layout"] == "folder"
        paths = [folder / truth["job"]] if is_folder else [folder / n for n in truth["files"]]
        verdict = postmortem.analyze(paths).verdict.cause
        right = {truth["cause"], *truth["also"]}
        if verdict not in right and not any(cause.startswith("unknown.") for cause in right):
            wrong.append((truth["fault"], verdict))
    assert len(wrong) <= 2, wrong


def test_more_jobs_come_behind(tmp_path: Path) -> None:
    """A start behind the last leaves what is there, and truths and scheduler know all of them."""
    folder = tmp_path / "tree"
    generate(Wanted(folder, 6, SMALL))
    before = contents(folder)
    truths = generate(Wanted(folder, 4, SMALL, start=6))
    after = contents(folder)
    assert {name: after[name] for name in before} == before
    assert [truth["scheduler_id"] - generated_job.FIRST_ID for truth in truths] == list(range(10))
    records = json.loads((tmp_path / "tree.scheduler" / "sacct.json").read_text())["jobs"]
    assert {record["job_id"] for record in records} == {t["scheduler_id"] for t in truths}


def test_the_scheduler_knows_the_jobs(tree: tuple[Path, list[dict]]) -> None:
    """Both forms have the same jobs and states, and a line for each batch step."""
    folder, truths = tree
    place = triage_jobs.build_sibling_path(folder, ".scheduler")
    records = json.loads((place / "sacct.json").read_text())["jobs"]
    head, *rows = [line.split("|") for line in (place / "sacct.txt").read_text().splitlines()]
    lines = [dict(zip(head, row, strict=True)) for row in rows]
    jobs = [line for line in lines if "." not in line["JobIDRaw"]]
    assert [(str(r["job_id"]), r["nodes"], r["state"]["current"][0]) for r in records] == [
        (j["JobIDRaw"], j["NodeList"], j["State"].split()[0]) for j in jobs
    ]
    assert len(lines) == 2 * len(jobs)
    assert {record["job_id"] for record in records} == {t["scheduler_id"] for t in truths}


def test_failed_jobs_are_started_again(tmp_path: Path) -> None:
    """A second try has its own id, the same user and name, begins later and ends well."""
    wanted = Wanted(tmp_path, 400, SMALL)
    pairs = [
        (generated_job.allotted_of(wanted, index - 1), generated_job.allotted_of(wanted, index))
        for index in range(400)
        if generated_job.retry_of(wanted, index) is not None
    ]
    assert pairs
    for failed, again in pairs:
        assert (failed.user, failed.name) == (again.user, again.name)
        assert again.retry_of == failed.scheduler_id
        assert failed.state != "COMPLETED"
        assert again.state == "COMPLETED"
        assert again.begin > (failed.end or 0)


def test_one_node_fails_more(tmp_path: Path) -> None:
    """The bad node has the most failed jobs of the areas that a node brings."""
    wanted, counts = Wanted(tmp_path, 2000, SMALL), dict.fromkeys(cluster_records.NODES, 0)
    for index in range(2000):
        job = generated_job.allotted_of(wanted, index)
        for node in job.nodes if job.state == "FAILED" else ():
            counts[node] += 1
    assert max(counts, key=lambda node: counts[node]) == cluster_records.BAD_NODE


def test_poison_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of each kind lies there, as what its name says."""
    monkeypatch.setattr(poisoned_jobs, "LONG_LINE", 1 << 20)
    monkeypatch.setattr(poisoned_jobs, "NESTED", 1 << 16)
    monkeypatch.setattr(poisoned_jobs, "BOMB", 64 << 20)
    truths = generate(Wanted(tmp_path / "t", 1, SMALL, poison=len(poisoned_jobs.KINDS)))
    places = {truth["poison"]: tmp_path / "t" / truth["job"] for truth in truths}
    assert set(places) == {None, *poisoned_jobs.KINDS}
    assert places["pipe"].is_fifo()
    assert places["sparse terabyte"].stat().st_blocks * 512 < 1 << 20
    assert places["empty"].stat().st_size == 0
    with pytest.raises(EOFError):
        gzip.decompress(places["cut archive"].read_bytes())
    with pytest.raises(UnicodeDecodeError):
        places["broken UTF-16"].read_bytes().decode("utf-16")
    assert len(gzip.decompress(places["gzip bomb"].read_bytes())) > 64 << 20


def test_no_more_than_the_budget(tmp_path: Path) -> None:
    """What would pass the budget, or the disk, is refused before a byte is written."""
    assert refused(Wanted(tmp_path, 10, SMALL), 1) is None
    assert "--budget" in str(refused(Wanted(tmp_path, 10_000, Sizes(20_000, 5_000_000)), 1))
    assert "the disk has" in str(refused(Wanted(tmp_path, 1, SMALL, huge_gib=1e9), 1e12))


def test_the_huge_job_ends_in_its_failure(tmp_path: Path) -> None:
    """A job of many records, whose steps go on, ends with a recorded failure."""
    truths = generate(Wanted(tmp_path / "t", 1, SMALL, huge_gib=0.01))
    truth = next(truth for truth in truths if truth.get("huge"))
    path = tmp_path / "t" / truth["job"]
    assert path.stat().st_size > 0.01 * (1 << 30)
    assert postmortem.analyze(path).verdict.cause == truth["cause"]


def test_records_are_put_between_records() -> None:
    """Steps and totals are stretched, other figures go from one record to the next."""
    text = "".join(f"step {n}/3 | loss {4 - n:.3f} | lr 1e-04\n" for n in (1, 2, 3)) + "done\n"
    longer = lengthened({"": text}, 3000, random.Random(1))[""]
    records = [line.split() for line in longer.splitlines() if line.startswith("step")]
    steps = [tuple(map(int, record[1].split("/"))) for record in records]
    assert len(records) > 20
    assert [step for step, _ in steps] == sorted({step for step, _ in steps})
    assert {total for _, total in steps} == {steps[-1][0]}
    assert [float(records[0][4]), float(records[-1][4])] == [3.0, 1.0]
    assert longer.endswith("done\n")


def test_a_log_without_records_talks_more() -> None:
    """Its own lines stay as they are, at the end."""
    text = "starting\nTraceback (most recent call last):\nValueError: no\n"
    longer = lengthened({"": text}, 2000, random.Random(1))[""]
    assert 2000 <= len(longer) < 2400
    assert longer.startswith("starting\n")
    assert longer.endswith("Traceback (most recent call last):\nValueError: no\n")


def test_a_job_does_not_depend_on_how_many_there_are(tmp_path: Path) -> None:
    """The same number gives the same files in a larger tree."""
    few, many = Wanted(tmp_path, 300, SMALL), Wanted(tmp_path, 3000, SMALL)
    assert made(few, 250).files == made(many, 250).files


def test_the_command_says_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints sizes beforehand, and refuses with exit status 1."""
    monkeypatch.setattr(
        sys, "argv", ["x", str(tmp_path / "t"), "--jobs", "3", "--small", "--processes", "1"]
    )
    triage_jobs.main()
    assert "3 jobs" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["x", str(tmp_path / "u"), "--budget", "0.1"])
    with pytest.raises(SystemExit, match="GiB are needed"):
        triage_jobs.main()
    assert not (tmp_path / "u").exists()
