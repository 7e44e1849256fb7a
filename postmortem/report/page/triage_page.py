"""The overview page of a triage: one self-contained HTML file in all languages.

In: the plain values of `postmortem.triage/1`, as they are to be shown. Out: HTML; of the table of
all jobs JSON for `templates/triage.js`, in which each row stands once for all languages, and the
first rows as text for readers without a script. Not here: the figures themselves
(`fleet.overview`), hiding names, the frame (`page.frame`), filtering and sorting, which the script
does.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from postmortem.core.log_text import escape_control_characters
from postmortem.core.names import LANGUAGES
from postmortem.report.display import format_percent
from postmortem.report.page import triage_sections
from postmortem.report.page.frame import (
    Addition,
    build_article,
    get_tool,
    render_page,
    render_template,
)
from postmortem.report.page.triage_cells import (
    JOB_TABLE,
    NO_CAUSE,
    TRIAGE,
    UNKNOWN,
    count,
    format_hours,
    format_timestamp,
    get_localized_text,
    get_title,
    list_node_names,
    parse_timestamp,
    quote_relative_url,
)
from postmortem.report.page.triage_trend import build_trend
from postmortem.report.words import Words

STILL_ROWS: Final = 200
"""Rows that are there without a script."""
_NONE: Final = -1
_LABELS: Final = (
    "job", "what", "group", "node", "user.column", "hours.short", "ended", "unnamed", "cause",
    "state", "user",
)  # fmt: skip
_Value = Mapping[str, Any]


class _Pool:
    """Values that many rows share, each kept once."""

    def __init__(self) -> None:
        self._index: dict[Any, int] = {}

    def at(self, value: Any) -> int:
        """Give the index of a value; none has -1."""
        return _NONE if value in (None, "") else self._index.setdefault(value, len(self._index))

    @property
    def values(self) -> list[Any]:
        """All of them, in the order in which they came."""
        return list(self._index)


def list_job_rows(value: _Value) -> list[dict[str, Any]]:
    """Give the jobs by the names of their columns."""
    columns = value["jobs"]["columns"]
    return [dict(zip(columns, row, strict=True)) for row in value["jobs"]["rows"]]


def serialize_job_table(value: _Value, rows: Sequence[_Value]) -> Markup:
    """Write all jobs as JSON that cannot close its element, with no character that steers."""
    pools = _Pools(value)
    listed = [pools.row(row) for row in rows]
    groups = value["groups"]
    whole = {
        "causes": [
            escape_control_characters(cause["cause"] or NO_CAUSE) for cause in value["causes"]
        ],
        "groups": [escape_control_characters(group["id"]) for group in groups],
        "examples": [escape_control_characters(group["example"] or "") for group in groups],
        "hrefs": pools.hrefs,
        "states": pools.states.values,
        "users": pools.users.values,
        "nodes": pools.nodes.values,
        "texts": {
            language: _build_table_texts(
                value, language, [pair[at] for pair in pools.reasons.values]
            )
            for at, language in enumerate(LANGUAGES)
        },
        "rows": listed,
    }
    return _as_json(whole)


class _Pools:
    """What the rows of a triage share, and a row that points to it."""

    def __init__(self, value: _Value) -> None:
        self.states, self.users, self.nodes, self.reasons = _Pool(), _Pool(), _Pool(), _Pool()
        self.hrefs = [quote_relative_url(group["report"]) for group in value["groups"]]

    def row(self, row: _Value) -> list[Any]:
        """Give a row as `templates/triage.js` reads it."""
        identity, title = row["identity"], row["title"] or ""
        sure, spent = row["probability"], row["gpu_hours"]
        return [
            escape_control_characters(identity),
            "" if title == identity else escape_control_characters(title),
            self.states.at(row["state"]),
            _encode_index(row["cause"]),
            _encode_index(None if sure is None else round(100 * sure)),
            _encode_index(row["group"]),
            self.users.at(escape_control_characters(row["user"] or "")),
            _encode_indexes(
                [
                    self.nodes.at(escape_control_characters(name))
                    for name in list_node_names(row["nodes"])
                ]
            ),
            None if spent is None else round(spent, 3),
            _parse_seconds(row["end"]),
            self.reasons.at(_translate_to_all(row["reason"])),
            self._report(row),
        ]

    def _report(self, row: _Value) -> int | str:
        """Give the address of a job's report: 0 for none, 1 for that of its group."""
        href = quote_relative_url(row["report"])
        if not href:
            return 0
        return 1 if row["group"] is not None and self.hrefs[row["group"]] == href else href


def _build_table_texts(value: _Value, language: str, reasons: list[str]) -> dict[str, Any]:
    """Give what of the table is said in a language."""
    phrases = TRIAGE[language]
    return {
        "causes": [
            escape_control_characters(get_title(cause, language, phrases["unnamed"]))
            for cause in value["causes"]
        ],
        "groups": [
            escape_control_characters(get_title(group, language, phrases["unnamed"]))
            for group in value["groups"]
        ],
        "reasons": reasons,
        "words": {**JOB_TABLE[language], **{key: phrases[key] for key in _LABELS}},
    }


def _build_static_row(value: _Value, row: _Value, language: str) -> list[Any]:
    none = UNKNOWN
    group = none if row["group"] is None else value["groups"][row["group"]]["id"]
    return [
        (row["title"] or row["identity"], quote_relative_url(row["report"])),
        _describe_failure(value, row, language),
        group,
        list_node_names(row["nodes"]),
        row["user"] or none,
        format_hours(row["gpu_hours"]),
        format_timestamp(row["end"]),
    ]


def _describe_failure(value: _Value, row: _Value, language: str) -> tuple[str, str]:
    """Say of a job what failed, or why it could not be judged, and how sure that is."""
    phrases, states = TRIAGE[language], JOB_TABLE[language]
    if row["cause"] is not None:
        sure = "" if row["probability"] is None else format_percent(row["probability"])
        return get_title(value["causes"][row["cause"]], language, phrases["unnamed"]), sure
    state = states.get(f"state.{row['state']}", row["state"])
    shown = phrases["unnamed"] if row["state"] == "judged" else state
    return shown, get_localized_text(row["reason"], language)


def _encode_index(value: int | None) -> int:
    return _NONE if value is None else value


def _translate_to_all(text: Any) -> tuple[str, ...] | None:
    """Give a text in every language; None for none."""
    return (
        tuple(
            escape_control_characters(get_localized_text(text, language)) for language in LANGUAGES
        )
        if text
        else None
    )


def _encode_indexes(indexes: list[int]) -> int | list[int]:
    return indexes[0] if len(indexes) == 1 else indexes or _NONE


def _parse_seconds(text: str | None) -> int | str | None:
    at = parse_timestamp(text)
    return (escape_control_characters(text) if text else None) if at is None else int(at)


def _as_json(whole: Any) -> Markup:
    return Markup(  # noqa: S704 -- escaped
        json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
    )


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
    tool = get_tool(value)
    body = render_template(
        "triage.html.j2",
        say=words,
        told=phrases,
        at_once=_AT_ONCE,
        contents=_list_contents(parts),
        made=phrases["made"].format(time=format_timestamp(value["made"])),
        by=words("made", version=tool["version"], base=tool["knowledge_base"]),
        classifier=tool["classifier"],
        **parts,
    )
    return build_article(words, phrases["title"], body, skip=phrases["skip"])


def _build_sections(
    value: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], words: Words
) -> dict[str, Any]:
    """Give every section by its name."""
    language, table = words.language, JOB_TABLE[words.language]
    still = [_build_static_row(value, row, language) for row in rows[:STILL_ROWS]]
    key = "all.still" if len(rows) > STILL_ROWS else "all.whole"
    return {
        "summary": triage_sections.build_summary(value, language),
        "change": triage_sections.build_changes(value, language),
        "causes": triage_sections.build_cause_tables(value, language),
        "groups": triage_sections.build_groups(value, words),
        "groups_left": max(0, len(value["groups"]) - triage_sections.MOST_ROWS),
        "trend": build_trend(value, language),
        "nodes": triage_sections.build_node_table(value, language),
        "users": triage_sections.list_users_and_images(value),
        "retried": triage_sections.build_retried_jobs(value, language),
        "unjudged": triage_sections.build_undiagnosed_jobs(rows, language, table),
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
