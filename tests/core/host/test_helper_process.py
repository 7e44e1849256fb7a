"""A process that does work for this one, and what becomes of it when either ends."""

import functools
import operator
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from postmortem.core.host.helper_process import HelperProcess, NoHelper, unpack_result

ENOUGH = 30
"""Seconds in which a process ends, on however busy a machine."""


@contextmanager
def helping(work: Callable[..., object], *given: object) -> Iterator[HelperProcess]:
    """A process that does this work."""
    helper = HelperProcess(functools.partial(functools.partial, work, *given))
    try:
        yield helper
    finally:
        helper.end()
        helper.close()


def given(helper: HelperProcess, piece: object) -> Any:
    """What the work gives."""
    packed = helper.run(piece)
    assert packed is not None
    return unpack_result(packed)


def test_it_does_one_piece_after_the_other() -> None:
    """And gives back what the work gives, whatever its size."""
    with helping(operator.mul, b"ab" * 100_000) as helper:
        found = [given(helper, times) for times in (1, 3)]
        assert [len(one) for one in found] == [200_000, 600_000]


def test_what_the_work_prints_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    """It goes to standard error."""
    with helping(print) as helper:
        assert given(helper, "printed") is None
    assert capfd.readouterr() == ("", "printed\n")


def test_work_that_ends_the_process_is_told() -> None:
    """Whoever waits learns at once that it is lost, and the next one too."""
    with helping(os._exit) as helper:
        assert (helper.run(3), helper.is_lost) == (None, True)
        assert helper.run(3) is None


def test_work_that_fails_is_lost(capfd: pytest.CaptureFixture[str]) -> None:
    """Without a word: it is done once more by whoever wanted it, and told there."""
    with helping(operator.truediv, 1) as helper:
        assert helper.run(0) is None
    assert capfd.readouterr().err == ""


def test_a_process_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no interpreter, or no room for a further process."""
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(NoHelper):
        HelperProcess(functools.partial(functools.partial, operator.mul, 2))


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    """Even if the parent is killed, and the work would go on for an hour."""
    script = tmp_path / "script.py"
    script.write_text(
        "import functools, time\n"
        "from postmortem.core.host.helper_process import HelperProcess\n"
        "helper = HelperProcess(functools.partial(functools.partial, time.sleep))\n"
        "print(helper._process.pid, flush=True)\n"
        "helper.run(3600)\n"
    )
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, env=os.environ | paths
    ) as parent:
        assert parent.stdout is not None
        helper = int(parent.stdout.readline())
        parent.kill()
    until = time.monotonic() + ENOUGH
    while _is_there(helper) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _is_there(helper)


def _is_there(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits for init does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
