"""The overview page of a triage: one self-contained HTML file in all languages.

In: the plain values of `postmortem.triage/1`, as they are to be shown. Out: HTML. Not here: the
figures themselves (`fleet.overview`), hiding names, the frame (`page.frame`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from postmortem.core.names import LANGUAGES
from postmortem.report.page import triage_lists as lists
from postmortem.report.page import triage_sections as sections
from postmortem.report.page.frame import TAGS, Addition, load_templates, render_page
from postmortem.report.page.job_table import (
    STILL_ROWS,
    build_static_rows,
    list_job_rows,
    serialize_job_table,
)
from postmortem.report.page.triage_cells import count, format_timestamp
from postmortem.report.page.triage_trend import build_trend
from postmortem.report.words import Words
from postmortem.report.words.job_table_words import JOB_TABLE
from postmortem.report.words.triage_words import TRIAGE

ADDED: Final = Addition(("triage.css",), ("triage.js",))
"""What these pages have beside what all pages have."""
_AT_ONCE: Final = 15
"""Rows of a section that are there unfolded."""


def render_triage(value: Mapping[str, Any], *, language: str = "en") -> str:
    """Write a triage as a page that opens in a language and can be switched to the others.

    `value` is what `triage.schema.json` describes, hidden where it is to be hidden. The page needs
    no network; without its script everything but filtering and sorting the jobs works.
    """
    languages = [language, *(other for other in LANGUAGES if other != language)]
    rows = list_job_rows(value)
    added = ADDED._replace(values={"triage-data": serialize_job_table(value, rows)} if rows else {})
    return render_page([_render_article(value, rows, code) for code in languages], [], added)


def _render_article(
    value: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], language: str
) -> dict[str, Any]:
    """Render a triage in one language."""
    words = Words(language)
    phrases = TRIAGE[words.language]
    parts = _build_sections(value, rows, words)
    body = (
        load_templates()
        .get_template("triage.html.j2")
        .render(
            say=words,
            told=phrases,
            at_once=_AT_ONCE,
            contents=_list_contents(parts),
            made=phrases["made"].format(time=format_timestamp(value["made"])),
            by=words(
                "made",
                version=_get_tool_field(value, "version"),
                base=_get_tool_field(value, "knowledge_base"),
            ),
            classifier=_get_tool_field(value, "classifier"),
            **parts,
        )
    )
    return {
        "language": words.language,
        "lang": TAGS[words.language],
        "title": phrases["title"],
        "say": words,
        "skip": phrases["skip"],
        "body": Markup(body),  # noqa: S704 -- escaped by its template
    }


def _build_sections(
    value: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], words: Words
) -> dict[str, Any]:
    """Give every section by its name."""
    language, table = words.language, JOB_TABLE[words.language]
    still = build_static_rows(value, rows, language)
    key = "all.still" if len(rows) > STILL_ROWS else "all.whole"
    return {
        "summary": sections.build_summary(value, language),
        "change": sections.build_changes(value, language),
        "causes": sections.build_cause_tables(value, language),
        "groups": sections.build_groups(value, words),
        "groups_left": max(0, len(value["groups"]) - sections.MOST_GROUPS),
        "trend": build_trend(value, language),
        "nodes": lists.build_node_table(value, language),
        "users": lists.list_users_and_images(value),
        "retried": lists.build_retried_jobs(value, language),
        "unjudged": lists.build_undiagnosed_jobs(rows, language, table),
        "still": still,
        "still_note": table[key].format(shown=count(len(still)), jobs=count(len(rows)))
        if rows
        else table["all.none"],
    }


def _list_contents(parts: Mapping[str, Any]) -> list[str]:
    """Name the sections that are there."""
    there = {
        "change": True,
        "causes": parts["causes"][0]["rows"],
        "groups": parts["groups"],
        "trend": parts["trend"],
        "nodes": parts["nodes"]["rows"],
        "users": parts["users"],
        "retried": parts["retried"]["rows"],
        "unjudged": parts["unjudged"]["rows"],
        "all": True,
    }
    return [name for name, is_there in there.items() if is_there]


def _get_tool_field(value: Mapping[str, Any], name: str) -> str:
    return str(value["tool"].get(name) or "")
