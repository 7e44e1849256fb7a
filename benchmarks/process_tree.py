"""What a command and all its descendants take: CPU time and memory, sampled from /proc.

In: a command. Out: `Usage`. Linux only. Descendants that left their parent (daemons) are found by
their session; shared pages count in `peak_rss` once for each process, in `peak_pss` once in all.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
EVERY: Final = 0.1
"""Seconds from a sample to the next."""
AT_ONCE: Final = 0.005
"""Seconds between two looks that must not be late."""
TICK: Final = os.sysconf("SC_CLK_TCK")
PAGE: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Usage:
    """What a command took."""

    status: int
    seconds: float
    cpu_seconds: float
    """Of the whole tree."""
    busiest: float
    """The CPU seconds of one process, as last seen: no other cores make the whole faster."""
    peak_rss: int
    """Most bytes resident in all processes at once, shared pages counted for each."""
    peak_pss: int
    """The same, each page counted once."""
    largest: int
    """Most bytes resident in one process."""
    processes: int
    """Most at once."""
    is_killed: bool
    output: bytes = field(repr=False)


@dataclass(frozen=True)
class Seen:
    """A process at a moment."""

    pid: int
    parent: int
    session: int
    cpu_seconds: float
    rss: int


@dataclass
class Peaks:
    """The most so far."""

    rss: int = 0
    pss: int = 0
    largest: int = 0
    processes: int = 0
    cpu: dict[int, float] = field(default_factory=dict)
    """Seconds by process, as last seen."""

    def note(self, tree: Sequence[Seen]) -> None:
        """Take a sample in."""
        self.rss = max(self.rss, sum(process.rss for process in tree))
        self.pss = max(self.pss, sum(_proportional(process) for process in tree))
        self.largest = max([self.largest, *(process.rss for process in tree)])
        self.processes = max(self.processes, len(tree))
        self.cpu |= {process.pid: process.cpu_seconds for process in tree}


def tree_of(root: int) -> list[Seen]:
    """Give the processes that descend from one, itself among them, or are of its session."""
    everyone = [seen for entry in PROC.iterdir() if entry.name.isdigit() and (seen := _seen(entry))]
    known = {process.pid for process in everyone if root in {process.pid, process.session}}
    while more := {process.pid for process in everyone if process.parent in known} - known:
        known |= more
    return [process for process in everyone if process.pid in known]


def _seen(entry: Path) -> Seen | None:
    """A process; None if it ended meanwhile."""
    try:
        # The name in brackets may hold anything.
        fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    if fields[0] == "Z":
        return None
    return Seen(
        int(entry.name),
        int(fields[1]),
        int(fields[3]),
        (int(fields[11]) + int(fields[12])) / TICK,
        int(fields[21]) * PAGE,
    )


def _proportional(process: Seen) -> int:
    """A process's share of the memory; what is resident where the system does not tell."""
    try:
        for line in (PROC / str(process.pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return process.rss


def measured(
    command: Sequence[str],
    output: Path,
    *,
    is_time: Callable[[float], bool] = lambda _seconds: False,
    look: Callable[[float], None] = lambda _seconds: None,
    every: float = EVERY,
    stdin: int | None = None,
) -> Usage:
    """Run a command in a session of its own, its output into a file.

    `stdin` is a descriptor; None: that of this process. A sample is taken each `every` seconds.
    `look` is called with the seconds so far; when `is_time`
    says so, the whole tree is killed (SIGKILL).
    """
    peaks, is_killed, began = Peaks(), False, time.perf_counter()
    with output.open("wb") as stream:
        child = subprocess.Popen(
            command, stdin=stdin, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True
        )
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            seconds = time.perf_counter() - began
            if pid:
                break
            peaks.note(tree_of(child.pid))
            look(seconds)
            if not is_killed and is_time(seconds):
                is_killed = True
                kill(child.pid)
                continue
            time.sleep(every)
    child.returncode = os.waitstatus_to_exitcode(status)
    return Usage(
        child.returncode,
        seconds,
        max(usage.ru_utime + usage.ru_stime, sum(peaks.cpu.values())),
        max(peaks.cpu.values(), default=0.0),
        peaks.rss,
        peaks.pss,
        max(peaks.largest, usage.ru_maxrss * 1024),
        peaks.processes,
        is_killed,
        output.read_bytes(),
    )


def kill(root: int) -> None:
    """Kill a process group at once, and what of the tree had left it; they are gone on return."""
    tree = tree_of(root)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(root, signal.SIGKILL)
    for process in tree:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    while any(_seen(PROC / str(process.pid)) for process in tree):
        time.sleep(AT_ONCE)
