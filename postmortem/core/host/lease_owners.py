"""Names of the processes that hold leases, and whether such a process is still alive.

In: a name. Out: whether that process is known to be gone. Not here: leases (`store`).
"""

import os
import socket
from pathlib import Path
from typing import Final

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


def build_owner_name() -> str:
    """Give the name of this process: its machine since when it is up, its id, when it began."""
    process = os.getpid()
    return f"{_identify_machine()}/{process}/{_read_start_time(process)}"


def is_gone(name: str) -> bool:
    """Say whether a process is known to have ended: one of another machine never is."""
    machine, _, rest = name.rpartition("/")
    machine, _, process = machine.rpartition("/")
    if machine != _identify_machine() or not process.isdigit():
        return False
    return _read_start_time(int(process)) != rest


def _identify_machine() -> str:
    try:
        return f"{socket.gethostname()}/{_BOOT.read_text(encoding='ascii').strip()}"
    except OSError:
        return socket.gethostname()


def _read_start_time(process: int) -> str:
    """Give when a process began, in ticks since the start of the machine; empty if it is gone.

    Where there is no /proc, `alive` stands for it.
    """
    if not Path("/proc/self/stat").is_file():
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return ""
        except OSError:
            return "alive"
        return "alive"
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    is_zombie = fields[0] in {"Z", "X"}
    return "" if is_zombie else fields[19]
