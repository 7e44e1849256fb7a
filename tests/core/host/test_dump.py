"""The environment dump never waits for long."""

from pathlib import Path

import pytest

from postmortem.core.host import dump


def _script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("exec sleep 600", "within 1 s", id="it hangs"),
        pytest.param("sleep 600 & wait", "within 1 s", id="what it has started hangs"),
        pytest.param(
            "trap '' TERM INT HUP; while true; do sleep 1; done",
            "within 1 s",
            id="it ignores being told",
        ),
        pytest.param("exit 3", "", id="it fails"),
    ],
)
def test_an_interpreter_that_gives_no_dump(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    """The rest of the dump is made, and a hanging one is said."""
    monkeypatch.setattr(dump, "_INTERPRETER_SECONDS", 1.0)
    made = dump.dump_for([_script(tmp_path / "python3", text), "train.py"])
    assert "OS: " in made.text
    assert problem in made.problem
    assert bool(problem) == bool(made.problem)


def test_a_driver_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The dump says so."""
    monkeypatch.setattr(dump, "_DRIVER_SECONDS", 1.0)
    _script(tmp_path / "nvidia-smi", "exec sleep 600")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert "nvidia-smi: no answer within 1 s" in dump.build_environment_dump()
