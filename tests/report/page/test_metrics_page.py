"""The page of an evaluation: whole, in both languages, harmless whatever a label says."""

import json
import re

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from postmortem.learn.evaluating import JudgedCase
from postmortem.learn.metrics import build_evaluation
from postmortem.report.evaluation_tables import EVALUATION
from postmortem.report.page.metrics_page import render_evaluation
from postmortem.report.terminal.summary_tables import render_evaluation_text
from postmortem.report.wire import read_schema
from tests.report.page.test_html import Page

HOSTILE = "<script>alert(1)</script>\x1b[31m"
TOOL = {"version": "1", "knowledge_base": "2", "classifier": None}


def rows() -> list[JudgedCase]:
    """Cases of three causes, judged in three ways, one of them without probabilities."""
    found = []
    for number in range(30):
        cause = ("io.storage", "config.rl", HOSTILE)[number % 3]
        for way, gap in (("rules", 5), ("all", 9), ("grep", 2)):
            first = cause if number % gap else "memory.cuda-oom"
            found.append(
                JudgedCase(
                    way,
                    cause,
                    frozenset({cause}),
                    is_held_out=number > 25,
                    first=first,
                    three=(first,),
                    verdict=None if number % 7 == 3 else first,
                    probability=None if way == "grep" else 0.3 + number / 50,
                    source=("samples", "public", HOSTILE)[number % 3],
                )
            )
    return found


@pytest.fixture(scope="module")
def value() -> dict[str, object]:
    """An evaluation, as its JSON is read back."""
    told: dict[str, object] = json.loads(json.dumps(build_evaluation(rows(), TOOL)))
    return told


def test_its_json_has_its_schema(value: dict[str, object]) -> None:
    """Whatever ways there are."""
    Draft202012Validator(json.loads(read_schema("evaluation"))).validate(value)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_is_whole(value: dict[str, object], language: str) -> None:
    """Both languages, unique ids, links within; charts have a title and say what they show."""
    text = render_evaluation(value, language=language)
    page = Page(text)
    ids = page.of("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in page.of("href") if link.startswith("#")} <= {*ids}
    for told in EVALUATION.values():
        assert told["title"] in page.text
        assert told["reliability.note"] in page.text
    assert text.count('<svg class="chart"') == 2 * (2 + 1)
    assert {one for pair in page.of("aria-labelledby") for one in pair.split()} <= {*ids}


def test_no_label_steers_a_page_or_a_terminal(value: dict[str, object]) -> None:
    """Names of causes and sources come from files."""
    page = render_evaluation(value)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    for language in ("en", "zh"):
        text = render_evaluation_text(value, language=language)
        assert "\x1b" not in text + page
        assert re.search(r"0\.\d{3}–0\.\d{3}", text)


def test_both_languages_say_the_same_things() -> None:
    """No phrase is missing in one."""
    english, chinese = EVALUATION["en"], EVALUATION["zh"]
    assert english.keys() == chinese.keys()
    for key, phrase in english.items():
        assert set(re.findall(r"\{(\w+)", phrase)) == set(re.findall(r"\{(\w+)", chinese[key])), key
