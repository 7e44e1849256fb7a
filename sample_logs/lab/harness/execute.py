"""Run one fault once, under a time and a memory limit, and keep what a user would have.

The log, or the folder of a job's files.

Comes in: a fault, a seed, an environment. Goes out: `Run`: exit status, files with made-up paths
and host, what the script itself knew of its curves.
"""

import contextlib
import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from harness.faults import LAB, Fault

MEMORY_MIB = 12000
GRACE_SECONDS = 5
CGROUP_V1 = Path("/sys/fs/cgroup/memory")


@dataclass(frozen=True)
class Run:
    """What one run left behind. `files` maps a name to bytes; the key '' is the single log."""

    status: int
    timed_out: bool
    files: dict[str, bytes]
    truth: list[dict[str, object]]
    dump: bytes


def why_not(fault: Fault) -> str | None:
    """Why this machine cannot run the fault, or None."""
    for need in fault.needs:
        there, reason = AVAILABLE[need]
        if not there():
            return reason
    return None


def _has_gpu() -> bool:
    return (
        shutil.which("nvidia-smi") is not None
        and subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode == 0
    )


def _can_mount() -> bool:
    return (
        os.geteuid() == 0
        and shutil.which("unshare") is not None
        and subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode
        == 0
    )


AVAILABLE = {
    "gpu": (_has_gpu, "needs an NVIDIA GPU"),
    "no-gpu": (lambda: not _has_gpu(), "shows what happens without a GPU, and there is one"),
    "root": (lambda: os.geteuid() == 0, "needs root"),
    "tmpfs": (_can_mount, "needs root and `unshare -m` for a small file system of its own"),
    "cgroup": (
        lambda: os.geteuid() == 0 and CGROUP_V1.is_dir() and os.access(CGROUP_V1, os.W_OK),
        "needs a writable memory cgroup (v1)",
    ),
    "compiler": (lambda: shutil.which("g++") is not None, "needs g++"),
    "slurm": (
        lambda: all(shutil.which(name) for name in ("slurmctld", "slurmd")),
        "needs Slurm (Debian: slurm-wlm), for a cluster of its own on this machine",
    ),
}


def execute(
    fault: Fault,
    seed: int,
    venv: Path,
    keep: Path | None = None,
    chatter: dict[str, str] | None = None,
) -> Run:
    """Run a fault with a seed. `keep` leaves the working folder there.

    `chatter` are variables that make frameworks talk more.
    """
    with tempfile.TemporaryDirectory(prefix="lab-") as scratch:
        base = Path(scratch)
        work = base / "run"
        for name, source in fault.files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, work / name)
        (work / "launch.sh").write_text(fault.command.rstrip() + "\n", encoding="utf-8")
        environment = _environment(fault, seed, venv, base) | (chatter or {})
        status, timed_out = _limited(fault, work, environment, base / "output.log")
        hide = _Hide(work, venv)
        out = base / "out"
        names = sorted(path for path in out.rglob("*") if path.is_file())
        files = {str(path.relative_to(out)): hide(path.read_bytes()) for path in names} or {
            "": hide((base / "output.log").read_bytes())
        }
        truth = [
            json.loads(line)
            for line in (base / "truth.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        dump = b""
        if fault.dump_command:
            dump = hide(
                subprocess.run(
                    ["bash", "-c", fault.dump_command],
                    cwd=work,
                    env=environment,
                    capture_output=True,
                    check=False,
                ).stdout
            )
        if keep is not None:
            shutil.copytree(
                base, keep, dirs_exist_ok=True, ignore_dangling_symlinks=True, ignore=_no_sockets
            )
        return Run(status, timed_out, files, truth, dump)


def _no_sockets(folder: str, names: list[str]) -> list[str]:
    """Sockets and pipes that a run left behind cannot be kept."""
    return [
        name
        for name in names
        if (Path(folder) / name).is_socket() or (Path(folder) / name).is_fifo()
    ]


def _environment(fault: Fault, seed: int, venv: Path, base: Path) -> dict[str, str]:
    for name in ("out", "home", "tmp"):
        (base / name).mkdir()
    (base / "truth.jsonl").touch()
    fixed = {
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "PYTHONUNBUFFERED": "1",
        "LC_ALL": "C.UTF-8",
        "LANG": "C.UTF-8",
    }
    # Where users write `CUDA_VISIBLE_DEVICES`, a machine with a GPU must give the same log as one
    # without, unless the fault is about GPUs.
    devices = {} if "gpu" in fault.needs else {"CUDA_VISIBLE_DEVICES": ""}
    own = {
        "LAB_SEED": str(seed),
        "LAB_VARIANT": fault.variant,
        "LAB_TRUTH": str(base / "truth.jsonl"),
        "LAB_OUT": str(base / "out"),
        "LAB_PORT": str(_free_port()),
        "VIRTUAL_ENV": str(venv),
        "PYTHONPATH": str(LAB / "kit"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    place = {
        "PATH": f"{venv / 'bin'}:{os.environ.get('PATH', '/usr/bin:/bin')}",
        "HOME": str(base / "home"),
        "TMPDIR": str(base / "tmp"),
        "USER": "user",
        "TORCHINDUCTOR_CACHE_DIR": str(base / "tmp" / "inductor"),
    }
    return {**fixed, **devices, **own, **place, **fault.variables}


def _limited(
    fault: Fault, work: Path, environment: dict[str, str], output: Path
) -> tuple[int, bool]:
    """Exit status and whether the lab's own time limit ended it.

    Whatever the run leaves behind is killed.
    """
    group = (
        CGROUP_V1 / f"lab-{os.getpid()}-{time.monotonic_ns()}" if "cgroup" in fault.needs else None
    )
    if group is not None:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(
            str((fault.memory_mib or MEMORY_MIB) * 2**20), encoding="ascii"
        )
        argv = ["bash", "-c", f"echo $$ > {group}/cgroup.procs && exec bash launch.sh"]
    else:
        argv = [*_address_space(fault), "bash", "launch.sh"]
    with output.open("wb") as sink:
        process = subprocess.Popen(
            argv,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        timed_out = False
        try:
            status = process.wait(timeout=fault.seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
            status = -signal.SIGKILL
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    _reap(environment["LAB_TRUTH"])
    if group is not None:
        _remove(group)
    return status, timed_out


def _address_space(fault: Fault) -> list[str]:
    """The limit of a run's address space, the only one that needs no rights.

    Libraries map far more than they use; CUDA maps more than the card and the machine hold, so that
    a run on a card has no limit but what its header names.
    """
    if "gpu" in fault.needs and not fault.memory_mib:
        return []
    limit = fault.memory_mib or MEMORY_MIB + 20000
    return ["prlimit", f"--as={limit * 2**20}"]


def _reap(mark: str) -> None:
    """Kill what left the process group (launchers start sessions of their own).

    Every process that carries this run's variable.
    """
    wanted = f"LAB_TRUTH={mark}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)


def _remove(group: Path) -> None:
    for _ in range(50):
        with contextlib.suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.1)
    print(f"the cgroup {group} could not be removed", file=sys.stderr)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class _Hide:
    """Put made-up names for this machine's paths, host and user."""

    def __init__(self, work: Path, venv: Path) -> None:
        base = work.parent
        host = socket.gethostname()
        python = Path(os.path.realpath(venv / "bin" / "python")).parents[1]
        pairs = [
            (str(work), "/workspace/run"),
            (str(base / "home"), "/home/user"),
            (str(base / "tmp"), "/tmp"),
            (str(base / "out"), "/workspace/logs"),
            (str(base), "/workspace"),
            (str(LAB / "kit"), "/workspace/kit"),
            (str(venv), "/opt/venv"),
            (str(python), "/opt/python"),
            (str(LAB), "/workspace/lab"),
        ]
        address = _address(host)
        pairs += [(host, "node-1")] if len(host) > 3 else []
        pairs += [(address, "10.0.0.1")] if address and not address.startswith("127.") else []
        pairs += [(str(Path.home()), "/home/user")] if getpass.getuser() != "user" else []
        self.pairs = [(real.encode(), shown.encode()) for real, shown in pairs]

    def __call__(self, data: bytes) -> bytes:
        for real, shown in self.pairs:
            data = data.replace(real, shown)
        return data


def _address(host: str) -> str:
    try:
        return socket.gethostbyname(host)
    except OSError:
        return ""
