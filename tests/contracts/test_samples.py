"""Every sample log gives the verdict of its label, and its label can be trusted."""

from pathlib import Path

import pytest
import yaml

import postmortem
from postmortem.knowledge.base import load

ROOT = Path(__file__).resolve().parents[2]
LABELS = sorted(path for path in (ROOT / "sample_logs").rglob("*.yaml") if "lab" not in path.parts)
CASES = {str(path.relative_to(ROOT / "sample_logs").with_suffix("")): path for path in LABELS}

FIRST_FIXES = {
    "transformers-trainer/fp16-overflow-minicpmv": ("float32|fp32", "clip", "rate", "scal"),
    "xtuner/nan-internlm2": ("rate", "bf16|bfloat16", "clip", "data|sample"),
    "transformers-trainer/eval-nan-glm4": ("2\\.4\\.1", "check which cuda", "checkpointing|adafactor|deepspeed", "rate|clip"),
    "transformers-trainer/untrained-rows-gemma": ("float32|fp32", "random", "grad|norm", "rate"),
    "deepspeed/scale-exhausted-yi": ("row", "float32|fp16 off|fp32", "rate|clip", "chat"),
}


def analysed(path: Path, language: str = "en") -> postmortem.Report:
    """Analyse a sample with its environment dump."""
    dump = path.with_suffix(".env")
    return postmortem.analyze(path.with_suffix(".log"), env=[dump] if dump.exists() else [], language=language)


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_named_cause_comes_first(name: str) -> None:
    """The verdict is the label's cause or one that is right as well, never one of `not`."""
    label = yaml.safe_load(CASES[name].read_text(encoding="utf-8"))
    report = analysed(CASES[name])
    assert report.verdict.cause in {label["cause"], *label["also"]}
    assert report.causes[0].id not in label["not"]


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_label_agrees_with_taxonomy_and_log(name: str) -> None:
    """Its causes exist, its signature line stands in the log, and it says how the log was made."""
    label = yaml.safe_load(CASES[name].read_text(encoding="utf-8"))
    assert {label["cause"], *label["also"], *label["not"]} <= set(load().causes)
    assert label["signature"] in CASES[name].with_suffix(".log").read_text(encoding="utf-8")
    assert label["how"].startswith("python sample_logs/lab/")
    assert isinstance(label["composed"], bool)


@pytest.mark.parametrize("name", sorted(FIRST_FIXES))
def test_the_founding_fixes_are_there(name: str) -> None:
    """The fixes that each founding scenario must name stand among its first ones, with the user's numbers and never bf16 on a V100."""
    import re

    cause = analysed(CASES[name]).causes[0]
    titles = [fix.title.lower() + " " + fix.why.lower() for fix in cause.fixes[:4]]
    missing = [wanted for wanted in FIRST_FIXES[name] if not any(re.search(wanted, title) for title in titles)]
    assert not missing, titles
    if "minicpmv" in name or "yi" in name:
        assert not [fix.id for fix in cause.fixes if re.search(r"bf16\s*[=:]?\s*true|--bf16(?! false)", fix.snippet, re.IGNORECASE)]


def test_the_next_suspect_is_named_with_what_would_separate_it() -> None:
    """Where two causes fit (fp16 overflow or divergence), the report says what would tell them apart."""
    verdict = analysed(CASES["xtuner/nan-internlm2"]).verdict
    assert any("rate" in sentence.lower() or "divergence" in sentence.lower() for sentence in verdict.would_change)


def test_chinese_reports_are_chinese() -> None:
    """Title, summary, explanation and fixes come in the language that was asked for."""
    report = analysed(CASES["deepspeed/scale-exhausted-yi"], "zh")
    texts = [report.causes[0].title, report.verdict.summary, report.causes[0].explanation, *(fix.title for fix in report.causes[0].fixes)]
    assert all(any("一" <= char <= "鿿" for char in text) for text in texts)
