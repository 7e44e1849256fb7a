"""SARIF: valid against its schema, the real lines, the same fingerprint for the same failure.

`tests/data/sarif-2.1.0.schema.json` is the schema of the OASIS standard as `@microsoft/jest-sarif`
ships it.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import postmortem
from postmortem.core.diagnosis import Diagnosis
from postmortem.report.sarif import FINGERPRINT, render_sarif
from tests.report.samples import TOKEN, abstaining, hostile, rich

SCHEMA = json.loads(
    (Path(__file__).parents[1] / "data" / "sarif-2.1.0.schema.json").read_text(encoding="utf-8")
)
ROOT = Path(__file__).resolve().parents[2]


def run_of(diagnosis: Diagnosis, *, redact: bool = True) -> dict[str, Any]:
    """The one run of the log, validated."""
    log = json.loads(render_sarif(diagnosis, redact=redact))
    jsonschema.Draft4Validator(
        SCHEMA, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER
    ).validate(log)
    run: dict[str, Any] = log["runs"][0]
    return run


@pytest.mark.parametrize(
    "diagnosis",
    [rich("en"), rich("zh"), abstaining(), hostile()],
    ids=["rich", "Chinese", "abstaining", "hostile"],
)
def test_it_is_valid(diagnosis: Diagnosis) -> None:
    """Whatever the log says."""
    assert run_of(diagnosis)["results"]


@pytest.mark.parametrize(
    "sample",
    ["xtuner/nan-internlm2.log", "pytorch/job-tree-keyerror-0", "pytorch/healthy-resumed-0.log"],
)
def test_real_reports_are_valid_and_point_to_their_lines(sample: str) -> None:
    """The first result is the verdict; its place is the first failure, with the log's own line."""
    report = postmortem.analyze(ROOT / "sample_logs" / sample)
    result = run_of(report.diagnosis, redact=False)["results"][0]
    assert result["ruleId"] == report.verdict.cause
    assert result["kind"] == (
        "pass" if str(report.verdict.cause).startswith("healthy.") else "fail"
    )
    first = report.diagnosis.first_failure
    if first is not None:
        place = result["locations"][0]["physicalLocation"]
        line = (
            Path(report.diagnosis.sources[first.source].path)
            .read_text(encoding="utf-8")
            .split("\n")[first.line - 1]
        )
        assert place["region"]["startLine"] == first.line
        assert place["region"]["snippet"]["text"].strip()[:60] in line


def test_an_abstention_is_open() -> None:
    """No result fails, none has a level."""
    assert {(one["kind"], one["level"]) for one in run_of(abstaining())["results"]} == {
        ("open", "none")
    }


def test_secrets_are_hidden() -> None:
    """Unless asked otherwise."""
    assert TOKEN not in render_sarif(rich("en"))


def test_the_fingerprint_knows_no_line_numbers() -> None:
    """The same evidence on other lines has the same fingerprint, another cause another one."""
    one = rich("en")
    moved = replace(
        one,
        causes=tuple(
            replace(
                cause,
                evidence=tuple(
                    replace(item, line=item.line + 7 if item.line else None)
                    for item in cause.evidence
                ),
            )
            for cause in one.causes
        ),
    )
    first, second = (run_of(diagnosis)["results"] for diagnosis in (one, moved))
    assert (
        first[0]["partialFingerprints"][FINGERPRINT]
        == second[0]["partialFingerprints"][FINGERPRINT]
    )
    assert len({result["partialFingerprints"][FINGERPRINT] for result in first}) == len(first)
