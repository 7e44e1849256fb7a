"""The page of a triage: whole, in both languages, harmless whatever names and messages say."""

import json
import re
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from postmortem.fleet.store.stored_rows import STATES
from postmortem.report.page.triage_cells import JOB_TABLE, TRIAGE
from postmortem.report.page.triage_page import STILL_ROWS, render_triage
from postmortem.report.wire import read_schema
from tests.report.page.test_html import Page
from tests.report.triage_samples import HOSTILE, a_hostile_triage, a_triage

DATA = re.compile(r'<script type="application/json" id="triage-data">(.*?)</script>', re.DOTALL)


@pytest.fixture(scope="module")
def value() -> dict[str, Any]:
    """A triage of more jobs than stand in the page without its script."""
    told: dict[str, Any] = json.loads(json.dumps(a_triage(600)))
    return told


def data_of(text: str) -> dict[str, Any]:
    """What the script of a page reads."""
    found = DATA.search(text)
    assert found is not None
    told: dict[str, Any] = json.loads(found[1])
    return told


def nothing() -> dict[str, Any]:
    """A triage that found no job."""
    value = a_triage(1, groups=1)
    totals = {name: None if "hours" in name else 0 for name in value["totals"]}
    empty: dict[str, Any] = {
        name: [] for name in ("causes", "groups", "vanished", "trend", "nodes", "users", "images")
    }
    return {
        **value,
        **empty,
        "since": None,
        "totals": totals,
        "retried": [],
        "advice": {},
        "jobs": {"columns": value["jobs"]["columns"], "rows": []},
    }


@pytest.mark.parametrize("told", [a_triage(60), a_hostile_triage(), nothing()])
def test_the_values_have_their_schema(told: dict[str, Any]) -> None:
    """Whatever is in them, and nothing too."""
    Draft202012Validator(json.loads(read_schema("triage"))).validate(told)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_is_whole(value: dict[str, Any], language: str) -> None:
    """Both languages, unique ids, links within it or into its folder; nothing from elsewhere."""
    text = render_triage(value, language=language)
    page = Page(text)
    ids = page.of("id")
    assert len(ids) == len(set(ids))
    assert text.index(f'<html lang="{language}') < text.index("<title>")
    links = page.of("href")
    assert {link[1:] for link in links if link.startswith("#")} <= {*ids}
    assert all(link.startswith(("#", "groups/")) for link in links)
    assert page.of("src") == page.of("style") == []
    for told in TRIAGE.values():
        assert told["title"] in page.text
        assert told["nodes.note"] in page.text
    assert {one for pair in page.of("aria-labelledby") for one in pair.split()} <= {*ids}


def test_every_part_is_told(value: dict[str, Any]) -> None:
    """Totals, new and vanished groups, fixes, drafts, marked nodes, reasons."""
    text = Page(render_triage(value)).text
    for phrase in (
        "Triage of 600 jobs",
        "of the jobs that are judged",
        "Disk full",
        "Ask for less memory, or for more nodes",
        "draft.case-",
        "more than chance explains",
        "its log names Xid 79",
        "its log is broken: crashed",
        "registry.local/train:24.09-py3",
        "15 times on other nodes, 15 times on the same ones",
    ):
        assert phrase in text, phrase


def test_rows_stand_once_for_all_languages(value: dict[str, Any]) -> None:
    """The data hold every job; the tables without a script the first ones, in each language."""
    text = render_triage(value)
    data = data_of(text)
    assert [row[0] for row in data["rows"]] == [row[0] for row in value["jobs"]["rows"]]
    assert set(data["texts"]) == {"en", "zh"}
    assert data["texts"]["en"]["causes"] != data["texts"]["zh"]["causes"]
    last_still, first_left = (value["jobs"]["rows"][at][1] for at in (STILL_ROWS - 1, STILL_ROWS))
    page = Page(DATA.sub("", text)).text
    assert page.count(last_still) >= 2
    assert f"first {STILL_ROWS} of 600 jobs" in page
    assert first_left not in page or first_left.startswith("sft-")


def test_hours_that_nobody_knows_are_no_zero() -> None:
    """Neither in the tables nor in the data."""
    value = a_triage(30, groups=3, has_hours=False)
    text = render_triage(value)
    assert {row[8] for row in data_of(text)["rows"]} == {None}
    page = Page(text)
    assert TRIAGE["en"]["lost.none"] in page.text
    assert 'data-name="GPU-h">–<' in text
    assert 'data-name="GPU-h">0<' not in text
    assert TRIAGE["en"]["by.hours"] not in [attrs.get("value") for _, attrs in page.tags]


def test_a_triage_without_jobs_is_said_to_be_empty() -> None:
    """No table, no script that looks for one, no comparison."""
    text = render_triage(nothing())
    assert not DATA.search(text)
    page = Page(text)
    assert JOB_TABLE["en"]["all.none"] in page.text
    assert TRIAGE["zh"]["since.none"] in page.text


def test_no_name_steers_the_page() -> None:
    """Names, messages and addresses come from files of others."""
    text = render_triage(a_hostile_triage())
    assert "<script>document" not in text
    assert text.count("</script>") == 2
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e]", text)
    assert data_of(text)["users"] == [HOSTILE]
    page = Page(text)
    assert all(link.startswith(("#", quote("<"))) for link in page.of("href"))
    assert "img" not in {tag for tag, _ in page.tags}
    rows = data_of(text)["rows"]
    assert all(row[11] == 0 or row[11].startswith(quote("</script>")) for row in rows)


@pytest.mark.parametrize("phrases", [TRIAGE, JOB_TABLE], ids=["page", "table"])
def test_both_languages_say_the_same_things(phrases: dict[str, dict[str, str]]) -> None:
    """No phrase is missing in one; every state has a name."""
    english, chinese = phrases["en"], phrases["zh"]
    assert english.keys() == chinese.keys()
    for key, phrase in english.items():
        assert set(re.findall(r"\{(\w+)", phrase)) == set(re.findall(r"\{(\w+)", chinese[key])), key
    assert {f"state.{state}" for state in STATES} <= JOB_TABLE["en"].keys()
