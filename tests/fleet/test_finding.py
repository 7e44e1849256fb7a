"""Which jobs there are in a tree, and of which files each is made."""

import os
from pathlib import Path

import pytest

from postmortem.core.errors import InputError
from postmortem.fleet.search.finding import JobsFound, find_jobs

REPOSITORY = Path(__file__).resolve().parents[2]
UID = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
OTHER_UID = "1f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
HASH = "a1" * 32


def make(folder: Path, *names: str) -> Path:
    """Files with a line in each."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"step 1 loss 2.0\n")
    return folder


def jobs(found: JobsFound, root: Path) -> dict[str, list[str]]:
    """The neutral names of each job, by its identity below a folder."""
    prefix = os.path.realpath(root)
    return {
        os.path.relpath(job.identity, prefix)
        if job.identity.startswith(prefix)
        else job.identity: [file.name for file in job.files]
        for job in found.jobs
    }


RANKS = [f"rank{rank}.log" for rank in range(8)]
LAYOUTS = [
    pytest.param(["a.log", "b.out", "c.txt"], {"a.log": ["log.txt"], "b.out": ["log.txt"], "c.txt": ["log.txt"]}, id="a log is a job"),
    pytest.param(RANKS, {".": [f"job/{name}" for name in RANKS]}, id="nothing but ranks"),
    pytest.param(["rank0.log", "rank1.log", "train.log", "torchrun.log"], {".": ["job/rank0.log", "job/rank1.log", "job/torchrun.log", "job/train.log"]}, id="ranks and their launcher"),
    pytest.param(["a_rank0.log", "a_rank1.log", "b_rank0.log", "b_rank1.log"], {"a*": ["job/rank0.log", "job/rank1.log"], "b*": ["job/rank0.log", "job/rank1.log"]}, id="the ranks of two jobs in one folder"),
    pytest.param(["a_rank0.log", "a_rank1.log", "a.log", "b.log"], {"a*": ["job/log.log", "job/rank0.log", "job/rank1.log"], "b.log": ["log.txt"]}, id="ranks beside the log of another job"),
    pytest.param(["oom-worker-0.log", "shm-worker-0.log"], {"oom-worker-0.log": ["log.txt"], "shm-worker-0.log": ["log.txt"]}, id="one process is the name of a job"),
    pytest.param(["lora_rank8.log", "lora_rank16.log"], {"lora_rank16.log": ["log.txt"], "lora_rank8.log": ["log.txt"]}, id="ranks of a LoRA are jobs"),
    pytest.param(["log-r0.out", "log-r0.err", "log-r1.out", "log-r1.err"], {".": ["job/log-r0.err", "job/log-r0.out", "job/log-r1.err", "job/log-r1.out"]}, id="r and a number"),
    pytest.param(["n1.txt", "n2.txt", "n3.txt"], {".": ["job/n1.txt", "job/n2.txt", "job/n3.txt"]}, id="n and a number"),
    pytest.param(["stdout-0.txt", "stdout-1.txt", "stderr-0.txt", "stderr-1.txt"], {".": ["job/stderr-0.txt", "job/stderr-1.txt", "job/stdout-0.txt", "job/stdout-1.txt"]}, id="a stream and a number"),
    pytest.param(["task_3.log", "task_9.log", "task_17.log"], {name: ["log.txt"] for name in ("task_17.log", "task_3.log", "task_9.log")}, id="tasks with gaps are jobs"),
    pytest.param(["gpu-a13.log", "gpu-a14.log"], {".": ["job/gpu-a13.log", "job/gpu-a14.log"]}, id="hosts"),
    pytest.param(["worker-3.log", "bert.log", "gpt.log"], {"*": ["worker-3.txt"], "bert.log": ["log.txt"], "gpt.log": ["log.txt"]}, id="one worker among other jobs"),
    pytest.param(["x.out", "x.err", "y.out", "y.err"], {"x*": ["job/log.err", "job/log.out"], "y*": ["job/log.err", "job/log.out"]}, id="streams in two files"),
    pytest.param(["a.log", "a.log.1", "a.log.2.gz", "b.log"], {"a*": ["job/log.part1.log.gz", "job/log.part2.log", "job/log.part3.log"], "b.log": ["log.txt"]}, id="rotated, the oldest first"),
    pytest.param(["a.log.gz", "b.log.zst", "c.log.xz", "d.out.bz2"], {"a.log.gz": ["log.txt.gz"], "b.log.zst": ["log.txt.zst"], "c.log.xz": ["log.txt.xz"], "d.out.bz2": ["log.txt.bz2"]}, id="compressed"),
    pytest.param(["a.ipynb", "b.jsonl"], {"a.ipynb": ["log.ipynb"], "b.jsonl": ["log.jsonl"]}, id="a notebook and records keep their suffix"),
    pytest.param(["a.log", "a.env", "b.log"], {"a.log": ["job/log.env", "job/log.log"], "b.log": ["log.txt"]}, id="a dump of the environment beside its log"),
    pytest.param(["slurm-48213.out", "slurm-48214.out"], {"48213.1": ["log.txt"], "48214.1": ["log.txt"]}, id="Slurm"),
    pytest.param(["slurm-7.out", "slurm-7.err"], {"7.1": ["job/slurm-%j.err", "job/slurm-%j.out"]}, id="Slurm, both streams"),
    pytest.param(["slurm-48213_1.out", "slurm-48213_2.out"], {"48213_1.1": ["log.txt"], "48213_2.1": ["log.txt"]}, id="a Slurm array"),
    pytest.param(["bert-48213.out", "bert-48213.err", "gpt-48214.out"], {"48213.1": ["job/%x-%j.err", "job/%x-%j.out"], "48214.1": ["log.txt"]}, id="%x-%j"),
    pytest.param(["bert_48213.log", "bert_48214_3.log"], {"48213.1": ["log.txt"], "48214_3.1": ["log.txt"]}, id="%x_%j and an array"),
    pytest.param(["out/bert-48213.out", "err/bert-48213.err"], {"48213.1": ["job/%x-%j.err", "job/%x-%j.out"]}, id="streams in two folders"),
    pytest.param(["a/slurm-48213.out", "b/slurm-48213.out"], {"a/slurm-48213.out": ["log.txt"], "b/slurm-48213.out": ["log.txt"]}, id="one id of two clusters is certain of none"),
    pytest.param(["slurm-48213.out", "slurm-48213_restart1.out"], {"48213.1": ["log.txt"], "48213.2": ["log.txt"]}, id="requeued"),
    pytest.param(["slurm-48213-0.out", "slurm-48213-1.out"], {"48213.1": ["job/slurm-%j-task0.out", "job/slurm-%j-task1.out"]}, id="tasks of a Slurm job"),
    pytest.param(["bert.o48213", "bert.e48213"], {"48213.1": ["job/%x-%j.err", "job/%x-%j.out"]}, id="PBS"),
    pytest.param(["train_20240101_120000.log", "train_20240102_120000.log", "seed-12345.out"], {"seed-12345.out": ["log.txt"], "train_20240101_120000.log": ["log.txt"], "train_20240102_120000.log": ["log.txt"]}, id="dates and seeds are no ids"),
    pytest.param(["train.12015.log", "train.12016.log", "train.12018.log"], {".": ["job/train.12015.log", "job/train.12016.log", "job/train.12018.log"]}, id="processes by their ids"),
    pytest.param(["train.12015.log", "train.15016.log"], {"train.12015.log": ["log.txt"], "train.15016.log": ["log.txt"]}, id="ids far apart"),
    pytest.param(["bert-0-x7k2p.log", "bert-1-9fjd2.log", "gpt-0-x7k2p.log"], {"bert*": ["job/node-0.log", "job/node-1.log"], "gpt-0-x7k2p.log": ["log.txt"]}, id="pods of an indexed job"),
    pytest.param(["j/attempt_0/0/stderr.log", "j/attempt_0/1/stderr.log", "j/attempt_1/0/stderr.log", "j/agent.log"], {"j": ["job/agent.log", "job/attempt_0/0/stderr.log", "job/attempt_0/1/stderr.log", "job/attempt_1/0/stderr.log"]}, id="torchrun's attempts"),
    pytest.param(["j/agent.log", "j/0/stdout.log", "j/0/stderr.log", "j/1/stdout.log", "j/1/stderr.log"], {"j": ["job/0/stderr.log", "job/0/stdout.log", "job/1/stderr.log", "job/1/stdout.log", "job/agent.log"]}, id="torchrun's local ranks"),
    pytest.param(["7/stdout.log", "8/stdout.log"], {"7": ["log.txt"], "8": ["log.txt"]}, id="numbered folders that do not count from 0"),
    pytest.param(["node-0/stdout", "node-1/stdout"], {".": ["job/node-0/stdout", "job/node-1/stdout"]}, id="a folder a node"),
    pytest.param(["node01/a.log", "node02/b.log"], {"node01/a.log": ["log.txt"], "node02/b.log": ["log.txt"]}, id="logs of jobs by node"),
    pytest.param(["node01/slurm-1.out", "node02/slurm-2.out"], {"1.1": ["log.txt"], "2.1": ["log.txt"]}, id="Slurm's logs by node"),
    pytest.param(["ann/2024-01-01/a/train.log", "ann/2024-01-02/b/train.log", "bob/c/train.log"], {"ann/2024-01-01/a/train.log": ["log.txt"], "ann/2024-01-02/b/train.log": ["log.txt"], "bob/c/train.log": ["log.txt"]}, id="users and dates above jobs"),
    pytest.param(["ann/bert.log", "ann/gpt.log", "bob/t5.log"], {"ann/bert.log": ["log.txt"], "ann/gpt.log": ["log.txt"], "bob/t5.log": ["log.txt"]}, id="users with jobs of their own"),
    pytest.param(["ann/job-1.log", "ann/job-2.log", "bob/job-1.log", "bob/job-2.log"], {f"{who}/job-{one}.log": ["log.txt"] for who in ("ann", "bob") for one in (1, 2)}, id="users who count their jobs alike"),
    pytest.param(["a/driver.log", "a/shards.log", "b/driver.log", "b/shards.log"], {"a": ["job/driver.log", "job/shards.log"], "b": ["job/driver.log", "job/shards.log"]}, id="folders that repeat the same names"),
    pytest.param(["a/train.log", "a/gpu.log", "b/other.log"], {"a": ["job/gpu.log", "job/train.log"], "b/other.log": ["log.txt"]}, id="names that tell no job"),
    pytest.param(["a/exp.log", "a/config.yaml", "b/exp.log"], {"a": ["job/config.yaml", "job/exp.log"], "b/exp.log": ["log.txt"]}, id="a log and its configuration"),
    pytest.param(["run42/run42.log", "run42/config.yaml"], {"run42": ["job/%x.log", "job/config.yaml"]}, id="the folder's own name is hidden"),
    pytest.param(["a/checkpoint-500/trainer_state.json", "a/train.log", "b/train.log"], {"a": ["job/checkpoint-500/trainer_state.json", "job/train.log"], "b/train.log": ["log.txt"]}, id="the Trainer's state"),
    pytest.param(["m/0/.hydra/config.yaml", "m/0/train.log", "m/1/.hydra/config.yaml", "m/1/train.log"], {"m/0": ["job/.hydra/config.yaml", "job/train.log"], "m/1": ["job/.hydra/config.yaml", "job/train.log"]}, id="Hydra's multirun"),
    pytest.param(["lightning_logs/version_0/metrics.csv", "lightning_logs/version_0/hparams.yaml", "lightning_logs/version_1/hparams.yaml"], {"lightning_logs/version_0": ["job/hparams.yaml", "job/metrics.csv"], "lightning_logs/version_1": ["log.yaml"]}, id="Lightning's versions"),
    pytest.param(["p/train.log", "p/wandb/run-20240101_000000-aaaa/files/output.log", "p/wandb/run-20240102_000000-bbbb/files/output.log", "p/wandb/debug.log"], {"p": ["job/train.log", "job/wandb/run-20240102_000000-bbbb/files/output.log"], "p/wandb/run-20240101_000000-aaaa": ["log.txt"]}, id="the last run of wandb belongs to the log beside it"),
    pytest.param([f"ns_bert-worker-0_{UID}/main/0.log", f"ns_bert-worker-1_{OTHER_UID}/main/0.log"], {"ns_bert*": ["job/worker-0/main.log", "job/worker-1/main.log"]}, id="the pods of a job"),
    pytest.param([f"ns_bert-x7k2p_{UID}/main/0.log", f"ns_bert-x7k2p_{UID}/main/1.log"], {f"{UID}.1": ["job/attempt_0/main.log", "job/attempt_1/main.log"]}, id="restarts of a pod are attempts"),
    pytest.param([f"ns_bert-x7k2p_{UID}/main/0.log", f"ns_bert-9fjd2_{OTHER_UID}/main/0.log"], {f"{UID}.1": ["log.txt"], f"{OTHER_UID}.1": ["log.txt"]}, id="pods that no index joins"),
    pytest.param([f"bert-worker-0_ns_main-{HASH}.log", f"bert-worker-1_ns_main-{HASH}.log", "x.log"], {"ns_bert*": ["job/worker-0/main.log", "job/worker-1/main.log"], "x.log": ["log.txt"]}, id="containers"),
    pytest.param(["a.log", "b.log", "README.md", "model.safetensors", "data.json", "train.py", "requirements.txt"], {"a.log": ["log.txt"], "b.log": ["log.txt"]}, id="what is no log"),
]  # fmt: skip


@pytest.mark.parametrize(("names", "expected"), LAYOUTS)
def test_jobs_are_told_by_names(
    tmp_path: Path, names: list[str], expected: dict[str, list[str]]
) -> None:
    """Files of one job differ in a process; markers and repeated names make a run's folder."""
    root = make(tmp_path / "logs", *names)
    assert jobs(find_jobs([str(root)]), root) == expected


def test_five_hundred_numbered_logs_are_as_many_jobs(tmp_path: Path) -> None:
    """A number that no word makes a process is a job's."""
    root = make(
        tmp_path, *(f"{word}-{place}.log" for word in ("job", "task") for place in range(1, 501))
    )
    assert len(find_jobs([str(root)]).jobs) == 1000


def test_every_sample_is_found_as_the_job_that_it_is() -> None:
    """The labels beside the samples say which jobs there are, folders and logs side by side."""
    labels = (REPOSITORY / "sample_logs").glob("*/*-[0-9].yaml")
    labelled = [
        label.with_suffix("")
        for label in labels
        if label.with_suffix(".log").is_file() or label.with_suffix("").is_dir()
    ]
    found = find_jobs(sorted({str(label.parent) for label in labelled}))
    together = [{file.location for file in job.files} for job in found.jobs]
    for label in labelled:
        beside = {
            str(one)
            for one in (label.with_suffix(".log"), label.with_suffix(".env"))
            if one.is_file()
        }
        inside = {str(one) for one in label.rglob("*") if one.is_file()}
        assert (inside or beside) in together, label


def test_neither_order_nor_overlap_changes_what_is_found(tmp_path: Path) -> None:
    """A file named twice, or within a named folder, is one; so is a folder below another."""
    root = make(tmp_path, "x/a.log", "x/b.log", "y/rank0.log", "y/rank1.log", "z/slurm-48213.out")
    whole = find_jobs([str(root)])
    places = [
        str(root / "y"),
        str(root / "x" / "a.log"),
        str(root),
        f"{root}/x/../x",
        str(root / "z" / "slurm-48213.out"),
    ]
    assert find_jobs(places) == find_jobs(places[::-1]) == whole
    assert [job.identity for job in whole.jobs] == sorted(job.identity for job in whole.jobs)


def test_files_named_one_by_one_are_judged_together(tmp_path: Path) -> None:
    """What a shell makes of `logs/*` is read as the folder would be, whatever a file is called."""
    root = make(tmp_path, "rank0.log", "rank1.log", "slurm-7.out", "slurm-7.err", "notes.weird")
    found = find_jobs([str(one) for one in root.iterdir()])
    assert jobs(found, root) == {
        "*": ["job/rank0.log", "job/rank1.log"],
        "7.1": ["job/slurm-%j.err", "job/slurm-%j.out"],
        "notes.weird": ["log.weird"],
    }


def test_what_is_left_out_says_why(tmp_path: Path) -> None:
    """Hidden files, weights, code, links to folders and closed ones are told, none in silence."""
    root = make(
        tmp_path, "a.log", "b.log", ".x.log", ".git/c.log", "w.pt", "d.json", "k.log", "k.log.gz"
    )
    (root / "loop").symlink_to(root)
    (root / "again.log").symlink_to(root / "a.log")
    (root / "nowhere.log").symlink_to(root / "gone.log")
    os.mkfifo(root / "pipe.log")
    found = find_jobs([str(root)])
    assert [*jobs(found, root)] == ["a.log", "b.log", "k.log"]
    assert {os.path.relpath(one.location, root): one.why_en for one in found.left_out} == {
        ".git": "hidden",
        ".x.log": "hidden",
        "again.log": "a link to a file that is found itself",
        "d.json": "by its name no log, and no single job lies in its folder",
        "k.log.gz": "the same file lies beside it unpacked (.gz)",
        "loop": "a link to a folder; name the folder itself to have it read",
        "nowhere.log": "cannot be opened: No such file or directory",
        "pipe.log": "a pipe, not a file",
        "w.pt": ".pt files are not logs",
    }
    assert all(one.why_zh and one.why_zh != one.why_en for one in found.left_out)


def test_a_closed_folder_is_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The jobs beside it are found."""
    root = make(tmp_path, "a/x.log", "b/y.log")
    scandir = os.scandir

    def refuse(path: str) -> object:
        """Root may read everything, so the refusal is made here."""
        if path.endswith("/a"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = find_jobs([str(root)])
    assert [*jobs(found, root)] == ["b/y.log"]
    assert [one.why_en for one in found.left_out] == ["cannot be opened: Permission denied"]


def test_an_empty_file_is_a_job(tmp_path: Path) -> None:
    """A job that printed nothing ran all the same."""
    root = make(tmp_path, "a.log")
    (root / "b.log").touch()
    assert [(job.title, job.size) for job in find_jobs([str(root)]).jobs] == [
        ("a.log", 16),
        ("b.log", 0),
    ]


def test_a_place_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """It was named, so it is not passed over."""
    with pytest.raises(InputError, match="No such file"):
        find_jobs([str(tmp_path / "gone")])


def test_names_that_no_terminal_takes_are_escaped_and_stay_apart(tmp_path: Path) -> None:
    """Line breaks and bytes that are no UTF-8 are in no identity and no neutral name."""
    names = [b"a\nb.log", b"a\\nb.log", b"caf\xe9.log", b"run_rank0_\xff.log"]
    for name in names:
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_bytes(b"x\n")  # noqa: PTH118
    found = find_jobs([str(tmp_path)])
    assert len({job.identity for job in found.jobs}) == len(names)
    texts = [
        text
        for job in found.jobs
        for text in (job.identity, job.title, *(file.name for file in job.files))
    ]
    assert all(text.isprintable() and text.encode() for text in texts)


def test_a_folder_without_logs_has_no_jobs(tmp_path: Path) -> None:
    """What lies in it is told."""
    root = make(tmp_path, "model/config.json", "model/model.safetensors")
    found = find_jobs([str(root)])
    assert found.jobs == ()
    assert len(found.left_out) == 2
