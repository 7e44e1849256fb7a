"""The founding scenarios give the verdict and the fixes of their labels.

Over all samples the figures do not fall.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import samples
import yaml

import postmortem

ROOT = Path(__file__).resolve().parents[2]
LABELS = [
    path
    for path in samples.labels_in(ROOT / "sample_logs")
    if ROOT / "sample_logs" / "lab" not in path.parents
]
CASES = {str(path.relative_to(ROOT / "sample_logs").with_suffix("")): path for path in LABELS}

FLOOR_RIGHT = 0.95
CEILING_FORBIDDEN = 0.02
FLOOR_JOBS = 0.9

FIRST_FIXES = {
    "transformers-trainer/fp16-overflow-minicpmv": ("float32|fp32", "clip", "rate", "scal"),
    "xtuner/nan-internlm2": ("rate", "bf16|bfloat16", "clip", "data|sample"),
    "transformers-trainer/eval-nan-glm4": (
        "2\\.4\\.1",
        "check which cuda",
        "checkpointing|adafactor|deepspeed",
        "rate|clip",
    ),
    "transformers-trainer/untrained-rows-gemma": ("float32|fp32", "random", "grad|norm", "rate"),
    "deepspeed/scale-exhausted-yi": ("row", "float32|fp16 off|fp32", "rate|clip", "chat"),
}


def analysed(path: Path, language: str = "en") -> postmortem.Report:
    """Analyse a sample with its environment dump."""
    dump = path.with_suffix(".env")
    env = [dump] if dump.exists() else []
    return postmortem.analyze(path.with_suffix(".log"), env=env).in_language(language)


@pytest.fixture(scope="session")
def judged() -> list[dict[str, Any]]:
    """Every case as a user would ask."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return list(pool.map(samples.judged, LABELS, chunksize=8))


def share(rows: list[dict[str, Any]], key: str) -> float:
    """The share of the rows of which it is true."""
    return sum(bool(row[key]) for row in rows) / len(rows)


@pytest.mark.parametrize("name", sorted(FIRST_FIXES))
def test_the_named_cause_comes_first(name: str) -> None:
    """The verdict on a founding scenario is its label's cause or one that is right as well.

    It is never one of `not`.
    """
    label = yaml.safe_load(CASES[name].read_text(encoding="utf-8"))
    report = analysed(CASES[name])
    assert report.verdict.cause in {label["cause"], *label["also"]}
    assert report.causes[0].id not in label["not"]


def test_the_samples_are_judged_rightly(judged: list[dict[str, Any]]) -> None:
    """The figures of `benchmarks/samples.py` do not fall.

    Verdicts, plainly wrong answers, first failures of jobs.
    """
    jobs = [row for row in judged if row["job"] and row["first"] is not None]
    assert share(judged, "right") >= FLOOR_RIGHT
    assert share(judged, "forbidden") <= CEILING_FORBIDDEN
    assert share(jobs, "first") >= FLOOR_JOBS


def test_pairs_are_told_apart(judged: list[dict[str, Any]]) -> None:
    """Of logs with the same last line the curve decides, of one log with two dumps the dump."""
    groups: dict[str, list[bool]] = {}
    for row in judged:
        if row["pair"]:
            groups.setdefault(row["pair"], []).append(row["right"])
    assert len(groups) >= 20
    assert sum(all(flags) for flags in groups.values()) >= 0.9 * len(groups)


@pytest.mark.parametrize("name", sorted(FIRST_FIXES))
def test_the_founding_fixes_are_there(name: str) -> None:
    """The fixes that each founding scenario must name stand among its first ones.

    They have the user's numbers, and are never bf16 on a V100.
    """
    import re

    cause = analysed(CASES[name]).causes[0]
    titles = [fix.title.lower() + " " + fix.why.lower() for fix in cause.fixes[:4]]
    missing = [
        wanted
        for wanted in FIRST_FIXES[name]
        if not any(re.search(wanted, title) for title in titles)
    ]
    assert not missing, titles
    if "minicpmv" in name or "yi" in name:
        assert not [
            fix.id
            for fix in cause.fixes
            if re.search(r"bf16\s*[=:]?\s*true|--bf16(?! false)", fix.snippet, re.IGNORECASE)
        ]


def test_the_next_suspect_is_named_with_what_would_separate_it() -> None:
    """Where two causes fit, the report says what would tell them apart.

    Such are an fp16 overflow and a divergence.
    """
    verdict = analysed(CASES["xtuner/nan-internlm2"]).verdict
    assert any(
        "rate" in sentence.lower() or "divergence" in sentence.lower()
        for sentence in verdict.would_change
    )


def test_chinese_reports_are_chinese() -> None:
    """Title, summary, explanation and fixes come in the language that was asked for."""
    report = analysed(CASES["deepspeed/scale-exhausted-yi"], "zh")
    texts = [
        report.causes[0].title,
        report.verdict.summary,
        report.causes[0].explanation,
        *(fix.title for fix in report.causes[0].fixes),
    ]
    assert all(any("一" <= char <= "鿿" for char in text) for text in texts)
