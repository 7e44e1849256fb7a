"""The nodes, users, images, retries and unjudged jobs of a triage, as plain values.

In: the plain values of `postmortem.triage/1`, a language. Out: rows of words and figures. Not here:
causes and groups (`page.triage_sections`), escaping.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from postmortem.report.page.triage_cells import (
    NO_CAUSE,
    UNKNOWN,
    FilterLink,
    count,
    format_hours,
    format_p_value,
    get_localized_text,
    get_title,
)
from postmortem.report.plain import format_number
from postmortem.report.words.triage_words import TRIAGE

MOST_NODES: Final = 200
_MOST: Final = 200
"""Retries and reasons at most."""
_NAMED: Final = 50
"""Users and images at most."""
_CAUSES_OF_NODE: Final = 3
_EXAMPLES: Final = 3
_CHANGES: Final = ("nodes", "gpus", "image")
_Value = Mapping[str, Any]


def build_node_table(value: _Value, language: str) -> dict[str, Any]:
    """Give the nodes: the marked ones first, then those with most failures."""
    phrases = TRIAGE[language]
    titles = {
        cause["cause"]: get_title(cause, language, phrases["unnamed"]) for cause in value["causes"]
    }
    ordered = sorted(value["nodes"], key=lambda node: (not node["is_outlier"], -node["failed"]))
    return {
        "rows": [_build_node_row(node, titles, language) for node in ordered[:MOST_NODES]],
        "marked": sum(bool(node["is_outlier"]) for node in ordered),
        "left": max(0, len(ordered) - MOST_NODES),
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
        "left": max(0, len(moves) - _MOST),
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
            for job in value["retried"][:_MOST]
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
        for (state, reason), jobs in ordered[:_MOST]
    ]
    return {"rows": listed, "left": max(0, len(ordered) - _MOST)}
