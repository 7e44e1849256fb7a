"""Ten faults are really run again: the labels that are checked in come out the same."""

import subprocess
import sys
from pathlib import Path

import pytest
from harness.faults import Fault, load_faults
from harness.recording import Job, record

ROOT = Path(__file__).resolve().parents[2]
QUICK = [fault for fault in load_faults() if fault.quick]


def test_ten_faults_are_quick() -> None:
    """The quick sample has ten faults of at least eight causes."""
    assert len(QUICK) == 10
    assert len({fault.cause for fault in QUICK}) >= 8


@pytest.mark.frameworks
@pytest.mark.parametrize("fault", QUICK, ids=lambda fault: fault.name)
def test_a_second_run_gives_the_same_label(fault: Fault) -> None:
    """The fault fails here as it failed when it was recorded."""
    states = [
        (outcome.state, outcome.detail)
        for seed in fault.kept
        for outcome in record(fault, seed, Job(ROOT / "sample_logs", compare=True))
    ]
    assert not [detail for state, detail in states if state != "same"]


def test_an_unknown_fault_is_one_line() -> None:
    """A name that fits nothing ends with exit status 2 and says how to see the names."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "sample_logs" / "lab"), "run", "pytorch/no-such"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "lab: no fault is called 'pytorch/no-such'; `list` shows all\n"
