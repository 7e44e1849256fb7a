"""The parts of a triage's page above its table of jobs, as plain values for the template.

In: the plain values of `postmortem.triage/1`, a language. Out: rows, figures and words. Not here:
nodes and users (`page.triage_lists`), the trend (`page.triage_trend`), all jobs (`page.job_table`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from postmortem.report.page.triage_cells import (
    NO_CAUSE,
    Pick,
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
    told, totals = TRIAGE[language], value["totals"]
    told_hours = totals["lost_gpu_hours"] is not None
    lost_note = (
        told["lost.note"].format(hours=format_hours(totals["gpu_hours"]))
        if told_hours and totals["gpu_hours"] is not None
        else ("" if told_hours else told["lost.none"])
    )
    analysed = told["jobs.note"].format(analyses=count(totals["analyses"]))
    open_note = told["unclassified.note"].format(count=count(totals["unclassified"]))
    return {
        "heading": told["heading"].format(jobs=count(totals["jobs"])),
        "lead": _format_lead(value, language),
        "figures": [
            (told["jobs"], count(totals["jobs"]), analysed),
            (
                told["judged"],
                count(totals["judged"]),
                told["judged.note"].format(count=count(totals["not_judged"])),
            ),
            (told["lost"], format_hours(totals["lost_gpu_hours"]), lost_note),
            (
                told["unclassified"],
                format_rate(totals["unclassified"], totals["judged"]),
                open_note,
            ),
            (told["healthy"], count(totals["healthy"]), ""),
        ],
        "left_out": told["left_out"].format(count=count(totals["left_out"]))
        if totals["left_out"]
        else "",
    }


def _format_lead(value: _Value, language: str) -> str:
    told, totals = TRIAGE[language], value["totals"]
    said = told["lead"].format(
        judged=count(totals["judged"]),
        jobs=count(totals["jobs"]),
        groups=count(len(value["groups"])),
    )
    first = next(
        (cause for cause in value["causes"] if cause["cause"] and not _is_healthy(cause)), None
    )
    if first is None:
        return said
    gap = " " if language == "en" else ""
    most = told["lead.first"].format(
        title=get_title(first, language, told["unnamed"]), jobs=count(first["jobs"])
    )
    return f"{said}{gap}{most}"


def build_changes(value: _Value, language: str) -> dict[str, Any]:
    """Say what is new since the last triage and what is gone; nothing if there was none."""
    told = TRIAGE[language]
    if value["since"] is None:
        return {"since": told["since.none"], "is_first": True}
    new = [
        (_group_pick(group, language), count(group["jobs"]))
        for group in value["groups"]
        if group["is_new"]
    ]
    gone = [
        (
            Pick("", group["id"], get_title(group, language, told["unnamed"])),
            told["vanished.jobs"].format(count=count(group["jobs"])),
        )
        for group in value["vanished"]
    ]
    return {
        "since": told["since"].format(time=format_timestamp(value["since"])),
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
        ordered = sorted(listed, key=lambda one: -(one[field] or 0))
        most = max((row[field] or 0 for row in ordered), default=0) or 1
        rows = [
            _build_cause_row(row, language, 100 * (row[field] or 0) / most, value)
            for row in ordered
        ]
        found.append({"measure": measure, "rows": rows})
    return found


def _build_cause_row(one: _Value, language: str, width: float, value: _Value) -> dict[str, Any]:
    told = TRIAGE[language]
    return {
        "pick": Pick("cause", one["cause"] or NO_CAUSE, get_title(one, language, told["unnamed"])),
        "id": one["cause"] or "",
        "width": f"{width:.1f}",
        "is_healthy": _is_healthy(one),
        "jobs": count(one["jobs"]),
        "share": format_rate(one["jobs"], value["totals"]["judged"]),
        "hours": format_hours(one["gpu_hours"]),
        "groups": count(one["groups"]),
    }


def _is_healthy(one: _Value) -> bool:
    return has_trait(one["cause"], Trait.SOUND)


def build_groups(value: _Value, words: Words) -> list[dict[str, Any]]:
    """Give the largest groups, with what to do and where to read on."""
    listed = sorted(value["groups"], key=_is_healthy)  # failures first, each in their order
    return [_group_row(group, value, words) for group in listed[:MOST_GROUPS]]


def _group_row(group: _Value, value: _Value, words: Words) -> dict[str, Any]:
    language, told = words.language, TRIAGE[words.language]
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
        "sure": "" if sure is None else told["probability"].format(value=format_percent(sure)),
        "report": quote_relative_url(group["report"]),
        "draft": group["draft"] or "",
    }


def _group_pick(group: _Value, language: str) -> Pick:
    return Pick("group", group["id"], get_title(group, language, TRIAGE[language]["unnamed"]))


def _retry(told: str | None, words: Words) -> str:
    """Word whether to run again, as the report says it or as the history of retries does."""
    if not told:
        return ""
    return TRIAGE[words.language].get(f"retry.{told}") or words.either("retry", told)
