"""`postmortem run` under faults.

The command goes on undisturbed, its status is ours, its output is kept wherever there is room.
"""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from postmortem.interfaces.cli import failure_analysis, run_command

ENDING = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nRuntimeError: stack expects each tensor to be equal size, but got [3, 8] at entry 0 and [3, 9] at entry 1\n'
TALKATIVE = f"import sys\nfor number in range(20000): print('line', number)\nsys.stdout.write({ENDING!r})\nsys.stdout.flush()\nsys.exit(5)"
WAITING = "import signal, sys, time\n{}\nprint('ready', flush=True)\nwhile True: time.sleep(0.05)"
PATIENCE = 120


class Run:
    """A running `postmortem run`, with signals as a terminal's shell leaves them."""

    def __init__(
        self,
        folder: Path,
        words: list[str],
        usual_signals: Callable[[], None],
        *,
        prepare: str = "",
        **streams: object,
    ) -> None:
        """Start it; `prepare` is shell, run before, in which `$@` is the program."""
        self.folder = folder
        (folder / "elsewhere").mkdir()
        program = [sys.executable, "-m", "postmortem", "run", *words]
        self.process = subprocess.Popen(
            ["sh", "-c", prepare or 'exec "$@"', "sh", *program],
            cwd=folder,
            start_new_session=True,
            # a full disk would cut it short
            env={**os.environ, "TMPDIR": str(folder / "elsewhere"), "PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=usual_signals,  # noqa: PLW1509 -- it takes no lock
            **{
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                **streams,
            },  # type: ignore[call-overload]
        )

    def wait_for(self, word: bytes) -> None:
        """Read standard output until it has said something."""
        assert self.process.stdout is not None
        said = b""
        while word not in said:
            piece = os.read(self.process.stdout.fileno(), 1000)
            assert piece, said
            said += piece

    def end(self) -> tuple[int, bytes, str]:
        """Wait for the end: status, standard output, standard error."""
        out, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out or b"", (errors or b"").decode()

    def kept(self) -> list[Path]:
        """The logs, the one beside the command first."""
        return sorted(self.folder.glob("postmortem-run-*.log")) + sorted(
            self.folder.glob("elsewhere/*.log")
        )


Start = Callable[..., Run]


@pytest.fixture
def start(tmp_path: Path, usual_signals: Callable[[], None]) -> Iterator[Start]:
    """Start runs, and leave none behind."""
    running: list[Run] = []

    def begin(*words: str, **options: object) -> Run:
        running.append(Run(tmp_path, list(words), usual_signals, **options))  # type: ignore[arg-type]
        return running[-1]

    yield begin
    for one in running:
        one.process.kill()
        one.process.communicate()


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something, for as long as a busy machine may need."""
    last = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < last
        time.sleep(0.05)


WHOLE = "".join(f"line {number}\n" for number in range(20000)) + ENDING


@pytest.mark.parametrize(
    ("prepare", "out", "errors"),
    [
        pytest.param(
            'exec "$@" >/dev/full',
            "",
            "standard output did not take all of the output: No space left on device",
            id="standard output is full",
        ),
        pytest.param(
            'exec "$@" >&-',
            "",
            "standard output did not take all of the output: it is closed",
            id="standard output is closed",
        ),
        pytest.param(
            '{ { "$@"; echo $? >status; } | head -1; } ; exit $(cat status)',
            "line 0\n",
            "standard output did not take all of the output: Broken pipe",
            id="its reader has seen enough",
        ),
        pytest.param('exec "$@" 2>/dev/full', WHOLE, "", id="standard error is full"),
        pytest.param('exec "$@" 2>&-', WHOLE, "", id="standard error is closed"),
        pytest.param('exec "$@" <&- >&- 2>&-', "", "", id="all three are closed"),
        pytest.param('exec "$@" >same 2>&1', "", "", id="both are one file"),
    ],
)
def test_streams_that_take_nothing(start: Start, prepare: str, out: str, errors: str) -> None:
    """The status is the command's, and the log holds all.

    What was not passed on is said in one line.
    """
    run = start("--", sys.executable, "-c", TALKATIVE, prepare=prepare)
    status, said, told = run.end()
    assert (status, said.decode()) == (5, out)
    assert [log.read_text() for log in run.kept()] == [WHOLE]
    assert told.count("did not take") == bool(errors)
    assert errors in told
    assert "Traceback" not in told.replace(WHOLE, "")


def test_what_was_passed_on_nowhere_is_kept_after_success_too(start: Start) -> None:
    """The log is then the only copy."""
    run = start("--", "echo", "precious", prepare='exec "$@" >/dev/full')
    status, _, told = run.end()
    assert status == 0
    assert [log.read_text() for log in run.kept()] == ["precious\n"]
    assert str(run.kept()[0]) in told


def test_no_room_anywhere(start: Start) -> None:
    """The command notices nothing, and what is lost is said in one line."""
    run = start("--", sys.executable, "-c", TALKATIVE, prepare='ulimit -f 0; exec "$@"')
    status, said, told = run.end()
    assert (status, said.decode()) == (5, WHOLE)
    assert told.count(f"{len(WHOLE):,} bytes are lost") == 1
    assert "internal error" not in told
    assert "the report failed" not in told


def test_a_log_that_may_not_grow(start: Start) -> None:
    """Both ends of the output are kept, in as many files as it takes.

    The last lines, which say why it ended, are analysed.
    """
    run = start("--", sys.executable, "-c", TALKATIVE, prepare='ulimit -f 16; exec "$@"')
    status, said, told = run.end()
    assert (status, said.decode()) == (5, WHOLE)
    first, *others = [log.read_text() for log in run.kept()]
    assert WHOLE.startswith(first)
    assert len(first) >= 8192
    assert any(WHOLE.endswith(text) for text in others)
    assert told.count("not all of the output could be kept") == 1
    assert "File too large" in told
    assert "data.collation" in told
    for path in told.partition("its end is in ")[2].partition(";")[0].split(" and "):
        Path(path).unlink()  # one may be in memory


def _may_mount() -> bool:
    """Whether this machine lets a test have a small disk of its own."""
    return (
        shutil.which("unshare") is not None
        and subprocess.run(
            ["unshare", "--mount", "--map-root-user", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
            capture_output=True,
            check=False,
        ).returncode
        == 0
    )


@pytest.mark.skipif(not _may_mount(), reason="needs to mount a small disk (unshare --mount)")
def test_a_full_disk_under_the_log(start: Start, tmp_path: Path) -> None:
    """What does not fit is kept elsewhere: not a byte is lost, and none is deleted."""
    (tmp_path / "small").mkdir()
    prepare = 'exec unshare --mount --map-root-user sh -c \'mount -t tmpfs -o size=64k tmpfs small && cd small && { "$@"; status=$?; cp *.log ..; exit $status; }\' sh "$@"'
    run = start("--", sys.executable, "-c", TALKATIVE, prepare=prepare)
    status, said, told = run.end()
    assert (status, said.decode()) == (5, WHOLE)
    assert "".join(log.read_text() for log in run.kept()) == WHOLE
    assert told.count("No space left on device") == 1


def test_a_log_that_is_removed_with_its_folder(start: Start, tmp_path: Path) -> None:
    """What was written is taken back and kept elsewhere."""
    (tmp_path / "folder").mkdir()
    run = start(
        "--",
        "sh",
        "-c",
        f"echo one; sleep 0.1; rm -r {tmp_path / 'folder'}; echo two; exit 7",
        prepare='cd folder && exec "$@"',
    )
    status, said, told = run.end()
    assert (status, said) == (7, b"one\ntwo\n")
    assert [log.read_text() for log in run.kept()] == ["one\ntwo\n"]
    assert "it has been removed meanwhile" in told


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"])
@pytest.mark.parametrize(
    ("does", "status"),
    [
        pytest.param("", 0, id="dies of it"),
        pytest.param(
            "signal.signal(signal.{0}, lambda *_: (print('saved', flush=True), sys.exit(7)))",
            7,
            id="saves and ends with its own status",
        ),
    ],
)
def test_a_signal_is_the_commands(start: Start, name: str, does: str, status: int) -> None:
    """It is passed on; the status is the command's, and what it printed last is kept."""
    number = signal.Signals[name]
    dies = "signal.signal(signal.SIGINT, signal.SIG_DFL)"  # as most programs do, unlike Python
    run = start("--", sys.executable, "-c", WAITING.format(does.format(name) or dies))
    run.wait_for(b"ready\n")
    run.process.send_signal(number)
    ended, _, told = run.end()
    assert ended == (status or 128 + number)
    assert [log.read_text() for log in run.kept()] == ["ready\n" + "saved\n" * bool(status)]
    assert "its output is kept in" in told


def test_a_second_signal_changes_nothing(start: Start) -> None:
    """A command that needs a second interrupt gets it; we outlive both."""
    run = start(
        "--",
        sys.executable,
        "-c",
        WAITING.format(
            "seen = []\nsignal.signal(signal.SIGINT, lambda *_: (seen.append(1), print('seen', flush=True), len(seen) > 1 and sys.exit(9)))"
        ),
    )
    for word in (b"ready\n", b"seen\n"):
        run.wait_for(word)
        run.process.send_signal(signal.SIGINT)
    assert run.end()[0] == 9


def test_signals_that_were_ignored_stay_ignored(start: Start) -> None:
    """Under nohup, and in the background of a shell without job control, nobody hears them.

    Neither we nor the command do.
    """
    run = start(
        "--",
        sys.executable,
        "-c",
        WAITING.format(
            "print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)"
        ),
        prepare="trap '' INT HUP; exec \"$@\"",
    )
    run.wait_for(b"True True\nready\n")
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        run.process.send_signal(number)
    assert run.end()[0] == 128 + signal.SIGTERM


def test_an_interrupt_from_the_terminal_comes_once(
    tmp_path: Path, usual_signals: Callable[[], None]
) -> None:
    """The terminal gives it to the command itself; a second one would cut short how it ends."""
    script = WAITING.format(
        "seen = []\ndef take(*_):\n    seen.append(1)\n    print('seen', len(seen), flush=True)\n    time.sleep(1)\n    sys.exit(6)\nsignal.signal(signal.SIGINT, take)"
    )
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(tmp_path)
        usual_signals()
        os.execv(  # noqa: S606 -- the terminal is this process's own
            sys.executable,
            [sys.executable, "-m", "postmortem", "run", "--", sys.executable, "-c", script],
        )
    said, is_sent = b"", False
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # how a terminal ends
            break
        said += piece
        if b"ready" in said and not is_sent:
            os.write(terminal, b"\x03")
            is_sent = True
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 6
    assert b"seen 1" in said
    assert b"seen 2" not in said


GIVEN_BACK = """
import os, signal, sys
from contextlib import closing
from postmortem.core.host.signals import Signals
meant = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
before = [signal.getsignal(number) for number in meant]
with closing(Signals()) as signals:
    assert signals.start([sys.executable, "-c", "pass"]).wait() == 0
    os.kill(os.getpid(), signal.SIGTERM)
    assert signals.unheard.wait(60)
assert [signal.getsignal(number) for number in meant] == before
assert not signal.pthread_sigmask(signal.SIG_BLOCK, []) & set(meant)
"""


def test_signals_are_given_back() -> None:
    """Whoever calls the program from Python has its signals as before.

    In a process of its own, since a thread of another test would take the signal.
    """
    done = subprocess.run(
        [sys.executable, "-c", GIVEN_BACK], check=False, capture_output=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, b"")


def _hanging_python(folder: Path) -> Path:
    """An interpreter that hangs when it is asked for the environment."""
    python = folder / "python"
    python.write_text(
        '#!/bin/sh\nif [ "$1" = -I ]; then exec sleep 600; fi\necho "RuntimeError: CUDA error: device-side assert triggered"\nexit 3\n'
    )
    python.chmod(0o755)
    return python


def test_an_interpreter_that_hangs(start: Start, tmp_path: Path) -> None:
    """Its dump is waited for a short time, and the report is made without."""
    status, _, told = start("--", str(_hanging_python(tmp_path)), "train.py").end()
    assert status == 3
    assert told.count("gave no environment dump within 15 s") == 1
    assert "cuda.device-side-assert" in told


def test_a_signal_ends_the_analysis(start: Start, tmp_path: Path) -> None:
    """The status stays the command's; here the analysis waits for an interpreter that hangs."""
    run = start("--", str(_hanging_python(tmp_path)), "train.py")
    assert run.process.stderr is not None
    told = b""
    while b"its output is kept" not in told:
        told += os.read(run.process.stderr.fileno(), 1000)
    while run.process.poll() is None:  # until there is an analysis to end
        run.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
    status, _, more = run.end()
    assert status == 3
    assert "CUDA error" not in more


def test_what_the_command_leaves_behind_lives_on(start: Start, tmp_path: Path) -> None:
    """It writes into a pipe that is still read, and its words are in the log."""
    run = start(
        "--",
        "sh",
        "-c",
        "(while [ ! -e go ]; do sleep 0.1; done; echo late; echo later; echo alive >alive) & exit 5",
    )
    status, _, _ = run.end()
    assert status == 5
    (tmp_path / "go").touch()
    until((tmp_path / "alive").exists)
    until(lambda: run.kept()[0].read_text() == "late\nlater\n")


def test_what_the_command_leaves_behind_may_write_for_ever(start: Start, tmp_path: Path) -> None:
    """The report does not wait for it."""
    run = start(
        "--log",
        "kept.log",
        "--",
        "sh",
        "-c",
        "(while sleep 0.02; do echo on; done) & echo $! >pid; exit 5",
    )
    assert run.end()[0] == 5
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_a_reader_that_stands_still_holds_nothing_up(start: Start, tmp_path: Path) -> None:
    """The command ends before anybody has read more than a pipe holds; then all of it comes."""
    script = "import sys, pathlib\nsys.stdout.buffer.write(bytes(range(256)) * 4000)\nsys.stdout.flush()\npathlib.Path('done').touch()\nsys.exit(4)"
    run = start("--", sys.executable, "-c", script)
    until((tmp_path / "done").exists)
    status, said, _ = run.end()
    assert (status, said) == (4, bytes(range(256)) * 4000)
    assert run.kept()[0].read_bytes() == said


def test_a_stream_that_does_not_wait(start: Start) -> None:
    """Where somebody has made the pipe one that refuses instead of waiting, no byte is lost."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    run = start("--", sys.executable, "-c", TALKATIVE, stdout=theirs)
    os.close(theirs)
    said: list[bytes] = []
    reader = threading.Thread(target=lambda: said.extend(iter(lambda: os.read(ours, 100), b"")))
    reader.start()
    status, _, told = run.end()
    reader.join(PATIENCE)
    os.close(ours)
    assert (status, b"".join(said).decode()) == (5, WHOLE)
    assert "did not take" not in told


@pytest.mark.parametrize(
    "error",
    [
        ValueError("odd"),
        RecursionError("deep"),
        MemoryError(),
        OSError(28, "No space left on device"),
        KeyError("x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_any_error_of_the_analysis_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], error: Exception
) -> None:
    """Whatever it is."""

    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr(failure_analysis, "_report", fail)
    monkeypatch.delenv("POSTMORTEM_DEBUG", raising=False)
    failure_analysis.main({"logs": ["run.log"]})
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.startswith("postmortem: the analysis failed")
    assert said.err.count("\n") == 1


class Plain:
    """Starts processes, and minds no signals."""

    def start(self, words: list[str], **options: object) -> "subprocess.Popen[bytes]":
        """Start one."""
        return subprocess.Popen(words, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        pytest.param(
            "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
            "was ended by SIGSEGV",
            id="it crashes",
        ),
        pytest.param(
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "was ended by SIGKILL",
            id="it is killed for its memory",
        ),
        pytest.param(
            "import sys, time; sys.stdin.read(); time.sleep(600)", "took longer than", id="it hangs"
        ),
        pytest.param(
            "import time; time.sleep(600)", "took longer than", id="it does not even listen"
        ),
        pytest.param("", "", id="all is well"),
    ],
)
def test_the_analysis_takes_nobody_along(
    monkeypatch: pytest.MonkeyPatch, code: str, says: str
) -> None:
    """However it ends, that is a line, which names the command that does it again."""
    monkeypatch.setattr(failure_analysis, "_START", code)
    monkeypatch.setattr(failure_analysis, "_LONGEST", 2.0 if says.startswith("took") else PATIENCE)
    wanted = failure_analysis.AnalysisOptions(
        "terminal", None, "en", full=False, open_=False, redact=None, patterns=()
    )
    said = failure_analysis.run_analysis_process([Path("run.log")], ["true"], {}, wanted, Plain())  # type: ignore[arg-type]
    assert says in said
    assert bool(said) == bool(says)
    assert "postmortem analyze run.log" in said or not said


def test_a_command_runs_where_no_folder_takes_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept then but what waits in memory."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_command.tempfile, "mkstemp", refuse)
    kept = run_command._create_log()
    kept.write(b"line\n")
    kept.close()
    assert kept.paths == []
    assert "5 bytes are lost" in kept.problem()


def test_neither_log_nor_report_takes_the_others_place(start: Start, tmp_path: Path) -> None:
    """One name for both is refused before the command is run; so is a log that is no file."""
    for words in (["--log", "a.log", "-o", "./a.log"], ["--log", "/dev/null"], ["--log", ""]):
        done = subprocess.run(
            [sys.executable, "-m", "postmortem", "run", *words, "--", "touch", "trained"],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
        assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert not (tmp_path / "trained").exists()


def test_the_analysis_finds_its_own_modules(start: Start, tmp_path: Path) -> None:
    """A training's folder may hold files of any name."""
    for name in ("click.py", "json.py", "regex.py", "postmortem.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong module')\n")
    program = f"import sys; sys.path[:] = {[path for path in sys.path if path]!r}; from postmortem.interfaces.cli import main; main()"
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            program,
            "run",
            "--format",
            "json",
            "--",
            "sh",
            "-c",
            "echo 'RuntimeError: CUDA error: device-side assert triggered'; exit 1",
        ],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 1
    assert (
        json.loads(done.stderr[done.stderr.index(b"{") :])["verdict"]["cause"]
        == "cuda.device-side-assert"
    )
