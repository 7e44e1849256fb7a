"""Processes for work end quietly, whatever they are at."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SLOW_TO_START = """
import signal, time
from postmortem.core.host.work_pool import WorkPool

if __name__ == "__mp_main__":  # before a process has looked for its locks
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(0.5)

if __name__ == "__main__":
    pool = WorkPool(int, workers=2, seconds=60, most=2)
    pool.warm_up()
    pool.close()
"""


@pytest.mark.skipif(os.name == "nt", reason="locks have no names there")
def test_processes_that_are_just_about_to_start_are_ended_without_a_word(tmp_path: Path) -> None:
    """A closed pool has let go of nothing that they look for while they start."""
    script = tmp_path / "slow_to_start.py"
    script.write_text(SLOW_TO_START)
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
