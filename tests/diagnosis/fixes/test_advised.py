"""Fixes out of known defects: first where the defect is strong evidence, else behind the first."""

from dataclasses import replace

import pytest

from postmortem.core.answer import Cause, Evidence, Fix
from postmortem.core.findings import NOWHERE, Traceback
from postmortem.core.message import Message, quote
from postmortem.diagnosis.fixes.select import add_advisory_fixes
from postmortem.rules.base import load
from tests.diagnosis.fixes.runs import case

ADVISORIES = load().advisories
OTHERS = tuple(
    Fix(name, "check", quote(name), quote(""), quote(name), "bash", "safe") for name in ("a", "b")
)
EVALUATION, SDPA, MASK = "torch.2-5-0-eval-nan", "torch.2-5-0-sdpa", "torch.2-1-sdpa-mask"


def cause(
    evidence: list[Evidence[Message]], fixes: tuple[Fix[Message], ...] = (), name: str = "numerics"
) -> Cause[Message]:
    """A cause with its evidence and fixes."""
    return Cause(name, "", quote(name), 0.9, quote(""), tuple(evidence), fixes, 1.0, quote(""))


def shown(*known: tuple[str, float]) -> list[str]:
    """The ids of the fixes of a cause for which these advisories speak."""
    evidence = [
        Evidence("advisory", name, "advisory", quote(name), weight) for name, weight in known
    ]
    run = case(packages={"torch": "2.5.0+cu124"})
    return [fix.id for fix in add_advisory_fixes(cause(evidence, OTHERS), ADVISORIES, run)]


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        pytest.param([], ["a", "b"], id="none"),
        pytest.param([(EVALUATION, 3.0)], [f"advisory.{EVALUATION}", "a", "b"], id="strong"),
        pytest.param([(MASK, 0.7)], ["a", f"advisory.{MASK}", "b"], id="weak"),
        pytest.param(
            [(EVALUATION, 3.0), (SDPA, 3.0)],
            [f"advisory.{EVALUATION}", "a", "b"],
            id="two that one version mends",
        ),
        pytest.param(
            [(EVALUATION, 3.0), (MASK, 0.7)],
            [f"advisory.{EVALUATION}", "a", f"advisory.{MASK}", "b"],
            id="both",
        ),
    ],
)
def test_a_known_defect_stands_where_its_weight_puts_it(
    known: list[tuple[str, float]], expected: list[str]
) -> None:
    """Strong evidence decides: what mends it comes before everything else."""
    assert shown(*known) == expected


def test_it_is_the_line_for_pip_with_the_users_own_cuda() -> None:
    """Title, command and references are those of the advisory."""
    evidence = [Evidence("advisory", EVALUATION, "advisory", quote(""), 3.0)]
    run = case(packages={"torch": "2.5.0+cu124"})
    fix = add_advisory_fixes(cause(evidence), ADVISORIES, run)[0]
    assert fix.title.en.startswith("Install torch 2.4.1 or 2.5.1")
    assert fix.title.zh.startswith("安装 torch 2.4.1 或 2.5.1")
    assert fix.snippet.en == (
        "python -m pip install torch==2.4.1 torchvision==0.19.1"
        " --index-url https://download.pytorch.org/whl/cu124"
    )
    assert fix.references


def test_a_defect_that_no_version_mends_has_no_command() -> None:
    """It says what avoids it."""
    name = "deepspeed.zero2-overlap-comm"
    evidence = [Evidence("advisory", name, "advisory", quote(""), 1.6)]
    run = replace(case(packages={"deepspeed": "0.15.4"}))
    fix = add_advisory_fixes(cause(evidence), ADVISORIES, run)[0]
    assert (fix.snippet.en, "overlap_comm" in fix.title.en) == ("", True)


@pytest.mark.parametrize(
    ("message", "packages", "expected"),
    [
        pytest.param(
            "module 'distutils' has no attribute 'version'",
            {},
            ["advisory.torch.before-1-11-setuptools", "a", "b"],
            id="its message, no version",
        ),
        pytest.param(
            "module 'distutils' has no attribute 'version'",
            {"torch": "2.1.0"},
            ["a", "b"],
            id="a version that has not got it",
        ),
        pytest.param("module 'torch' has no attribute 'x'", {}, ["a", "b"], id="another message"),
    ],
)
def test_a_message_tells_a_defect_whose_versions_are_unknown(
    message: str, packages: dict[str, str], expected: list[str]
) -> None:
    """The condition stands in the title."""
    run = case(packages=packages)
    raised = Traceback("AttributeError", message, (), 0, NOWHERE, 1, 2, 2, 0, 1)
    run = replace(run, tracebacks=(raised,))
    told = cause([], OTHERS, "environment.version-incompatible")
    fixes = add_advisory_fixes(told, ADVISORIES, run)
    assert [fix.id for fix in fixes] == expected
    if len(expected) > 2:
        assert fixes[0].title.en.startswith("With torch < 1.11, setuptools >= 59.6: setuptools 59")
        assert fixes[0].snippet.en == "python -m pip install setuptools==59.5.0"
