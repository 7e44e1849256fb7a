"""The scripts for Slurm: what is noted, what is triaged of it, and that a cluster is not held up."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "docs" / "cluster" / "slurm"
KIT = ROOT / "sample_logs" / "lab" / "kit" / "slurm-cluster.sh"
SAMPLE = ROOT / "sample_logs" / "deepspeed" / "scale-exhausted-yi.log"
CAUSE = "numerics.loss-scale-exhausted"

pytestmark = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("bash", "flock", "setsid", "timeout")),
    reason="the scripts need bash, flock, setsid and timeout",
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the scripts installed, a spool and logs."""
    for name in ("etc", "spool", "state", "logs"):
        (tmp_path / name).mkdir()
    for script in SCRIPTS.glob("*.sh"):
        shutil.copy(script, tmp_path / "etc")
    program = tmp_path / "etc" / "program"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m postmortem "$@"\n')
    program.chmod(0o755)
    settings = {
        "spool": tmp_path / "spool",
        "state": tmp_path / "state",
        "out": tmp_path / "state" / "triage",
        "store": tmp_path / "state" / "triage.sqlite",
        "postmortem": program,
        "workers": 1,
    }
    shipped = (SCRIPTS / "postmortem.conf").read_text()
    told = "\n".join(f"{name}={value}" for name, value in settings.items())
    (tmp_path / "etc" / "postmortem.conf").write_text(f"{shipped}\n{told}\n")
    return tmp_path


def note(place: Path, **told: str) -> None:
    """Have a job noted, as the controller would: with what it tells and nothing else."""
    script = place / "etc" / "note_job.sh"
    subprocess.run(
        [str(script), "--write"], env={"PATH": "/usr/bin:/bin", **told}, check=True, timeout=60
    )


def of_completion(place: Path, number: int, state: str, log: str, **more: str) -> None:
    """Note a job as jobcomp/script does."""
    told = {
        "JOBID": str(number),
        "ARRAYJOBID": "0",
        "ARRAYTASKID": "4294967294",
        "JOBSTATE": state,
        "EXITCODE": "1:0" if state == "FAILED" else "0:0",
        "UID": str(os.getuid()),
        "USERNAME": "ada",
        "JOBNAME": "a|b",
        "NODES": "gpu[01-02]",
        "START": "1795400000",
        "END": "1795403600",
        "WORK_DIR": str(place / "logs"),
        "STDOUT": log,
    }
    note(place, **{**told, **more})


def collect(place: Path) -> subprocess.CompletedProcess[str]:
    """Run what the timer runs, on a machine that has no accounting."""
    (place / "etc" / "sacct").write_text("#!/bin/sh\nexit 1\n")
    (place / "etc" / "sacct").chmod(0o755)
    return subprocess.run(
        [str(place / "etc" / "collect.sh")],
        env={
            **os.environ,
            "PATH": f"{place / 'etc'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def judged(place: Path) -> dict[str, dict[str, object]]:
    """The rows of the triage, by job."""
    lines = (place / "state" / "triage" / "results.jsonl").read_text().splitlines()
    return {row["job"]: row for row in map(json.loads, lines)}


def test_only_failed_jobs_are_triaged(place: Path) -> None:
    """A failed job is found at the path that Slurm made, and joined with what was noted of it."""
    shutil.copy(SAMPLE, place / "logs" / "run a-00017.txt")
    (place / "logs" / "slurm-18.out").write_text("all is well\n")
    of_completion(place, 17, "FAILED", "run a-%5j.txt")
    of_completion(place, 18, "COMPLETED", "")
    of_completion(place, 19, "CANCELLED", "slurm-18.out")
    of_completion(place, 20, "TIMEOUT", "", ARRAYJOBID="20", ARRAYTASKID="3")
    done = collect(place)
    assert done.returncode == 0, done.stderr
    row = judged(place).pop("17.1")
    assert [*judged(place)] == ["17.1"]
    assert (row["cause"], row["user"], row["nodes"]) == (CAUSE, "ada", ["gpu01", "gpu02"])
    assert "job 20_3: no file of its user" in done.stderr
    assert [*(place / "spool").iterdir()] == []


def test_a_file_of_another_is_not_read(place: Path) -> None:
    """A user who lets a job write to a file of somebody else does not have it read."""
    shutil.copy(SAMPLE, place / "logs" / "theirs.out")
    of_completion(place, 21, "FAILED", "theirs.out", UID=str(os.getuid() + 1))
    (place / "logs" / "folder.out").mkdir()
    of_completion(place, 22, "FAILED", "folder.out")
    done = collect(place)
    assert done.returncode == 0, done.stderr
    assert [*(place / "state" / "logs").iterdir()] == []


def test_a_run_that_failed_is_made_up_for(place: Path) -> None:
    """A triage that did not come to its end is done by the next run, though nothing new ended."""
    shutil.copy(SAMPLE, place / "logs" / "slurm-23.out")
    note(
        place,
        SLURM_JOB_ID="23",
        SLURM_JOB_EXIT_CODE2="0:9",
        SLURM_JOB_UID=str(os.getuid()),
        SLURM_JOB_USER="ada",
        SLURM_JOB_WORK_DIR=str(place / "logs"),
        SLURM_JOB_NODELIST="gpu01",
    )
    program = place / "etc" / "program"
    sound = program.read_text()
    program.write_text("#!/bin/sh\nexit 2\n")
    assert collect(place).returncode == 2
    program.write_text(sound)
    assert collect(place).returncode == 0
    assert judged(place)["23.1"]["cause"] == CAUSE


def test_a_job_that_runs_again_is_waited_for(place: Path) -> None:
    """The note of a requeued job is no failure, and stays until the accounting knows its end."""
    of_completion(place, 24, "REQUEUED", "")
    assert collect(place).returncode == 0
    assert len([*(place / "spool").iterdir()]) == 1
    assert not (place / "state" / "pending").exists()


@pytest.mark.parametrize(
    "told",
    [
        {"SLURM_JOB_ID": "1/../../x"},
        {"SLURM_JOB_ID": "1", "SLURM_ARRAY_JOB_ID": "1", "SLURM_ARRAY_TASK_ID": "../2"},
        {"SLURM_JOB_ID": "1", "SLURM_JOB_NAME": "two\nlines"},
        {},
    ],
)
def test_what_cannot_be_noted_is_left(place: Path, told: dict[str, str]) -> None:
    """Ids that are no numbers and values of two lines leave nothing behind, and fail nothing."""
    note(place, **told)
    assert [*(place / "spool").iterdir()] == []


def test_the_controller_is_not_held_up(place: Path) -> None:
    """The hook comes back although whoever writes the note cannot go on."""
    os.mkfifo(place / "etc" / "gate")
    (place / "etc" / "postmortem.conf").write_text(f"read -r spool < {place / 'etc' / 'gate'}\n")
    done = subprocess.run(
        [str(place / "etc" / "note_job.sh")],
        env={"PATH": "/usr/bin:/bin", "SLURM_JOB_ID": "25"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    with (place / "etc" / "gate").open("w") as gate:
        gate.write(f"{place / 'spool'}\n")
    deadline = time.monotonic() + 60
    while not (place / "spool" / "25.0.job").exists():
        assert time.monotonic() < deadline
        os.sched_yield()


LAUNCH = """
. "{kit}"
cd "{place}/logs"
first=$(sbatch --parsable -J scaled -o "%x of %u-%j.txt" --wrap 'cat "{sample}"; exit 3')
array=$(sbatch --parsable -a 1-2 -o part-%A_%a.txt --wrap 'cat "{sample}"; exit 1')
sound=$(sbatch --parsable --wrap 'echo done')
for job in $first $sound; do job_ended $job; done
until [ "$(ls "{place}/spool" | grep -c job$)" = 4 ]; do scontrol ping > /dev/null; done
sinfo -h -N -o %t > "{place}/nodes"
"""


@pytest.mark.slurm
@pytest.mark.parametrize(
    "hook",
    ["EpilogSlurmctld={script}", "JobCompType=jobcomp/script\nJobCompLoc={script}"],
    ids=["epilog", "completion"],
)
def test_a_real_controller(place: Path, hook: str) -> None:
    """Jobs of a cluster of one node: those that failed are triaged, and the node stays up."""
    script = place / "launch.sh"
    script.write_text(LAUNCH.format(kit=KIT, place=place, sample=SAMPLE))
    extra = "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectTypeParameters=CR_CPU"
    cluster = subprocess.Popen(
        ["bash", str(script)],
        env={
            **os.environ,
            "TMPDIR": str(place),
            "EXTRA": f"{extra}\n{hook.format(script=place / 'etc' / 'note_job.sh')}",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert cluster.wait(timeout=240) == 0
    finally:
        os.killpg(cluster.pid, signal.SIGKILL)
    assert (place / "nodes").read_text().split()[0] not in {"drain", "drng", "down"}
    done = collect(place)
    assert done.returncode == 0, done.stderr
    rows = judged(place)
    assert sorted(rows) == ["1.1", "2_1.1", "2_2.1"]
    assert {row["cause"] for row in rows.values()} == {CAUSE}
    assert {tuple(row["nodes"]) for row in rows.values()} == {("node-1",)}
    assert len({row["group"] for row in rows.values()}) == 1
