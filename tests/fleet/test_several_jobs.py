"""Which folders, archives and uploads are refused as several jobs, and which are one."""

from pathlib import Path

import pytest

import postmortem
from postmortem.core.errors import InputError
from postmortem.fleet.search.finding import (
    require_one_job,
    require_one_unpacked,
    require_one_upload,
)
from postmortem.interfaces.cli import main

LOG = "step 1 loss 2.0\nRuntimeError: CUDA out of memory.\n"
SEVERAL = [
    pytest.param([f"slurm-{40000 + one}.out" for one in range(155)], 155, id="slurm's own files"),
    pytest.param([f"slurm-48213_{one}.out" for one in range(4)], 4, id="tasks of an array"),
    pytest.param(["sft-99120.out", "sft-99120.err", "sft-99121.out"], 2, id="a name with two ids"),
    pytest.param(["train.o48213", "train.o48214"], 2, id="two jobs of PBS"),
    pytest.param([f"{one}_rank{rank}.log" for one in "ab" for rank in (0, 1)], 2, id="ranks twice"),
    pytest.param(["base/train.log", "wide/train.log"], 2, id="two folders of experiments"),
    pytest.param([f"{chr(97 + one)}{chr(97 + one)}.log" for one in range(20)], 20, id="20 names"),
    pytest.param([f"run-{one}.log" for one in range(70)], 70, id="70 numbers"),
]
ONE = [
    pytest.param(["train.log"], id="one file"),
    pytest.param([f"rank{one}.log" for one in range(8)], id="ranks"),
    pytest.param(["ml-a-rank2.log", "ml-a-rank3.log", "ml-b-rank0.log"], id="nodes with ranks"),
    pytest.param(["job-7731-0.out", "job-7731-1.out", "job-7731-batch.err"], id="tasks of srun"),
    pytest.param(["sft_99120_0.out", "sft_99120_1.out", "slurm-99120.err"], id="one id"),
    pytest.param(["worker-00-30102.err", "worker-01-30103.err", "driver.log"], id="Ray's workers"),
    pytest.param(["sd-master-0.log", "sd-worker-0.log", "pods.txt", "dmesg-n7.txt"], id="pods"),
    pytest.param(["slurm-48213.out", "slurm-48213-restart1.out"], id="attempts of one job"),
    pytest.param(["out/train-48213.out", "err/train-48213.err"], id="streams in two folders"),
    pytest.param(["node0/train.log", "node1/train.log"], id="folders of nodes"),
    pytest.param(["attempt_0/0/stderr.log", "attempt_1/0/stderr.log"], id="torchrun's folders"),
    pytest.param(["lightning_logs/version_0/hparams.yaml", "train.log"], id="a tracker beside"),
    pytest.param(
        [
            "wandb/run-20240101_000000-aaaa/files/output.log",
            "wandb/run-20240102_000000-bbbb/files/output.log",
        ],
        id="an earlier run of the tracker",
    ),
    pytest.param(["train.log", "env.txt", "config.yaml", "train.py"], id="settings beside"),
]


def run(*arguments: object) -> int:
    """Run the command line and give its exit status."""
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    return int(done.value.code or 0)


def put(folder: Path, names: list[str]) -> Path:
    """Write a log under each name."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LOG)
    return folder


@pytest.mark.parametrize(("names", "count"), SEVERAL)
def test_a_folder_of_jobs_is_refused(tmp_path: Path, names: list[str], count: int) -> None:
    """The error says how many there are, and which commands judge them."""
    folder = put(tmp_path / "logs", names)
    with pytest.raises(InputError) as refused:
        require_one_job([folder])
    assert str(refused.value.what).startswith(f"{count} jobs")
    assert f"postmortem triage {folder} --out triage" in refused.value.mend
    assert f"postmortem analyze {folder}/" in refused.value.mend
    with pytest.raises(InputError, match=f"{count} jobs"):
        require_one_unpacked(str(folder))
    with pytest.raises(InputError, match=f"{count} jobs"):
        postmortem.analyze(folder)


@pytest.mark.parametrize(("names", "count"), SEVERAL)
def test_uploads_of_jobs_are_refused(names: list[str], count: int) -> None:
    """By their names alone: nothing is opened."""
    with pytest.raises(InputError, match=f"{count} jobs"):
        require_one_upload(names)


@pytest.mark.parametrize("names", ONE)
def test_the_folder_of_a_job_is_taken(tmp_path: Path, names: list[str]) -> None:
    """However many names its files have."""
    require_one_job([put(tmp_path / "logs", names)])
    require_one_upload(names)


def test_the_command_refuses_a_mixture_and_takes_files_that_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Several paths are one job, for whoever names them says so."""
    folder = put(tmp_path / "logs", ["slurm-48213.out", "slurm-48214.out"])
    arguments = [["analyze", "--format", form] for form in ("terminal", "json", "sarif")]
    for command in (*arguments, ["share"], ["compare", str(folder)]):
        assert run(*command, folder) == 2, command
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.startswith("postmortem: 2 jobs")
        assert shown.err.count("\n") == 1
    assert run("analyze", *sorted(folder.iterdir()), "--format", "json") == 0
