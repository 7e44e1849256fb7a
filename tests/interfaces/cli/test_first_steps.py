"""What somebody meets who types the wrong thing first."""

from pathlib import Path

import pytest

from postmortem.interfaces.cli import main


def run(*arguments: object) -> int:
    """Run the command line and give its exit status."""
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    return int(done.value.code or 0)


def test_the_bare_name_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """As a manual, not as an error."""
    assert run() == 0
    printed = capsys.readouterr()
    assert "analyze" in printed.out
    assert printed.err == ""


def test_a_log_in_place_of_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command that was meant is told, with the options that were given."""
    log = tmp_path / "my run.log"
    log.write_text("loss 1\n")
    assert run(log, "--lang", "zh") == 2
    assert f"postmortem analyze '{log}' --lang zh" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "\n\n"], ids=["empty", "blank lines"])
def test_an_empty_log_is_not_judged(tmp_path: Path, content: str) -> None:
    """Exit status 0 would say that the run is well."""
    log = tmp_path / "run.log"
    log.write_text(content)
    assert run("analyze", log, "--exit-code") == 2
    assert run("analyze", log) == 2


@pytest.mark.parametrize(
    ("dump", "is_told"),
    [
        pytest.param("hello\n", True, id="nothing known"),
        pytest.param("torch==2.5.1\nnumpy==1.26.4\n", False, id="packages"),
        pytest.param("CUDA used to build PyTorch: 12.1\n", False, id="collect_env"),
    ],
)
def test_a_dump_without_a_fact_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dump: str, *, is_told: bool
) -> None:
    """Most likely another file was meant."""
    (tmp_path / "run.log").write_text("Traceback (most recent call last):\nKeyError: 'x'\n")
    (tmp_path / "env.txt").write_text(dump)
    run("analyze", tmp_path / "run.log", "--env", tmp_path / "env.txt", "--full")
    assert ("states nothing" in " ".join(capsys.readouterr().out.split())) == is_told


def test_a_folder_without_rules_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The analysis is made none the less."""
    (tmp_path / "run.log").write_text("CUDA out of memory. Tried to allocate 2.00 GiB\n")
    (tmp_path / "rules").mkdir()
    assert run("analyze", tmp_path / "run.log", "--patterns", tmp_path / "rules") == 0
    assert "no rule lies in" in capsys.readouterr().err
