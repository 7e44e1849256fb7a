"""The comparison with other tools: its rows name causes that exist, its figures are whole.

The figures themselves need the other tools; `benchmarks/rivals.py --write` measures them.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from rival_cases import Case, spelled_out
from rival_scores import meant, scored
from rival_tables import BEGIN, END, OWN, WORDS
from silent_cases import SilentCase
from silent_faults import MARKS, list_rows, score_answers

from postmortem.rules.base import load_compiled_rules

ROOT = Path(__file__).resolve().parents[2]
RIVALS: dict[str, Any] = yaml.safe_load(
    (ROOT / "benchmarks" / "rivals.yaml").read_text(encoding="utf-8")
)
PAGES = {
    language: ROOT / "docs" / f"comparison{end}.md" for language, end in (("en", ""), ("zh", ".zh"))
}
TOOLS = sorted(name for name in RIVALS["tools"])
CASE = Case("a", {}, frozenset({"memory.cuda-oom"}), (), ("RuntimeError: it  failed",))

languages = pytest.mark.parametrize("language", list(PAGES))


def figures(language: str, marks: tuple[str, str] = (BEGIN, END)) -> str:
    """What stands between the marks."""
    text = PAGES[language].read_text(encoding="utf-8")
    found = re.findall("(.*?)".join(marks), text, re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def tables(language: str, marks: tuple[str, str] = (BEGIN, END)) -> list[list[list[str]]]:
    """The tables of the figures, as cells."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", figures(language, marks) + "\n", re.MULTILINE)
    return [
        [[cell.strip() for cell in line[1:-1].split(" | ")] for line in block.splitlines()]
        for block in blocks
    ]


@languages
def test_each_tool_has_its_version_and_the_page_its_date(language: str) -> None:
    """A figure of a tool says of which version it is, and when it was taken."""
    rows = {row[0]: row[1] for row in tables(language)[0][2:]}
    measured = {name.strip("*").split("]")[0].strip("[") for name in rows}
    titles = {RIVALS["tools"][name]["title"] for name in TOOLS}
    assert measured == {OWN, *titles}
    assert all(re.search(r"\d|[0-9a-f]{7}", version) for version in rows.values())
    assert re.search(r"20\d\d-\d\d-\d\d", figures(language))


@languages
def test_every_table_is_whole(language: str) -> None:
    """As many cells in each row as in its head, and none without a figure or a word."""
    found = tables(language)
    assert len(found) == 4 + len(RIVALS["sets"])
    for table in found:
        assert {len(row) for row in table} == {len(table[0])}
        assert all(all(row) for row in table)
        assert len(table) > 2


def test_both_languages_show_the_same_figures() -> None:
    """They are of one run."""
    figured = [
        [cell for table in tables(one) for row in table[2:] for cell in row if cell[:1].isdigit()]
        for one in PAGES
    ]
    assert figured[0] == figured[1]
    assert set(WORDS["en"]) == set(WORDS["zh"])


@languages
def test_where_others_win_is_said_first(language: str) -> None:
    """Before any table of shares."""
    text = figures(language)
    assert 0 < text.index(WORDS[language]["better"]) < text.index(WORDS[language]["shares"][1])


def test_answers_mean_causes_and_areas_that_exist() -> None:
    """A renamed id or a misspelt area would silently make another tool wrong."""
    areas = {cause.split(".")[0] for cause in load_compiled_rules()["taxonomy"]["causes"]}
    tools = [*RIVALS["tools"].values(), *RIVALS["silent"]["tools"].values()]
    rows = [row for tool in tools for row in tool.get("answers", [])]
    patterns = [one for row in rows for one in row.get("causes", [])]
    patterns += [p for one in RIVALS["sets"].values() for ps in one["labels"].values() for p in ps]
    assert [one for one in patterns if not spelled_out([one])] == []
    assert {area for row in rows for area in row.get("areas", [])} <= areas
    assert [row for row in rows if not re.compile(row["says"]).pattern] == []
    assert [r for r in rows if not (r.get("causes") or r.get("areas") or r.get("nothing"))] == []


@pytest.mark.parametrize(
    ("answers", "counted"),
    [
        pytest.param(["CUDA OOM"], "cause", id="the cause"),
        pytest.param(["host"], "area", id="another cause of its area"),
        pytest.param(["disk", "CUDA OOM"], "cause", id="one of several"),
        pytest.param(["disk"], "other", id="another area"),
        pytest.param(["lead:disk"], "nothing", id="a lead is never wrong"),
        pytest.param(["some error"], "nothing", id="a word for any failure"),
        pytest.param([], "nothing", id="silence"),
        pytest.param("it broke", "unread", id="it broke off"),
    ],
)
def test_how_an_answer_counts(answers: list[str] | str, counted: str) -> None:
    """Generously to the tool that gave it."""
    rows = [
        {"says": "CUDA OOM", "causes": ["memory.cuda-*"]},
        {"says": "host", "causes": ["memory.host-oom"]},
        {"says": "disk", "causes": ["io.disk-full"]},
        {"says": "error", "causes": ["code.user-exception"], "vague": True},
    ]
    score = scored([CASE], [answers], rows, spelled_out)
    assert getattr(score, counted) == 1
    assert score.cause + score.area + score.other + score.nothing == score.failed == 1


def test_an_answer_without_a_row_is_told() -> None:
    """A tool's new version may say what nobody has looked at."""
    assert meant("new", [], spelled_out) is None
    assert scored([CASE], [["new"]], [], spelled_out).unmapped == {"new"}


def test_sound_runs_and_quoted_lines_are_counted() -> None:
    """Health is no alarm; a line is found however it is spaced."""
    sound = Case("b", {}, frozenset({"healthy.completed"}), ())
    said = [["healthy.completed"], ["memory.cuda-oom"]]
    assert scored([sound, sound], said, None, spelled_out).alarms == 1
    quoted = scored([CASE], [["quote:[rank0] RuntimeError: it failed here"]], None, spelled_out)
    assert (quoted.quoted, quoted.quotable, quoted.lines) == (1, 1, 1)


@languages
def test_silent_faults_are_compared_whole(language: str) -> None:
    """A table for each set, a row for each tool, where others win before them, date and versions."""
    text, found = figures(language, MARKS), tables(language, MARKS)
    words, silent = WORDS[language]["silent"], RIVALS["silent"]
    assert len(found) == len(silent["sets"])
    for table in found:
        assert [row[0] for row in table[2:]] == [OWN, *silent["tools"]]
        assert {len(row) for row in table} == {len(words["heads"])}
    assert 0 < text.index(words["better"]) < text.index(words["heads"][1])
    assert re.search(r"20\d\d-\d\d-\d\d", text)
    assert all(re.search(rf"{re.escape(name)} \d", text) for name in silent["tools"])
    assert [row[1:] for one in found for row in one[2:]] == [
        row[1:] for one in tables("en", MARKS) for row in one[2:]
    ]


@pytest.mark.parametrize(
    ("is_sound", "answer", "flagged", "named", "accused"),
    [
        pytest.param(False, ["slope"], [1, 1], [1, 1], [0, 0], id="the cause"),
        pytest.param(False, ["info:slope"], [0, 1], [0, 1], [0, 0], id="as information"),
        pytest.param(False, ["jump"], [1, 1], [0, 0], [0, 0], id="another cause"),
        pytest.param(False, ["file"], [0, 0], [0, 0], [0, 0], id="a remark on the file"),
        pytest.param(True, ["jump"], [0, 0], [0, 0], [1, 1], id="a sound run"),
        pytest.param(True, ["slope", "jump"], [0, 0], [0, 0], [0, 0], id="what its label allows"),
        pytest.param(True, "it broke", [0, 0], [0, 0], [0, 0], id="it broke off"),
    ],
)
def test_how_an_answer_on_a_silent_run_counts(
    *,
    is_sound: bool,
    answer: list[str] | str,
    flagged: list[int],
    named: list[int],
    accused: list[int],
) -> None:
    """Firmly said, and said at all; a remark on the file accuses nobody."""
    rows = [
        {"says": "slope", "causes": ["learning.overfitting"]},
        {"says": "jump", "causes": ["numerics.loss-spike"]},
        {"says": "file", "nothing": True, "unread": True},
    ]
    case = SilentCase("a", is_sound, frozenset({"learning.overfitting"}), {}, [])
    score = score_answers([case], [answer], rows)
    assert (score.flagged, score.named, score.accused) == (flagged, named, accused)
    assert score.unread == (answer in ("it broke", ["file"]))


def test_rows_for_silent_faults_go_first() -> None:
    """And those for all logs stand behind them."""
    rows = list_rows(RIVALS, "runmedic")
    assert rows is not None
    assert rows[0] in RIVALS["silent"]["tools"]["runmedic"]["answers"]
    assert rows[-1] in RIVALS["tools"]["runmedic"]["answers"]
