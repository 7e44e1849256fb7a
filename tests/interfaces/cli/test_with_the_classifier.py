"""The way through `analyze` with the classifier that is shipped, as a user has it.

All other tests of rules leave it out (POSTMORTEM_MODEL in `conftest`).
"""

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from postmortem.interfaces.cli import main
from postmortem.report.wire import read_schema

SAMPLES = Path(__file__).resolve().parents[3] / "sample_logs"
NAMES = (
    "accelerate/loop-rate-too-high-0",
    "deepspeed/config-file-not-there-0",
    "deepspeed/rank0-evaluates-alone-0",
    "deepspeed/resume-nothing-there-0",
)
CARRIED = {"en": "words that carry it", "zh": "起作用的词"}


@pytest.fixture(autouse=True)
def _shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package's model is heard."""
    monkeypatch.delenv("POSTMORTEM_MODEL", raising=False)


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What the command line prints."""
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    assert not done.value.code
    return capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_cause_stands_and_its_words_are_named(
    name: str, language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the line of each, in both languages."""
    log = SAMPLES / f"{name}.log"
    cause = yaml.safe_load(log.with_suffix(".yaml").read_text(encoding="utf-8"))["cause"]
    text = printed(capsys, "analyze", log, "--full", "--lang", language)
    assert cause in text
    assert CARRIED[language] in text
    assert f"{log.name}:" in text.split(CARRIED[language], 1)[1]


@pytest.mark.parametrize("name", NAMES[:2])
def test_json_says_who_was_heard(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its digest; none with --no-model, and then no evidence of it."""
    log, schema = SAMPLES / f"{name}.log", json.loads(read_schema())
    for option, is_heard in (("--no-redact", True), ("--no-model", False)):
        report = json.loads(printed(capsys, "analyze", log, "--format", "json", option))
        Draft202012Validator(schema).validate(report)
        kinds = {item["kind"] for cause in report["causes"] for item in cause["evidence"]}
        assert ("classifier" in kinds) is is_heard
        assert (report["tool"]["classifier"] is not None) is is_heard


def test_what_is_kept_renders_as_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The words and their lines are kept with the analysis."""
    log, kept = SAMPLES / f"{NAMES[0]}.log", tmp_path / "run.analysis.json"
    printed(capsys, "analyze", log, "--format", "analysis", "-o", kept)
    for form in ("json", "markdown", "html"):
        direct = printed(capsys, "analyze", log, "--format", form)
        assert printed(capsys, "render", kept, "--format", form) == direct
