"""The sections of a triage's page besides trend and table of jobs, as plain values.

In: the plain values of `postmortem.triage/1`, a language. Out: rows, figures and words: summary,
changes, causes, groups; nodes, users, images, retries and unjudged jobs. Not here: the trend
(`page.triage_trend`), all jobs (`page.triage_page`), escaping.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from postmortem.report.display import format_number, format_percent
from postmortem.report.page.triage_cells import (
    NO_CAUSE,
    TRIAGE,
    UNKNOWN,
    FilterLink,
    count,
    format_hours,
    format_p_value,
    format_rate,
    format_timestamp,
    get_localized_text,
    get_title,
    quote_relative_url,
)
from postmortem.report.words import Words
from postmortem.rules.vocabulary import Trait, has_trait

MOST_ROWS: Final = 200
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
            ("new", len(new), new[:MOST_ROWS]),
            ("vanished", len(gone), gone[:MOST_ROWS]),
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
    return [_group_row(group, value, words) for group in listed[:MOST_ROWS]]


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


_NAMED: Final = 50
"""Users and images at most."""
_CAUSES_OF_NODE: Final = 3
_EXAMPLES: Final = 3
_CHANGES: Final = ("nodes", "gpus", "image")


def build_node_table(value: _Value, language: str) -> dict[str, Any]:
    """Give the nodes: the marked ones first, then those with most failures."""
    phrases = TRIAGE[language]
    titles = {
        cause["cause"]: get_title(cause, language, phrases["unnamed"]) for cause in value["causes"]
    }
    ordered = sorted(value["nodes"], key=lambda node: (not node["is_outlier"], -node["failed"]))
    return {
        "rows": [_build_node_row(node, titles, language) for node in ordered[:MOST_ROWS]],
        "marked": sum(bool(node["is_outlier"]) for node in ordered),
        "left": max(0, len(ordered) - MOST_ROWS),
    }


def _build_node_row(
    node: _Value, titles: Mapping[str | None, str], language: str
) -> dict[str, Any]:
    most = sorted(node["causes"].items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "pick": FilterLink("node", node["node"], node["node"]),
        "jobs": count(node["jobs"]),
        "failed": count(node["failed"]),
        "expected": UNKNOWN if node["expected"] is None else format_number(node["expected"], 3),
        "q": format_p_value(node["q"]),
        "is_outlier": node["is_outlier"],
        "causes": [
            (FilterLink("cause", cause, titles.get(cause, cause)), count(jobs))
            for cause, jobs in most[:_CAUSES_OF_NODE]
            if cause
        ],
        "told": get_localized_text(node.get("text"), language)
        or get_localized_text(node["witness"], language),
        "alike": list(node.get("alike") or ()),
    }


def list_users_and_images(value: _Value) -> list[dict[str, Any]]:
    """Give who ran the jobs and in which images."""
    return [
        {
            "kind": kind,
            "rows": [
                (
                    FilterLink("user" if kind == "users" else "", row["name"], row["name"]),
                    count(row["jobs"]),
                    count(row.get("failed")),
                    format_hours(row["gpu_hours"]),
                    format_hours(row.get("lost_gpu_hours")),
                )
                for row in value[kind][:_NAMED]
            ],
            "left": max(0, len(value[kind]) - _NAMED),
        }
        for kind in ("users", "images")
        if value[kind]
    ]


def build_retried_jobs(value: _Value, language: str) -> dict[str, Any]:
    """Give the jobs that failed and later went through, and on what nodes."""
    phrases = TRIAGE[language]
    titles = {
        cause["cause"]: get_title(cause, language, phrases["unnamed"]) for cause in value["causes"]
    }
    moves = [job["changed"].get("nodes") for job in value["retried"]]
    return {
        "note": phrases["retried.note"].format(
            moved=count(moves.count(True)), same=count(moves.count(False))
        ),
        "left": max(0, len(moves) - MOST_ROWS),
        "rows": [
            (
                job["failed"],
                job["succeeded"],
                FilterLink(
                    "cause",
                    job["cause"] or NO_CAUSE,
                    titles.get(job["cause"]) or job["cause"] or phrases["unnamed"],
                ),
                _format_changes(job["changed"], language),
                get_localized_text(job.get("hint"), language),
            )
            for job in value["retried"][:MOST_ROWS]
        ],
    }


def _format_changes(changed: Mapping[str, bool | None], language: str) -> str:
    """Name what the scheduler knows to have changed between two runs."""
    phrases = TRIAGE[language]
    listed = [phrases[f"changed.{name}"] for name in _CHANGES if changed.get(name)]
    if listed:
        return phrases["joint"].join(listed)
    return UNKNOWN if None in changed.values() or not changed else phrases["changed.nothing"]


def build_undiagnosed_jobs(
    rows: Sequence[_Value], language: str, state_names: Mapping[str, str]
) -> dict[str, Any]:
    """Give the jobs without a judgement, those of one state and reason together, most first."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["state"] != "judged":
            key = (row["state"], get_localized_text(row["reason"], language))
            found.setdefault(key, []).append(row["title"] or row["identity"])
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    listed = [
        (
            FilterLink("state", state, state_names.get(f"state.{state}", state)),
            reason or UNKNOWN,
            count(len(jobs)),
            jobs[:_EXAMPLES],
        )
        for (state, reason), jobs in ordered[:MOST_ROWS]
    ]
    return {"rows": listed, "left": max(0, len(ordered) - MOST_ROWS)}
