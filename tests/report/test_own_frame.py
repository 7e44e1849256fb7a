"""The user's own line that failed stands in every form of the report, with its statement."""

import json
from pathlib import Path

import pytest

import postmortem
from postmortem.report.assistant import build_answer

LOG = Path(__file__).parents[1] / "data" / "exceptions" / "raise-from.log"
FILE, LINE = "/home/ines/segm/raise_from.py", 5
STATEMENT = 'cfg["optim"]["weight_decay"]'


def shown(form: str) -> str:
    """The report of one log in a form, as a person or a program gets it."""
    report = postmortem.analyze(LOG)
    if form == "assistant":
        return build_answer(report.diagnosis, {}, redact=False).quoted
    return report.render(form, width=120, redact=False)


@pytest.mark.parametrize(
    ("form", "place", "has_statement"),
    [
        ("terminal", f"{FILE}:{LINE}", True),
        ("html", f"{FILE}:{LINE}", True),
        ("markdown", f"{FILE}:{LINE}", True),
        ("json", f'"file": "{FILE}"', True),
        ("github", f"file={FILE},line={LINE},", False),
        ("sarif", f"{FILE}:{LINE}", False),
        ("assistant", FILE, True),
    ],
)
def test_each_form_names_the_same_line(form: str, place: str, has_statement: object) -> None:
    """One projection feeds them all."""
    text = shown(form).replace('\\"', '"') if form == "json" else shown(form)
    assert place in text
    assert (STATEMENT in text.replace("&#34;", '"')) or not has_statement


def test_json_has_the_frame_by_itself() -> None:
    """A program reads it there."""
    frame = json.loads(shown("json"))["first_failure"]["frame"]
    assert frame == {
        "file": FILE,
        "line": LINE,
        "function": "build",
        "code": 'return cfg["optim"]["weight_decay"]',
    }
