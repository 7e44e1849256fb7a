"""The parts of a triage's page above its table of jobs, as plain values for the template.

In: the plain values of `postmortem.triage/1`, a language. Out: rows, figures and words. Not here:
nodes and users (`page.triage_lists`), the trend (`page.triage_trend`), all jobs (`page.job_table`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from postmortem.report.page.triage_cells import (
    NO_CAUSE,
    FilterLink,
    count,
    format_hours,
    format_rate,
    format_timestamp,
    get_localized_text,
    get_title,
    quote_relative_url,
)
from postmortem.report.plain import format_percent
from postmortem.report.words import Words
from postmortem.report.words.triage_words import TRIAGE
from postmortem.rules.traits import Trait, has_trait

MOST_GROUPS: Final = 200
_Value = Mapping[str, Any]


def build_summary(value: _Value, language: str) -> dict[str, Any]:
    """Give the figures at the top, and the sentence that sums them up."""
    phrases, totals = TRIAGE[language], value["totals"]
    has_hours = totals["lost_gpu_hours"] is not None
    lost_note = (
        phrases["lost.note"].format(hours=format_hours(totals["gpu_hours"]))
        if has_hours and totals["gpu_hours"] is not None
        else ("" if has_hours else phrases["lost.none"])
    )
    analysed = phrases["jobs.note"].format(analyses=count(totals["analyses"]))
    open_note = phrases["unclassified.note"].format(count=count(totals["unclassified"]))
    return {
        "heading": phrases["heading"].format(jobs=count(totals["jobs"])),
        "lead": _format_lead(value, language),
        "figures": [
            (phrases["jobs"], count(totals["jobs"]), analysed),
            (
                phrases["judged"],
                count(totals["judged"]),
                phrases["judged.note"].format(count=count(totals["not_judged"])),
            ),
            (phrases["lost"], format_hours(totals["lost_gpu_hours"]), lost_note),
            (
                phrases["unclassified"],
                format_rate(totals["unclassified"], totals["judged"]),
                open_note,
            ),
            (phrases["healthy"], count(totals["healthy"]), ""),
        ],
        "left_out": phrases["left_out"].format(count=count(totals["left_out"]))
        if totals["left_out"]
        else "",
    }


def _format_lead(value: _Value, language: str) -> str:
    phrases, totals = TRIAGE[language], value["totals"]
    lead = phrases["lead"].format(
        judged=count(totals["judged"]),
        jobs=count(totals["jobs"]),
        groups=count(len(value["groups"])),
    )
    first = next(
        (cause for cause in value["causes"] if cause["cause"] and not _is_healthy(cause)), None
    )
    if first is None:
        return lead
    gap = " " if language == "en" else ""
    most = phrases["lead.first"].format(
        title=get_title(first, language, phrases["unnamed"]), jobs=count(first["jobs"])
    )
    return f"{lead}{gap}{most}"


def build_changes(value: _Value, language: str) -> dict[str, Any]:
    """Say what is new since the last triage and what is gone; nothing if there was none."""
    phrases = TRIAGE[language]
    if value["since"] is None:
        return {"since": phrases["since.none"], "is_first": True}
    new = [
        (_group_pick(group, language), count(group["jobs"]))
        for group in value["groups"]
        if group["is_new"]
    ]
    gone = [
        (
            FilterLink("", group["id"], get_title(group, language, phrases["unnamed"])),
            phrases["vanished.jobs"].format(count=count(group["jobs"])),
        )
        for group in value["vanished"]
    ]
    return {
        "since": phrases["since"].format(time=format_timestamp(value["since"])),
        "is_first": False,
        "lists": [
            ("new", len(new), new[:MOST_GROUPS]),
            ("vanished", len(gone), gone[:MOST_GROUPS]),
        ],
    }


def build_cause_tables(value: _Value, language: str) -> list[dict[str, Any]]:
    """Give the causes once by jobs, and once by GPU-hours where any are known."""
    listed: Sequence[_Value] = value["causes"]
    has_hours = any(row["gpu_hours"] is not None for row in listed)
    found = []
    for measure in ("jobs", "hours") if has_hours else ("jobs",):
        field = "gpu_hours" if measure == "hours" else "jobs"
        ordered = sorted(listed, key=lambda row: -(row[field] or 0))
        most = max((row[field] or 0 for row in ordered), default=0) or 1
        rows = [
            _build_cause_row(row, language, 100 * (row[field] or 0) / most, value)
            for row in ordered
        ]
        found.append({"measure": measure, "rows": rows})
    return found


def _build_cause_row(cause: _Value, language: str, width: float, value: _Value) -> dict[str, Any]:
    phrases = TRIAGE[language]
    return {
        "pick": FilterLink(
            "cause", cause["cause"] or NO_CAUSE, get_title(cause, language, phrases["unnamed"])
        ),
        "id": cause["cause"] or "",
        "width": f"{width:.1f}",
        "is_healthy": _is_healthy(cause),
        "jobs": count(cause["jobs"]),
        "share": format_rate(cause["jobs"], value["totals"]["judged"]),
        "hours": format_hours(cause["gpu_hours"]),
        "groups": count(cause["groups"]),
    }


def _is_healthy(cause: _Value) -> bool:
    return has_trait(cause["cause"], Trait.SOUND)


def build_groups(value: _Value, words: Words) -> list[dict[str, Any]]:
    """Give the largest groups, with what to do and where to read on."""
    listed = sorted(value["groups"], key=_is_healthy)  # failures first, each in their order
    return [_group_row(group, value, words) for group in listed[:MOST_GROUPS]]


def _group_row(group: _Value, value: _Value, words: Words) -> dict[str, Any]:
    language, phrases = words.language, TRIAGE[words.language]
    advice = value["advice"].get(group["cause"] or "")
    retry = _retry(group["retry"], words)
    if advice:
        retry = get_localized_text(advice["text"], language) or _retry(advice["retry"], words)
    sure = group["probability"]
    return {
        "pick": _group_pick(group, language),
        "id": group["id"],
        "cause": group["cause"] or "",
        "is_new": group["is_new"],
        "template": group["template"] or "",
        "jobs": count(group["jobs"]),
        "hours": format_hours(group["gpu_hours"]),
        "nodes": count(group["nodes"] or None),
        "users": count(group["users"] or None),
        "is_healthy": _is_healthy(group),
        "fix": get_localized_text(group["fix"], language),
        "retry": retry,
        "whose": words.either("whose", group["whose"]) if group["whose"] else "",
        "sure": "" if sure is None else phrases["probability"].format(value=format_percent(sure)),
        "report": quote_relative_url(group["report"]),
        "draft": group["draft"] or "",
    }


def _group_pick(group: _Value, language: str) -> FilterLink:
    return FilterLink("group", group["id"], get_title(group, language, TRIAGE[language]["unnamed"]))


def _retry(retry: str | None, words: Words) -> str:
    """Word whether to run again, as the report says it or as the history of retries does."""
    if not retry:
        return ""
    return TRIAGE[words.language].get(f"retry.{retry}") or words.either("retry", retry)
