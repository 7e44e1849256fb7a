"""The table of all jobs of a triage: its rows as data for the script, the first ones as they are.

In: the plain values of `postmortem.triage/1`. Out: JSON for `templates/triage.js`, in which each
row stands once for all languages; rows of text for readers without a script. Not here: filtering
and sorting, which the script does.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from postmortem.model.visible import safe
from postmortem.names import LANGUAGES
from postmortem.report.page.triage_cells import (
    NO_CAUSE,
    NOTHING_TOLD,
    address,
    hours,
    instant,
    moment,
    named,
    node_names,
    worded,
)
from postmortem.report.plain import percent
from postmortem.report.words.job_table_words import JOB_TABLE
from postmortem.report.words.triage_words import TRIAGE

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


def job_rows(value: _Value) -> list[dict[str, Any]]:
    """Give the jobs by the names of their columns."""
    columns = value["jobs"]["columns"]
    return [dict(zip(columns, row, strict=True)) for row in value["jobs"]["rows"]]


def table_data(value: _Value, rows: Sequence[_Value]) -> Markup:
    """Write all jobs as JSON that cannot close its element, with no character that steers."""
    pools = _Pools(value)
    listed = [pools.row(row) for row in rows]
    groups = value["groups"]
    whole = {
        "causes": [safe(one["cause"] or NO_CAUSE) for one in value["causes"]],
        "groups": [safe(group["id"]) for group in groups],
        "examples": [safe(group["example"] or "") for group in groups],
        "hrefs": pools.hrefs,
        "states": pools.states.values,
        "users": pools.users.values,
        "nodes": pools.nodes.values,
        "texts": {
            one: _texts(value, one, [pair[at] for pair in pools.reasons.values])
            for at, one in enumerate(LANGUAGES)
        },
        "rows": listed,
    }
    return _as_json(whole)


class _Pools:
    """What the rows of a triage share, and a row that points to it."""

    def __init__(self, value: _Value) -> None:
        self.states, self.users, self.nodes, self.reasons = _Pool(), _Pool(), _Pool(), _Pool()
        self.hrefs = [address(group["report"]) for group in value["groups"]]

    def row(self, row: _Value) -> list[Any]:
        """Give a row as `templates/triage.js` reads it."""
        identity, title = row["identity"], row["title"] or ""
        sure, spent = row["probability"], row["gpu_hours"]
        return [
            safe(identity),
            "" if title == identity else safe(title),
            self.states.at(row["state"]),
            _index(row["cause"]),
            _index(None if sure is None else round(100 * sure)),
            _index(row["group"]),
            self.users.at(safe(row["user"] or "")),
            _one_or_many([self.nodes.at(safe(name)) for name in node_names(row["nodes"])]),
            None if spent is None else round(spent, 3),
            _seconds(row["end"]),
            self.reasons.at(_in_all(row["reason"])),
            self._report(row),
        ]

    def _report(self, row: _Value) -> int | str:
        """Give the address of a job's report: 0 for none, 1 for that of its group."""
        href = address(row["report"])
        if not href:
            return 0
        return 1 if row["group"] is not None and self.hrefs[row["group"]] == href else href


def _texts(value: _Value, language: str, reasons: list[str]) -> dict[str, Any]:
    """Give what of the table is said in a language."""
    told = TRIAGE[language]
    return {
        "causes": [safe(named(one, language, told["unnamed"])) for one in value["causes"]],
        "groups": [safe(named(one, language, told["unnamed"])) for one in value["groups"]],
        "reasons": reasons,
        "words": {**JOB_TABLE[language], **{key: told[key] for key in _LABELS}},
    }


def still_rows(value: _Value, rows: Sequence[_Value], language: str) -> list[list[Any]]:
    """Give the first jobs as cells of text and addresses."""
    return [_still(value, row, language) for row in rows[:STILL_ROWS]]


def _still(value: _Value, row: _Value, language: str) -> list[Any]:
    none = NOTHING_TOLD
    group = none if row["group"] is None else value["groups"][row["group"]]["id"]
    return [
        (row["title"] or row["identity"], address(row["report"])),
        _what_failed(value, row, language),
        group,
        node_names(row["nodes"]),
        row["user"] or none,
        hours(row["gpu_hours"]),
        instant(row["end"]),
    ]


def _what_failed(value: _Value, row: _Value, language: str) -> tuple[str, str]:
    """Say of a job what failed, or why it could not be judged, and how sure that is."""
    told, states = TRIAGE[language], JOB_TABLE[language]
    if row["cause"] is not None:
        sure = "" if row["probability"] is None else percent(row["probability"])
        return named(value["causes"][row["cause"]], language, told["unnamed"]), sure
    state = states.get(f"state.{row['state']}", row["state"])
    shown = told["unnamed"] if row["state"] == "judged" else state
    return shown, worded(row["reason"], language)


def _index(value: int | None) -> int:
    return _NONE if value is None else value


def _in_all(text: Any) -> tuple[str, ...] | None:
    """Give a text in every language; None for none."""
    return tuple(safe(worded(text, one)) for one in LANGUAGES) if text else None


def _one_or_many(indexes: list[int]) -> int | list[int]:
    return indexes[0] if len(indexes) == 1 else indexes or _NONE


def _seconds(told: str | None) -> int | str | None:
    at = moment(told)
    return (safe(told) if told else None) if at is None else int(at)


def _as_json(whole: Any) -> Markup:
    return Markup(  # noqa: S704 -- escaped
        json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
    )
