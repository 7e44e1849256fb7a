"""A platform team teaches twelve logs of a new kind; eight others of it are named, nothing else is."""

from pathlib import Path

import pytest

import postmortem
from postmortem.core.resources import find_shipped_model
from postmortem.interfaces.cli import main
from postmortem.learn.labelled_logs import list_labelled_cases, record
from tests.learn.made_failures import CAUSE, failed, rules, sound, unreachable

pytest.importorskip("sklearn")
pytest.importorskip("safetensors")
SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"


@pytest.fixture(autouse=True)
def _shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package's model is the one that is taught."""
    monkeypatch.delenv("POSTMORTEM_MODEL", raising=False)


def run(*arguments: object) -> int:
    """Run the command line and give its exit status."""
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    return int(done.value.code or 0)


def verdict(text: str, folder: Path, **given: object) -> str | None:
    """The cause that is named for a log."""
    log = folder / "one.log"
    log.write_text(text)
    return postmortem.analyze(str(log), **given).verdict.cause  # type: ignore[arg-type]


def test_twelve_logs_are_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Labelled by one command, again without harm; taught twice, the bytes are the same.

    Sound runs and other failures of the same platform are not taken for it.
    """
    own, page = tmp_path / "own", rules(tmp_path / "rules")
    for number in range(12):
        log = tmp_path / f"job{number}.log"
        log.write_text(failed(number))
        record(log, CAUSE, [CAUSE], folder=own)
    assert run("label", log, CAUSE, "--to", own, "--patterns", page) == 0
    assert len(list_labelled_cases([own])) == 12
    models = [tmp_path / "first.safetensors", tmp_path / "second.safetensors"]
    for model in models:
        assert run("train", "--add", own, "-o", model, "--patterns", page) == 0
    first, second = (model.read_bytes() for model in models)
    assert first == second
    assert len(first) < 5e6
    capsys.readouterr()
    assert run("analyze", log, "--model", models[0]) == 0
    assert CAUSE in capsys.readouterr().err  # its page is missing: it is said so
    assert run("analyze", log, "--model", models[0], "--patterns", page, "--exit-code") == 1
    assert f"· {CAUSE}" in capsys.readouterr().out
    given = {"model": str(models[0]), "patterns": [str(page)]}
    assert [verdict(failed(number), tmp_path, **given) for number in range(12, 20)] == [CAUSE] * 8
    others = [*(sound(number) for number in range(30, 33)), *map(unreachable, range(40, 43))]
    assert CAUSE not in {verdict(text, tmp_path, **given) for text in others}
    for log in sorted(SAMPLES.glob("xtuner/*.log"))[:2]:
        taught = postmortem.analyze(str(log), model=str(models[0]), patterns=[str(page)])
        assert taught.verdict.cause == postmortem.analyze(str(log)).verdict.cause


def test_a_cause_that_is_known_learns_a_new_wording(tmp_path: Path) -> None:
    """With no page of its own."""
    own, model = tmp_path / "own", tmp_path / "own.safetensors"
    own.mkdir()
    for number in range(8):
        (own / f"job{number}.log").write_text(failed(number))
        (own / f"job{number}.yaml").write_text("cause: io.storage\n")
    assert run("train", "--add", own, "-o", model) == 0
    found = [verdict(failed(number), tmp_path, model=str(model)) for number in range(12, 20)]
    assert found.count("io.storage") >= 7


def test_there_must_be_something_to_learn_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Said in a line, with what to do; so is a label of a cause that there is not."""
    model = tmp_path / "own.safetensors"
    assert run("train", "-o", model) == 2
    assert "--add DIR" in capsys.readouterr().err
    (tmp_path / "one.log").write_text(failed(1))
    (tmp_path / "one.yaml").write_text(f"cause: {CAUSE}\n")
    assert run("train", "--add", tmp_path, "-o", model) == 2
    assert "--patterns" in capsys.readouterr().err
    assert not model.exists()


def test_the_package_has_a_model_to_teach() -> None:
    """Else `--add` has nothing to add to."""
    assert find_shipped_model() is not None
