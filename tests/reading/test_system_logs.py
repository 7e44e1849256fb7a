"""The kernel's log and a scheduler's word are told from a program's output."""

import pytest

from postmortem.reading.non_logs import detect_text_type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "[19107.281900] Memory cgroup out of memory: Killed process 12524 (python)\n[   "
            " 5.678901] NVRM: loading\n",
            "kernel",
            id="dmesg",
        ),
        pytest.param(
            "[Sat Mar  1 12:00:00 2025] NVRM: Xid (PCI:0000:01:00): 79\n", "kernel", id="dmesg -T"
        ),
        pytest.param(
            "Mar  1 12:00:00 gpu7 kernel: [12345.678901] NVRM: Xid\n", "kernel", id="syslog"
        ),
        pytest.param(
            "JobID           JobName      State ExitCode\n------ ---- ----- ---\n81               "
            " train    TIMEOUT      0:0\n",
            "scheduler",
            id="sacct",
        ),
        pytest.param(
            "JobId=81 JobName=train\n   UserId=me(1000)\n   JobState=FAILED"
            " Reason=NonZeroExitCode\n",
            "scheduler",
            id="scontrol",
        ),
        pytest.param(
            "Name:         train-0\nNamespace:    ml\nLast State:   Terminated\n",
            "scheduler",
            id="kubectl describe",
        ),
        pytest.param("step 1 loss 2.5\n[12.5] step 2\n", "", id="a training log"),
        pytest.param(
            "[1.234567] only one such line\nstep 1\nstep 2\nstep 3\n", "", id="a line among others"
        ),
        pytest.param("", "", id="nothing"),
    ],
)
def test_what_a_text_is(text: str, expected: str) -> None:
    """By its first lines."""
    assert detect_text_type(text) == expected
