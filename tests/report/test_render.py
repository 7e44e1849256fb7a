"""The forms together."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from postmortem import report
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.errors import UsageError
from postmortem.report import FORMS, SHOWN_FORMS, render
from tests.report.samples import TOKEN, abstaining, hostile, lifted, rich


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "one",
    [
        pytest.param(rich(), id="rich"),
        pytest.param(rich("zh"), id="Chinese"),
        pytest.param(abstaining("zh"), id="abstaining"),
        pytest.param(hostile(), id="hostile"),
    ],
)
def test_every_form_renders_everything(form: str, one: Diagnosis) -> None:
    """Each form gives text that ends in a line break and can be written as UTF-8.

    It is the same each time.
    """
    text = render(lifted(one), form, language=one.language)
    assert text.endswith("\n")
    assert text.encode("utf-8")
    assert render(lifted(one), form, language=one.language) == text


@pytest.mark.parametrize("form", SHOWN_FORMS)
def test_redaction_is_the_callers_choice(form: str) -> None:
    """With it no name is left in any form, without it the path is as it was."""
    assert "alice" not in render(lifted(rich()), form)
    assert TOKEN not in render(lifted(rich()), form)
    assert "/home/alice/runs" in render(lifted(rich()), form, redact=False)


@pytest.mark.parametrize("form", FORMS)
def test_no_form_lets_a_log_steer(form: str) -> None:
    """No escape, no override and no control character of a log reaches the output."""
    text = render(lifted(hostile()), form, redact=False)
    assert [
        hex(ord(char))
        for char in text
        if (ord(char) < 0x20 and char != "\n")
        or 0x7F <= ord(char) <= 0x9F
        or ord(char) in (0x202E, 0x202C)
    ] == []


def test_an_unknown_form_is_a_usage_error() -> None:
    """The message names the forms there are."""
    with pytest.raises(UsageError, match=", ".join(FORMS)):
        render(lifted(abstaining()), "pdf")


def test_no_form_costs_the_import_of_another() -> None:
    """JSON needs neither Rich nor Jinja."""
    script = "import sys; from postmortem.report import wire; print(sorted({'rich', 'jinja2'} & {name.partition('.')[0] for name in sys.modules}))"
    found = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(report.__file__).parents[2],
    )
    assert found.stdout.strip() == "[]"


def test_the_json_form_is_the_wire() -> None:
    """The form `json` is the contract's report."""
    assert json.loads(render(lifted(abstaining()), "json"))["schema"] == "postmortem.report/1"
