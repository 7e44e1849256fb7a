"""The command line as its user meets it: real processes, real files."""

import bz2
import gzip
import json
import lzma
import os
import shlex
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import jsonschema
import pytest
import zstandard

import postmortem
from postmortem.interfaces.cli import report_output as shown
from postmortem.report.wire import read_schema

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "sample_logs" / "deepspeed" / "scale-exhausted-yi.log"


def run(
    command: list[str],
    *arguments: str,
    stdin: bytes | None = None,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the program; its output as text."""
    done = subprocess.run(
        [*command, *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, **(env or {})},
        cwd=cwd,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def cause(output: str) -> str | None:
    """The verdict of a JSON report, which must fit the schema."""
    report = json.loads(output)
    jsonschema.validate(report, json.loads(read_schema()))
    return report["verdict"]["cause"]


@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(lambda raw: raw, id="plain"),
        pytest.param(gzip.compress, id="gz"),
        pytest.param(bz2.compress, id="bz2"),
        pytest.param(lzma.compress, id="xz"),
        pytest.param(lambda raw: zstandard.ZstdCompressor().compress(raw), id="zst"),
        pytest.param(lambda raw: raw.decode().encode("utf-16"), id="UTF-16 with its mark"),
        pytest.param(lambda raw: raw.decode().encode("utf-16-le"), id="UTF-16 without a mark"),
        pytest.param(
            lambda raw: raw.decode().replace("\n", "\r\n").encode("utf-8-sig"),
            id="Windows line ends and a mark",
        ),
        pytest.param(
            lambda raw: ("错误日志如下,训练中断\n" * 20 + raw.decode()).encode("gbk", "replace"),
            id="GBK",
        ),
    ],
)
def test_a_packed_log_gives_the_same_verdict(
    tmp_path: Path, command: list[str], pack: object
) -> None:
    """Compression and encoding change nothing."""
    log = tmp_path / "run.log"
    log.write_bytes(pack(SAMPLE.read_bytes()))  # type: ignore[operator]
    done = run(command, "analyze", str(log), "--format", "json")
    assert (done.returncode, cause(done.stdout)) == (0, "numerics.loss-scale-exhausted")


def test_standard_input_is_a_log(command: list[str]) -> None:
    """`-` reads standard input."""
    done = run(command, "analyze", "-", "--format", "json", stdin=SAMPLE.read_bytes())
    assert cause(done.stdout) == "numerics.loss-scale-exhausted"


def test_a_folder_is_one_job(tmp_path: Path, command: list[str]) -> None:
    """The files of a folder are one job; what is no log is listed with the reason."""
    (tmp_path / "rank0.log").write_bytes(SAMPLE.read_bytes())
    (tmp_path / "rank1.log").write_text(
        "torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error\n"
    )
    (tmp_path / "model.safetensors").write_bytes(b"\x00" * 100)
    report = json.loads(run(command, "analyze", str(tmp_path), "--format", "json").stdout)
    kinds = {Path(source["path"]).name: source["kind"] for source in report["sources"]}
    assert report["verdict"]["cause"] == "numerics.loss-scale-exhausted"
    assert kinds == {"rank0.log": "log", "rank1.log": "log", "model.safetensors": "ignored"}


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        pytest.param("empty.log", b"", 2, id="empty"),
        pytest.param("nul.log", b"\x00" * 4096, 2, id="nothing but NUL"),
        pytest.param("binary.log", bytes(range(256)) * 300, 2, id="binary"),
        pytest.param(
            "cut.log.gz",
            gzip.compress(b"RuntimeError: CUDA error: device-side assert triggered\n" * 9000)[
                :-200
            ],
            0,
            id="broken gzip",
        ),
        pytest.param("bad.log.gz", b"\x1f\x8b\x08\x00garbage", 2, id="gzip of nothing"),
        pytest.param(
            "cut16.log",
            ("RuntimeError: CUDA error: device-side assert triggered\n" * 50).encode("utf-16")[:-3],
            0,
            id="truncated UTF-16",
        ),
        pytest.param("one-line.log", b"x" * 100_000_000, 2, id="one line of 100 MB"),
    ],
)
def test_a_hostile_file_gives_a_verdict_or_a_clear_error(
    tmp_path: Path, command: list[str], name: str, content: bytes, expected: int
) -> None:
    """Never a traceback, never a crash that looks like a verdict."""
    log = tmp_path / name
    log.write_bytes(content)
    done = run(command, "analyze", str(log), "--format", "json")
    assert done.returncode == expected, done.stderr
    assert "Traceback" not in done.stderr
    if expected == 0:
        report = json.loads(done.stdout)
        jsonschema.validate(report, json.loads(read_schema()))
        assert report["causes"]
    else:
        assert done.stderr.startswith("postmortem: ")
        assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["analyze", "nowhere.log"], "no such file", id="missing file"),
        pytest.param(["analyze"], "Missing argument", id="no path"),
        pytest.param(
            ["analyze", ".", "--format", "pdf"], "Invalid value for '--format'", id="unknown format"
        ),
        pytest.param(["unknown"], "No such command", id="unknown command"),
        pytest.param(
            ["analyze", str(SAMPLE), "--patterns", "/nowhere"],
            "no such pattern folder",
            id="missing rules",
        ),
        pytest.param(
            ["analyze", str(SAMPLE), "-o", "/nowhere/at/all.html"],
            "cannot be written",
            id="unwritable output",
        ),
        pytest.param(
            ["analyze", ""], "the path is empty", id="an empty path, as an unset variable leaves it"
        ),
        pytest.param(
            ["analyze", str(SAMPLE), "--env", ""], "the path is empty", id="an empty dump"
        ),
        pytest.param(["analyze", str(SAMPLE), "-o", ""], "the path is empty", id="an empty output"),
        pytest.param(
            ["analyze", str(SAMPLE), "--patterns", ""],
            "the path is empty",
            id="an empty folder of rules",
        ),
        pytest.param(
            ["compare", str(SAMPLE), ""], "the path is empty", id="nothing to compare with"
        ),
        pytest.param(["share", ""], "the path is empty", id="nothing to share"),
        pytest.param(["watch", "", "--once"], "the path is empty", id="nothing to watch"),
        pytest.param(["env", "-o", ""], "the path is empty", id="a dump to nowhere"),
        pytest.param(["analyze", "-", "-"], "named more than once", id="standard input twice"),
        pytest.param(
            ["analyze", "-", "--env", "-"],
            "named more than once",
            id="standard input as log and dump",
        ),
        pytest.param(
            ["compare", "-", "-"], "named more than once", id="standard input against itself"
        ),
        pytest.param(
            ["watch", str(SAMPLE), "--once", "--webhook", "http://user:hunter2@169.254.169.254/x"],
            "link-local",
            id="a webhook among the machine's surroundings",
        ),
    ],
)
def test_a_wrong_call_is_one_line_and_status_2(
    command: list[str], arguments: list[str], says: str
) -> None:
    """What, where, and how to mend."""
    done = run(command, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "hunter2" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def shell(
    command: list[str], script: str, *arguments: object, cwd: Path
) -> subprocess.CompletedProcess[str]:
    """Run a shell script in which `pm` is the program, `$1`, `$2` … are the arguments.

    Bytecode is not written, since a full disk would cut it short.
    """
    program = " ".join(map(shlex.quote, command))
    return subprocess.run(
        ["sh", "-c", f'pm() {{ {program} "$@"; }}; {script}', "sh", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=cwd,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )


@pytest.mark.parametrize(
    ("script", "status", "says"),
    [
        pytest.param(
            "pm analyze $1 >/dev/full",
            2,
            "standard output cannot be written: No space left on device",
            id="a full standard output",
        ),
        pytest.param(
            "pm analyze $1 >&-",
            2,
            "standard output cannot be written: it is closed",
            id="a closed standard output",
        ),
        pytest.param(
            "pm analyze $1 --format json >&-", 2, "it is closed", id="the same for programs"
        ),
        pytest.param("pm schema >/dev/full", 2, "No space left", id="the schema"),
        pytest.param("pm patterns list >&-", 2, "it is closed", id="the rules"),
        pytest.param("pm env >/dev/full", 2, "No space left", id="the dump"),
        pytest.param("pm share $1 >/dev/full", 2, "No space left", id="a part of a log"),
        pytest.param("pm compare $1 $1 >/dev/full", 2, "No space left", id="a comparison"),
        pytest.param("pm watch --once $1 >/dev/full", 2, "No space left", id="a watch"),
        pytest.param("pm --help >/dev/full", 2, "No space left", id="the manual"),
        pytest.param("pm --version >&-", 2, "it is closed", id="the version"),
        pytest.param(
            "pm analyze - <&-", 2, "standard input is closed", id="a closed standard input"
        ),
        pytest.param(
            "pm analyze $1 -o report.json <&- >&-",
            0,
            "wrote report.json",
            id="streams that are not needed",
        ),
        pytest.param(
            "pm analyze $1 --exit-code >/dev/full",
            2,
            "No space left",
            id="a failure to tell is no verdict",
        ),
        pytest.param("pm analyze nowhere 2>&-", 2, "", id="a closed standard error"),
        pytest.param("pm analyze nowhere 2>/dev/full", 2, "", id="a full standard error"),
        pytest.param(
            "pm analyze $1 --exit-code <&- 2>&- >report.txt",
            1,
            "",
            id="the status without a standard error",
        ),
        pytest.param("pm analyze nowhere >&- 2>&- <&-", 2, "", id="all closed"),
    ],
)
def test_standard_streams_that_are_closed_or_full(
    tmp_path: Path, command: list[str], script: str, status: int, says: str
) -> None:
    """One line says what is wrong, and the status tells it too."""
    done = shell(command, script, SAMPLE, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (status, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == bool(says)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("analyze $1 --full --exit-code", 1),
        ("analyze $1 --format html", 0),
        ("patterns list", 0),
        ("schema", 0),
        ("watch --once $1", 1),
    ],
)
def test_a_reader_that_has_seen_enough(
    tmp_path: Path, command: list[str], words: str, status: int
) -> None:
    """`| head -1` is no error: nothing is said, and the status is the usual one."""
    done = shell(
        command, f"{{ pm {words}; echo $? >status; }} | head -1 >seen", SAMPLE, cwd=tmp_path
    )
    assert done.stderr == ""
    assert (tmp_path / "status").read_text() == f"{status}\n"
    assert len((tmp_path / "seen").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    "words", ["analyze $1 -o $2", "compare $1 $1 -o $2", "share $1 -o $2", "env -o $2"]
)
def test_a_full_disk_leaves_the_old_report(tmp_path: Path, command: list[str], words: str) -> None:
    """What was written before is not lost for what cannot be written now.

    Nothing is left beside it.
    """
    report = tmp_path / "report.html"
    report.write_text("the old one")
    done = shell(command, f"ulimit -f 0; pm {words}", SAMPLE, report, cwd=tmp_path)
    assert (done.returncode, report.read_text()) == (2, "the old one")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [report]


def test_a_report_into_standard_output_by_name(tmp_path: Path, command: list[str]) -> None:
    """/dev/stdout is where standard output stands: what is in the file already stays."""
    done = shell(
        command,
        "echo before >all; pm analyze $1 --format json -o /dev/stdout >>all; pm analyze $1 --format json -o /dev/stdout | wc -l",
        SAMPLE,
        cwd=tmp_path,
    )
    first, _, rest = (tmp_path / "all").read_text().partition("\n")
    assert first == "before"
    assert cause(rest) == "numerics.loss-scale-exhausted"
    assert int(done.stdout.split()[-1]) > 0


def test_a_folder_without_logs_is_refused(tmp_path: Path, command: list[str]) -> None:
    """It says that nothing there is a log."""
    (tmp_path / "weights.pt").write_bytes(b"\x00\x01")
    done = run(command, "analyze", str(tmp_path))
    assert done.returncode == 2
    assert "holds no logs" in done.stderr


@pytest.mark.skipif(
    not Path("/proc/self/mem").exists(),
    reason="needs a file that nobody can read, such as Linux's /proc/self/mem",
)
def test_an_unreadable_file_is_refused(command: list[str]) -> None:
    """A file that cannot be read is a clear error, not a crash."""
    done = run(command, "analyze", "/proc/self/mem")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be read" in done.stderr


def test_exit_code_tells_alarm_from_health(tmp_path: Path, command: list[str]) -> None:
    """With --exit-code 1 for a failure, 0 for a healthy run."""
    healthy = tmp_path / "ok.log"
    healthy.write_text(
        "".join(
            f"{{'loss': {3 - i / 30:.4f}, 'grad_norm': 1.{i:03d}, 'learning_rate': {5e-5 - i * 5e-7:.8g}, 'epoch': {i / 50:.2f}}}\n"
            for i in range(50)
        )
        + "{'train_runtime': 812.4, 'train_samples_per_second': 3.7, 'train_steps_per_second': 0.46, 'train_loss': 2.1, 'epoch': 1.0}\n"
    )
    assert run(command, "analyze", str(SAMPLE), "--exit-code").returncode == 1
    assert run(command, "analyze", str(healthy), "--exit-code").returncode == 0


def test_a_pipe_gets_plain_text(command: list[str]) -> None:
    """No escape codes where nobody could see colours."""
    done = run(command, "analyze", str(SAMPLE))
    assert "\x1b" not in done.stdout
    assert "numerics.loss-scale-exhausted" in done.stdout


def test_the_page_lands_in_the_file(tmp_path: Path, command: list[str]) -> None:
    """-o with .html writes the page, in Chinese if asked."""
    page = tmp_path / "report.html"
    done = run(command, "analyze", str(SAMPLE), "-o", str(page), "--lang", "zh")
    assert (done.returncode, done.stdout) == (0, "")
    assert '<html lang="zh' in page.read_text(encoding="utf-8")


def test_analyze_needs_neither_torch_nor_scikit_learn(command: list[str]) -> None:
    """A report of any form is made without importing them."""
    code = (
        f"import sys, postmortem; report = postmortem.analyze({str(SAMPLE)!r}); [report.render(form) for form in ('terminal', 'html', 'json', 'markdown')];"
        "print([name for name in ('torch', 'sklearn', 'pydantic', 'numpy') if name in sys.modules])"
    )
    assert run([command[0]], "-c", code).stdout.strip() == "[]"


def test_run_passes_output_and_status_through(tmp_path: Path, command: list[str]) -> None:
    """The command's output is its own, its status too; the report goes to standard error."""
    kept = tmp_path / "kept.log"
    script = "import sys; print('to stdout'); sys.exit('ModuleNotFoundError: No module named \\'flash_attn\\'')"
    done = run(command, "run", "--log", str(kept), "--", sys.executable, "-c", script)
    assert (done.returncode, done.stdout) == (1, "to stdout\n")
    assert "environment.missing-package" in done.stderr
    assert "to stdout" in kept.read_text()


def test_run_dumps_the_commands_own_interpreter(tmp_path: Path, command: list[str]) -> None:
    """The packages that count are those of the training's Python, not those of the program's."""
    import venv

    venv.create(tmp_path / "venv")
    other = tmp_path / "venv" / "bin" / "python"
    done = run(
        command,
        "run",
        "--format",
        "json",
        "--",
        str(other),
        "-c",
        "import flash_attn",
        cwd=tmp_path,
    )
    packages = json.loads(done.stderr[done.stderr.index("{") :])["environment"]["packages"]
    assert "pydantic" not in packages


def test_run_is_silent_after_success(tmp_path: Path, command: list[str]) -> None:
    """Nothing is added to a run that succeeded, and nothing is left behind."""
    done = run(command, "run", "--", sys.executable, "-c", "print('fine')", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")
    assert list(tmp_path.iterdir()) == []


def test_run_reports_a_killed_command_like_a_shell(tmp_path: Path, command: list[str]) -> None:
    """128 + the signal's number, the signal is evidence, and the run has failed."""
    script = "import os, signal; print('step 1 loss 2.0', flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    done = run(command, "run", "--format", "json", "--", sys.executable, "-c", script, cwd=tmp_path)
    assert done.returncode == 128 + signal.SIGKILL
    report = json.loads(done.stderr[done.stderr.index("{") :])
    assert (
        report["environment"]["signal"],
        report["environment"]["exit_status"],
        report["outcome"],
    ) == ("SIGKILL", 137, "failed")
    kept = list(tmp_path.glob("postmortem-run-*.log"))
    assert [path.read_text() for path in kept] == ["step 1 loss 2.0\n"]


def test_run_keeps_the_status_whatever_becomes_of_the_report(
    tmp_path: Path, command: list[str]
) -> None:
    """A report that cannot be written does not hide how the command ended."""
    done = run(
        command,
        "run",
        "-o",
        str(tmp_path / "r.json"),
        "--",
        sys.executable,
        "-c",
        f"import pathlib, sys; pathlib.Path({str(tmp_path / 'r.json')!r}).mkdir(); sys.exit(3)",
        cwd=tmp_path,
    )
    assert done.returncode == 3


@pytest.mark.parametrize(
    "options",
    [["-o", "/nonexistent/r.html"], ["-o", "report.pdf"], ["--patterns", "/nonexistent"]],
    ids=["no folder", "no format", "no rules"],
)
def test_run_finds_a_wrong_option_before_the_training(
    tmp_path: Path, command: list[str], options: list[str]
) -> None:
    """Hours of training are not spent before a wrong path is named."""
    done = run(
        command, "run", *options, "--", sys.executable, "-c", "print('trained')", cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (2, "")


def test_run_does_not_wait_for_what_the_command_left_behind(
    tmp_path: Path, command: list[str]
) -> None:
    """A background process that holds the pipes open does not hold the report back."""
    done = run(command, "run", "--", "sh", "-c", "sleep 60 & exit 5", cwd=tmp_path)
    assert done.returncode == 5


def test_no_report_overwrites_a_log(tmp_path: Path, command: list[str]) -> None:
    """Neither -o nor --log goes over a file that is there."""
    log = tmp_path / "run.log"
    log.write_bytes(SAMPLE.read_bytes())
    assert run(command, "analyze", str(log), "-o", str(log)).returncode == 2
    assert run(command, "run", "--log", str(log), "--", sys.executable, "-c", "1").returncode == 2
    assert run(command, "share", str(log), "-o", str(log)).returncode == 2
    assert run(command, "compare", str(SAMPLE), str(log), "-o", str(log)).returncode == 2
    assert log.read_bytes() == SAMPLE.read_bytes()


def test_run_refuses_a_command_that_is_not_there(tmp_path: Path, command: list[str]) -> None:
    """A command that cannot be started is a clear error."""
    done = run(command, "run", "--", "no-such-program-here", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot be started" in done.stderr


def test_the_dump_is_read_back(tmp_path: Path, command: list[str]) -> None:
    """What `env` writes, `analyze --env` reads; secrets stay out."""
    dump = tmp_path / "env.txt"
    assert (
        run(command, "env", "-o", str(dump), env={"HF_TOKEN": "hf_secretsecretsecret"}).returncode
        == 0
    )
    assert "hf_secret" not in dump.read_text()
    report = json.loads(
        run(command, "analyze", str(SAMPLE), "--env", str(dump), "--format", "json").stdout
    )
    assert report["environment"]["python"].startswith(
        f"{sys.version_info[0]}.{sys.version_info[1]}"
    )
    assert [source["kind"] for source in report["sources"]] == ["log", "environment"]


def test_patterns_check_lists_every_fault(tmp_path: Path, command: list[str]) -> None:
    """All faults of a user's folder at once, each with its place and how to mend it."""
    folder = tmp_path / "signatures" / "mine"
    folder.mkdir(parents=True)
    (folder / "one.yaml").write_text(
        "id: mine.one\ntitle: {en: one, zh: 一}\nanchors: ['abc']\nmatch: '((((('\nrole: cause\nsuggests: {no.such: strong}\n"
        "examples:\n  fires: [{text: abc}]\n  silent: [{text: x, because: other}]\n",
        encoding="utf-8",
    )
    done = run(command, "patterns", "check", str(tmp_path))
    assert done.returncode == 2
    assert done.stdout.count("error: ") >= 2
    assert "one.yaml:1" in done.stdout
    assert "mend: " in done.stdout


def test_patterns_check_refuses_what_is_slow_or_looks_at_ordinary_lines(
    tmp_path: Path, command: list[str]
) -> None:
    """A pattern that backtracks and an anchor of metric lines are faults of a user's rule.

    Without the attack the second alone is.
    """
    folder = tmp_path / "signatures" / "mine"
    folder.mkdir(parents=True)
    (folder / "one.yaml").write_text(
        "id: mine.one\ntitle: {en: one, zh: 一个}\nanchors: ['Epoch(train) ']\nmatch: '(?=\\w)(?:\\w+ ?)+ no such'\nrole: warning\n"
        "examples:\n  fires: [{text: 'Epoch(train) never ended no such'}]\n  silent: [{text: x, because: other}]\n",
        encoding="utf-8",
    )
    done = run(command, "patterns", "check", str(tmp_path))
    assert done.returncode == 2
    assert "`match` is slow" in done.stdout
    assert "stands in vain" in done.stdout
    quick = run(command, "patterns", "check", "--no-attack", str(folder / "one.yaml"))
    assert "`match` is slow" not in quick.stdout
    assert "stands in vain" in quick.stdout


def test_the_schema_is_printed(command: list[str]) -> None:
    """`schema` prints a JSON Schema."""
    jsonschema.Draft202012Validator.check_schema(json.loads(run(command, "schema").stdout))


def test_compare_and_share_write_their_texts(command: list[str], tmp_path: Path) -> None:
    """Both print to standard output or a file.

    They refuse what they cannot read with one line and status 2.
    """
    done = run(command, "compare", str(SAMPLE), str(SAMPLE), "--format", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["only_bad"] == []
    done = run(command, "share", str(SAMPLE), "-o", str(tmp_path / "issue.md"))
    assert done.returncode == 0
    assert " lines" in done.stderr
    again = json.loads(
        run(command, "analyze", str(tmp_path / "issue.md"), "--format", "json").stdout
    )
    assert (
        again["verdict"]["cause"]
        == json.loads(run(command, "analyze", str(SAMPLE), "--format", "json").stdout)["verdict"][
            "cause"
        ]
    )
    for arguments in (
        ["compare", str(SAMPLE), "-"],
        ["share", "-"],
        ["share", str(tmp_path / "none.log")],
    ):
        refused = run(command, *arguments)
        assert refused.returncode == 2


def test_a_reading_that_takes_time_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal, after a second; the line is wiped, a last one stays.

    Names cannot steer the terminal.
    """
    times = iter([0.0, 0.5, 2.0, 2.1, 3.0, 4.0])
    monkeypatch.setattr(shown.time, "monotonic", lambda: next(times))
    monkeypatch.setattr(shown.sys.stderr, "isatty", lambda: True, raising=False)
    with closing(shown.ProgressLine()) as progress:
        progress("run\x1b[2J.log", 10_000_000, 1000)
        progress("run\x1b[2J.log", 400_000_000, 4_000_000)
        progress("run\x1b[2J.log", 410_000_000, 4_100_000)
    said = capsys.readouterr().err
    assert "400.0 MB, 4,000,000 lines, 200 MB/s" in said
    assert said.count("MB/s") == 1
    assert "\x1b" not in said
    assert progress.summary(postmortem.analyze(SAMPLE), 7).endswith("lines, 7 rules, 3.00 s")


def test_a_quick_reading_says_nothing(command: list[str]) -> None:
    """Into a pipe, the standard error of a short run is empty."""
    assert run(command, "analyze", str(SAMPLE)).stderr == ""
