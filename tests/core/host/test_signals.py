"""Whoever sends a signal, and to whomever: the command receives it once.

Real processes: a command counts what it receives, and ends a moment after the first.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

RUN: Final = (sys.executable, "-m", "postmortem", "run")
RUNS: Final = 20
PATIENCE: Final = 120
MOMENT: Final = 0.8
"""Seconds for which a second signal is waited for; more than `run` takes to pass one on."""

COUNTING: Final = """
import os, pathlib, signal, sys, time
folder, seen = pathlib.Path(sys.argv[1]), []
for name in ("SIGTERM", "SIGINT", "SIGUSR1"):
    signal.signal(getattr(signal, name), lambda number, _: seen.append(number))
(folder / "pid.new").write_text(str(os.getpid()))
(folder / "pid.new").rename(folder / "pid")
deadline = time.monotonic() + 60
while not seen and time.monotonic() < deadline:
    time.sleep(0.01)
deadline = time.monotonic() + float(sys.argv[2])
while time.monotonic() < deadline:
    time.sleep(0.01)
(folder / "seen").write_text(" ".join(signal.Signals(one).name for one in seen))
"""
FORWARDING: Final = """
import signal, subprocess, sys
worker = subprocess.Popen([sys.executable, *sys.argv[1:]], start_new_session=True)
signal.signal(signal.SIGTERM, lambda number, _: worker.send_signal(number))
sys.exit(worker.wait())
"""


class Counted:
    """A command under `run` that counts the signals that it receives."""

    def __init__(self, folder: Path, usual_signals: Callable[[], None], kind: str) -> None:
        """Start it."""
        folder.mkdir()
        self.folder = folder
        (folder / "train.py").write_text(COUNTING)
        (folder / "launcher.py").write_text(FORWARDING)
        train = [str(folder / "train.py"), str(folder), str(MOMENT)]
        words = {
            "python": [sys.executable, *train],
            "shell": ["bash", "-c", 'trap : TERM; "$@"; exit 0', "bash", sys.executable, *train],
            "own group": ["setsid", sys.executable, *train],
            "launcher": [sys.executable, str(folder / "launcher.py"), *train],
        }[kind]
        self.run = subprocess.Popen(
            [*RUN, "--", *words],
            cwd=folder,
            start_new_session=True,
            preexec_fn=usual_signals,  # noqa: PLW1509 -- it takes no lock
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def is_ready(self) -> bool:
        """Whether the command counts."""
        return (self.folder / "pid").exists()

    @property
    def command(self) -> int:
        """The number of the process that counts."""
        return int((self.folder / "pid").read_text())

    def seen(self) -> str:
        """What it has received, once all is over."""
        self.run.wait(PATIENCE)
        until((self.folder / "seen").exists)
        return (self.folder / "seen").read_text()


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something, for as long as a busy machine may need."""
    last = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < last
        time.sleep(0.02)


def to_group(counted: Counted) -> None:
    """As `kill -TERM -- -PGID` does."""
    os.killpg(counted.run.pid, signal.SIGTERM)


def to_run(counted: Counted) -> None:
    """As `kill PID` does."""
    counted.run.send_signal(signal.SIGTERM)


def to_command(counted: Counted) -> None:
    """As somebody does who looked the training up."""
    os.kill(counted.command, signal.SIGTERM)


def as_timeout(counted: Counted) -> None:
    """As `timeout` does: first to the process, then to its group."""
    to_run(counted)
    to_group(counted)


def to_all(counted: Counted) -> None:
    """As Slurm and systemd do: to every process of the job, one after the other."""
    for process in sorted(descendants(counted.run.pid), reverse=True):
        os.kill(process, signal.SIGTERM)
        time.sleep(0.005)


def by_name(counted: Counted) -> None:
    """As `pkill -f train.py` does: the command's name stands in our command line, too."""
    for process in descendants(counted.run.pid):
        words = Path(f"/proc/{process}/cmdline").read_bytes()
        if str(counted.folder / "train.py").encode() in words:
            os.kill(process, signal.SIGTERM)


def by_our_name(counted: Counted) -> None:
    """As `pkill -f postmortem` does, which does not select the command."""
    for process in descendants(counted.run.pid):
        if b"postmortem\0" in Path(f"/proc/{process}/cmdline").read_bytes():
            os.kill(process, signal.SIGTERM)


def descendants(process: int) -> list[int]:
    """The process and all below it."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(one for child in children for one in descendants(int(child)))]


@pytest.fixture
def start(tmp_path: Path, usual_signals: Callable[[], None]) -> Iterator[Callable[..., Counted]]:
    """Start commands that count, and leave none behind."""
    running: list[Counted] = []

    def begin(kind: str) -> Counted:
        running.append(Counted(tmp_path / f"run{len(running)}", usual_signals, kind))
        return running[-1]

    yield begin
    for one in running:
        one.run.kill()
        one.run.wait()


SENDERS: Final = [
    pytest.param(to_group, "python", RUNS, id="the group"),
    pytest.param(to_run, "python", RUNS, id="run alone"),
    pytest.param(to_command, "python", RUNS, id="the command alone"),
    pytest.param(as_timeout, "python", 8, id="run and the group, as timeout does"),
    pytest.param(to_all, "python", 8, id="each process of the job"),
    pytest.param(by_name, "python", 3, id="all that bear the command's name"),
    pytest.param(by_our_name, "python", 3, id="all that bear our name"),
    pytest.param(to_group, "shell", 3, id="the group, with a shell between"),
    pytest.param(to_all, "shell", 3, id="each process, with a shell between"),
    pytest.param(to_group, "own group", 3, id="a group in which the command is not"),
    pytest.param(to_all, "own group", 3, id="each process, the command in its own group"),
    pytest.param(to_group, "launcher", 3, id="the group of a launcher that passes signals on"),
    pytest.param(to_run, "launcher", 3, id="run alone, above a launcher that passes signals on"),
]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks processes up in /proc")
@pytest.mark.parametrize(("send", "kind", "runs"), SENDERS)
def test_a_signal_comes_once(
    start: Callable[..., Counted], send: Callable[[Counted], None], kind: str, runs: int
) -> None:
    """Not twice, and not never."""
    counted = [start(kind) for _ in range(runs)]
    until(lambda: all(one.is_ready() for one in counted))
    for one in counted:
        send(one)
    assert [one.seen() for one in counted] == ["SIGTERM"] * runs


def test_different_signals_come_once_each(start: Callable[..., Counted]) -> None:
    """Also where the second follows at once, and one goes to the group and one to us alone."""
    counted = start("python")
    until(counted.is_ready)
    os.killpg(counted.run.pid, signal.SIGUSR1)
    counted.run.send_signal(signal.SIGTERM)
    os.killpg(counted.run.pid, signal.SIGINT)
    assert sorted(counted.seen().split()) == ["SIGINT", "SIGTERM", "SIGUSR1"]


def test_a_signal_to_us_alone_comes_after_one_to_the_group(start: Callable[..., Counted]) -> None:
    """What a sidecar noted of the first says nothing of the second."""
    counted = start("python")
    until(counted.is_ready)
    to_group(counted)
    time.sleep(0.4)
    to_run(counted)
    assert counted.seen() == "SIGTERM SIGTERM"


def test_a_signal_before_the_command_is_there(
    tmp_path: Path, usual_signals: Callable[[], None]
) -> None:
    """To the group: the command, which comes a moment later, receives it once."""
    script = """
import os, signal, sys, time
from postmortem.core.host.files import KeptLog
from postmortem.core.host.launching import run_command
from postmortem.core.host.signals import Signals
signals = Signals()
os.killpg(0, signal.SIGTERM)
done = run_command([sys.executable, "-c", "import time; time.sleep(60)"], KeptLog(None), signals)
sys.exit(done.status)
"""
    run = subprocess.run(
        [sys.executable, "-c", script],
        start_new_session=True,
        preexec_fn=usual_signals,
        timeout=PATIENCE,
        check=False,
    )
    assert run.returncode == 128 + signal.SIGTERM


def test_a_killed_run_does_not_end_the_command(
    tmp_path: Path, usual_signals: Callable[[], None]
) -> None:
    """What it prints afterwards stands in the log, in full; nothing of ours stays behind."""
    script = (
        "import pathlib, sys, time\nprint('ready', flush=True)\n"
        "while not pathlib.Path('go').exists(): time.sleep(0.02)\n"
        "for number in range(20000): print('line', number)\n"
        "print('late', file=sys.stderr, flush=True)\npathlib.Path('trained').touch()"
    )
    run = subprocess.Popen(
        [*RUN, "--log", "kept.log", "--", sys.executable, "-u", "-c", script],
        cwd=tmp_path,
        start_new_session=True,
        preexec_fn=usual_signals,  # noqa: PLW1509 -- it takes no lock
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert run.stdout is not None
    assert run.stdout.readline() == b"ready\n"
    below = descendants(run.pid)[1:]
    run.kill()
    run.communicate(timeout=PATIENCE)
    (tmp_path / "go").touch()
    until((tmp_path / "trained").exists)
    until(lambda: not any(map(_is_running, below)))
    lines = (tmp_path / "kept.log").read_text().splitlines()
    assert sorted(lines) == sorted(["ready", "late", *(f"line {n}" for n in range(20000))])


def _is_running(process: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
