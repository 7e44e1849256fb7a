"""`postmortem render`: any form of an analysis, as before, without the log."""

import gzip
from pathlib import Path

import pytest

from postmortem.interfaces.cli import main

SAMPLE = Path(__file__).resolve().parents[3] / "sample_logs" / "xtuner" / "nan-internlm2.log"


def run(*arguments: object) -> int:
    """Run the command line and give its exit status."""
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    return int(done.value.code or 0)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of its own, which can be deleted."""
    copy = tmp_path / "run.log"
    copy.write_bytes(SAMPLE.read_bytes())
    return copy


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(["-o", "{}.html"], id="page"),
        pytest.param(["-o", "{}.html", "--lang", "zh", "--no-redact"], id="page in Chinese"),
        pytest.param(["-o", "{}.md"], id="comment"),
        pytest.param(["-o", "{}.txt", "--lang", "zh"], id="terminal"),
        pytest.param(["-o", "{}.sarif"], id="SARIF"),
        pytest.param(["-o", "{}.json"], id="JSON"),
        pytest.param(["-o", "{}.out.json", "--format", "analysis"], id="the same again"),
    ],
)
def test_a_form_has_the_same_bytes_as_before(log: Path, tmp_path: Path, options: list[str]) -> None:
    """The analysis is written, the log deleted, the form rendered."""
    kept = tmp_path / "kept.json"
    first, second = (
        [option.format(tmp_path / name) for option in options] for name in ("before", "after")
    )
    assert run("analyze", log, *first) == 0
    assert run("analyze", log, "--format", "analysis", "-o", kept) == 0
    log.unlink()
    assert run("render", kept, *second) == 0
    assert Path(second[1]).read_bytes() == Path(first[1]).read_bytes()


def test_a_compressed_one_is_read(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a log is; the terminal report goes to standard output."""
    assert run("analyze", log, "--format", "analysis") == 0
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(capsys.readouterr().out.encode()))
    assert run("render", tmp_path / "a.json.gz") == 0
    assert capsys.readouterr().out.startswith("FAILED")


@pytest.mark.parametrize(
    ("content", "said"),
    [("{}", "it names no schema"), ("loss 3.0", "no JSON"), ("", "no JSON")],
)
def test_anything_else_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, said: str
) -> None:
    """With one line that says how to get an analysis, and exit status 2."""
    path = tmp_path / "a.json"
    path.write_text(content)
    assert run("render", path) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert said in shown.err
    assert "--format analysis" in shown.err


def test_the_analysis_is_not_written_over(log: Path, tmp_path: Path) -> None:
    """A slip of the hand loses nothing."""
    kept = tmp_path / "kept.json"
    assert run("analyze", log, "--format", "analysis", "-o", kept) == 0
    before = kept.read_bytes()
    assert run("render", kept, "-o", kept) == 2
    assert kept.read_bytes() == before


def test_an_analysis_is_kept_whole_and_says_so(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever asks for redaction is told what to redact; whoever keeps it, what it holds."""
    log.write_text(log.read_text() + "export HF_TOKEN=hf_" + "aB3" * 11 + "\n")
    kept = tmp_path / "kept.json"
    assert run("analyze", log, "--format", "analysis", "--redact", "-o", kept) == 2
    assert "postmortem render" in capsys.readouterr().err
    assert run("analyze", log, "--format", "analysis", "-o", kept) == 0
    assert "lines of the log as they are" in capsys.readouterr().err
    assert "aB3aB3" in kept.read_text()
    assert run("render", kept, "--format", "html") == 0
    assert "aB3aB3" not in capsys.readouterr().out
