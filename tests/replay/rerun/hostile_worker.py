"""A process that replays capsules, warm: what each costs is measured without the start.

Reads a path a line, writes what happened as JSON a line. Run from a folder whose modules must never
be imported, and which Python would import.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

MIB = 1 << 20


def memory(name: str) -> float:
    """A figure of this process in MiB."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    return 0.0


def measured(path: str) -> dict[str, Any]:
    """Replay a capsule without trust."""
    from postmortem.core.errors import PostmortemError
    from postmortem.replay.rerun.requested_replay import replay_capsule

    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    before, began, used = memory("VmRSS"), time.monotonic(), time.process_time()
    try:
        found = replay_capsule(path, device="cpu", seconds=20, memory=8)
        outcome, message = "ran", str(found.summary)
    except PostmortemError as error:
        outcome, message = "refused", str(error)
    except BaseException as error:  # noqa: BLE001 -- whatever it is, the test tells of it
        outcome, message = "internal error", f"{type(error).__name__}: {error}"
    return {
        "outcome": outcome,
        "message": message,
        "wall": time.monotonic() - began,
        "cpu": time.process_time() - used,
        "mib": memory("VmHWM") - before,
    }


def serve() -> None:
    """Answer until there is no more to read."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    limit = (
        int(memory("VmSize") * MIB) + 6144 * MIB
    )  # a net: a failed row must not take the machine
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for line in sys.stdin:
        answers.write(json.dumps(measured(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
