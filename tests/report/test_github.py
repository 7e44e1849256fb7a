"""Workflow commands: at most three, the right place, and no command that the log has slipped in."""

import re

import pytest

from postmortem.core.diagnosis import Diagnosis
from postmortem.report.github import render_github
from tests.report.samples import abstaining, hostile, rich

COMMAND = re.compile(
    r"::(?P<level>error|warning|notice) (?P<properties>(?:[a-z]+=[^:,]*)(?:,[a-z]+=[^:,]*)*)::(?P<message>[^\r\n]*)"
)


@pytest.mark.parametrize(
    "diagnosis",
    [rich("en"), rich("zh"), abstaining(), hostile()],
    ids=["rich", "Chinese", "abstaining", "hostile"],
)
def test_every_line_is_one_command(diagnosis: Diagnosis) -> None:
    """No line break, comma or colon of the log ends a command or a property."""
    lines = render_github(diagnosis).removesuffix("\n").split("\n")
    assert 1 <= len(lines) <= 3
    assert all(COMMAND.fullmatch(line) for line in lines), lines


def test_the_verdict_stands_on_the_line_of_the_failure() -> None:
    """The first command is an error there, the others are notices."""
    diagnosis = rich("en")
    assert diagnosis.first_failure is not None
    first, *others = render_github(diagnosis, redact=False).splitlines()
    assert first.startswith("::error ")
    assert f",line={diagnosis.first_failure.line}," in first
    assert all(line.startswith("::notice ") for line in others)


def test_an_abstention_warns() -> None:
    """It fails no build, and says what to send."""
    assert all(line.startswith("::warning ") for line in render_github(abstaining()).splitlines())
