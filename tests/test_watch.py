"""`postmortem watch` as its user meets it: real processes beside a real, growing file."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

OVERFLOWS = "".join(
    f"[2024-05-01 12:00:{number:02d},000] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {2**-number * 256}, reducing to {2**-number * 128}\n"
    for number in range(10)
)
STEPS = "".join(f"step {number} loss 2.5{number % 7} lr 0.001\n" for number in range(1, 31))
ROOT = Path(__file__).resolve().parents[1]


class Watch:
    """A running `postmortem watch --format jsonl`."""

    def __init__(self, command: list[str], *arguments: object) -> None:
        """Start it, with Ctrl-C as a terminal has it.

        What runs in the background of a shell ignores it, and hands that on.
        """
        arguments = (
            *command,
            "watch",
            "--interval",
            "0.1",
            "--format",
            "jsonl",
            *map(str, arguments),
        )
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self.process = subprocess.Popen(
                arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        finally:
            signal.signal(signal.SIGINT, before)

    def event(self) -> dict[str, object]:
        """Wait for the next event, a minute at most."""
        assert self.process.stdout is not None
        late = threading.Timer(60, self.process.kill)
        late.start()
        line = self.process.stdout.readline()
        late.cancel()
        assert line, self.process.stderr.read() if self.process.stderr else ""
        value = json.loads(line)
        assert isinstance(value, dict)
        return value

    def end(self, number: int | None = None) -> tuple[int, str]:
        """Send a signal if one is given, and wait for the end; status and standard error."""
        if number is not None:
            self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


@pytest.fixture
def watch(command: list[str]) -> Iterator[object]:
    """Start watches, and leave none behind."""
    running: list[Watch] = []

    def start(*arguments: object) -> Watch:
        running.append(Watch(command, *arguments))
        return running[-1]

    yield start
    for one in running:
        one.process.kill()
        one.process.communicate()


def add(log: Path, text: str) -> None:
    """Write at the end."""
    with log.open("a") as out:
        out.write(text)


def test_a_growing_rotated_and_emptied_log_is_followed_until_interrupted(
    tmp_path: Path, watch: object
) -> None:
    """Each event comes while the run goes on; Ctrl-C ends the watch with what it has seen."""
    assert callable(watch)
    log = tmp_path / "run.log"
    one = watch(log)
    assert one.event()["kind"] == "waiting"
    add(log, STEPS)
    assert one.event()["kind"] == "found"
    add(log, "step 31 loss na")
    time.sleep(0.3)
    add(log, "n lr 0.001\n")
    told = one.event()
    assert (told["kind"], told["line"], told["step"]) == ("nan", 31, 31)
    log.rename(tmp_path / "run.log.1")
    add(log, OVERFLOWS)
    assert one.event()["kind"] == "rotated"
    # it has been read: a file that is emptied before is not seen to shrink
    assert one.event()["kind"] == "overflow"
    log.write_text("")
    add(log, STEPS)
    assert one.event()["kind"] == "truncated"
    status, errors = one.end(signal.SIGINT)
    assert status == 1
    assert errors == ""


def test_interrupting_a_watch_that_warned_of_nothing_is_no_alarm(
    tmp_path: Path, watch: object
) -> None:
    """`postmortem watch run.log || scancel JOB` must not stop a sound job."""
    assert callable(watch)
    log = tmp_path / "run.log"
    one = watch(log)
    one.event()
    add(log, STEPS)
    one.event()
    status, errors = one.end(signal.SIGINT)
    assert (status, errors) == (0, "")


def test_a_command_is_run_at_the_first_warning(tmp_path: Path, watch: object) -> None:
    """It stops the job, as a user would have it.

    The values on its standard input are those of the event.
    """
    assert callable(watch)
    log, told = tmp_path / "run.log", tmp_path / "told.json"
    log.write_text(STEPS)
    script = tmp_path / "stop.py"
    script.write_text(
        "import os, pathlib, sys\npathlib.Path(sys.argv[1]).write_text(sys.stdin.read())\nprint(os.environ['POSTMORTEM_KIND'], os.environ['POSTMORTEM_STEP'])\n"
    )
    one = watch("--until-warning", "--exec", f"{sys.executable} {script} {told}", log)
    time.sleep(0.3)
    add(log, "step 31 loss nan lr 0.001\n")
    event = one.event()
    assert event["kind"] == "nan"
    assert one.event()["kind"] == "warned"
    status, errors = one.end()
    assert status == 1
    assert "nan 31" in errors  # its output does not mix with ours
    assert json.loads(told.read_text()) == event


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-"], "standard input"),
        (["--webhook", "file:///etc/passwd", "x.log"], "no web address"),
        (["--exec", "'", "x.log"], "quotes"),
        (["--once", "/nowhere/run.log"], "no such file"),
        (["--interval", "0", "x.log"], "interval"),
    ],
)
def test_what_cannot_be_watched_is_said_in_a_line(
    command: list[str], arguments: list[str], says: str
) -> None:
    """Exit status 2, and how to mend it."""
    done = subprocess.run(
        [*command, "watch", *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_recorded_run_at_once(command: list[str]) -> None:
    """In the terminal's form: the warning, the raw line, the end with the verdict.

    For programs one document.
    """
    log = ROOT / "sample_logs" / "deepspeed" / "scale-exhausted-yi.log"
    done = subprocess.run(
        [*command, "watch", "--once", str(log)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert done.returncode == 1
    assert "WARNING" in done.stdout
    assert "numerics.loss-scale-exhausted" in done.stdout
    assert done.stderr == ""
    done = subprocess.run(
        [*command, "watch", "--once", "--format", "json", "--lang", "zh", str(log)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert [event["kind"] for event in json.loads(done.stdout)["events"]] == ["overflow", "failed"]
    assert "损失" in json.loads(done.stdout)["events"][0]["text"]
