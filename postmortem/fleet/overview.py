"""Aggregate the jobs of a triage into the plain values of `postmortem.triage/1`.

In: a triage as it stands in the store. Out: plain values. Not here: reading it
(`fleet.stored_triage`), figures of the scheduler (`scheduler.scheduler_figures`), the page.

Everything is made from sorted rows, so the order in which jobs were judged does not show.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from postmortem.core.errors import UsageError
from postmortem.core.message import Message
from postmortem.fleet.job_groups import JobGroup
from postmortem.fleet.scheduler.allocations import (
    JudgedJob,
)
from postmortem.fleet.scheduler.scheduler_figures import (
    build_translations,
    compute_scheduler_statistics,
    format_iso_time,
    normalize_hours,
    sum_hours,
)
from postmortem.fleet.store.stored_rows import JUDGED, AnalysisSummary, TriageRow
from postmortem.fleet.stored_triage import JudgedTriage
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.wire import get_tool_version
from postmortem.rules.signature_draft import write_skeleton_for_lines
from postmortem.rules.vocabulary import Trait, has_trait

SCHEMA: Final = "postmortem.triage/1"
COLUMNS: Final = (
    "identity",
    "title",
    "state",
    "cause",
    "probability",
    "group",
    "user",
    "nodes",
    "gpu_hours",
    "end",
    "reason",
    "report",
)
_DRAFTED: Final = 50
"""Lines of a group that a signature is drafted from."""
_FIGURES: Final = ("nodes", "users", "images", "trend", "retried", "advice")
_UNTOLD: Final = AnalysisSummary("", "")
Value = dict[str, Any]


def describe_tool(options: Mapping[str, str]) -> Value:
    """Give what judged a triage, of the options that are stored of it."""
    return {
        "version": get_tool_version(),
        "knowledge_base": options.get("knowledge_base", ""),
        "classifier": options.get("classifier") or None,
    }


def build_overview(found: JudgedTriage, row: TriageRow, links: Mapping[str, str]) -> Value:
    """Give the values of the page of a triage, whose pages of jobs are linked by identity."""
    redactor, figures = Redactor(), compute_scheduler_statistics(found.joined)
    made = row.began if row.finished is None else row.finished
    causes = _list_causes(found, figures)
    groups = _list_groups(found, links, redactor)
    places = (
        {cause["cause"]: place for place, cause in enumerate(causes)},
        {group["id"]: place for place, group in enumerate(groups)},
    )
    return {
        "schema": SCHEMA,
        "tool": describe_tool(row.options),
        "made": format_iso_time(made),
        "since": None if found.since is None else format_iso_time(found.since),
        "totals": _compute_totals(found, figures, int(row.options.get("left_out", "0"))),
        "causes": causes,
        "groups": groups,
        "vanished": _list_vanished_groups(found, redactor),
        **{name: figures[name] for name in _FIGURES},
        "jobs": {
            "columns": list(COLUMNS),
            "rows": [_build_job_cells(job, found, places, links) for job in found.joined.jobs],
        },
    }


def iter_result_rows(found: JudgedTriage, links: Mapping[str, str]) -> Iterable[Value]:
    """Yield what other programs read of each job, by identity."""
    redactor = Redactor()
    for job in found.joined.jobs:
        row = found.jobs[job.identity]
        yield {
            "job": job.identity,
            "title": job.title,
            "locations": list(job.locations),
            "scheduler_id": job.scheduler_id,
            "attempt": job.attempt,
            "attempts": job.attempt_count,
            "state": row.state,
            "reason": build_translations(Message(row.reason_en, row.reason_zh)),
            **_build_verdict_values(job, found.summaries.get(row.key) or _UNTOLD, redactor),
            "group": found.group_of(job.identity),
            "analysis": row.key or None,
            **_build_allocation_values(job),
            "report": links.get(job.identity),
        }


def _build_verdict_values(job: JudgedJob, summary: AnalysisSummary, redactor: Redactor) -> Value:
    """Give what was found out about a job; of one that was not judged, empty values."""
    return {
        "cause": job.cause,
        "category": summary.category,
        "cause_title": build_translations(Message(summary.title_en, summary.title_zh)),
        "probability": summary.probability if summary.state == JUDGED else None,
        "status": summary.status,
        "outcome": job.outcome,
        "retry": job.retry,
        "fix": build_translations(Message(summary.fix_en, summary.fix_zh)),
        "failing_line": redactor.text(summary.failing_line),
        "where": summary.where,
        "frameworks": list(summary.frameworks),
    }


def _build_allocation_values(job: JudgedJob) -> Value:
    """Give what the scheduler says of a job."""
    allocation = job.allocation
    return {
        "user": job.user,
        "nodes": list(job.nodes),
        "gpus": allocation.gpus if allocation else None,
        "gpu_hours": normalize_hours(job.gpu_hours),
        "end": _end(job),
        "scheduler_state": allocation.state if allocation else "",
    }


def _compute_totals(found: JudgedTriage, figures: Mapping[str, Any], left_out: int) -> Value:
    judged = [job for job in found.joined.jobs if found.is_judged(job.identity)]
    return {
        "jobs": len(found.joined.jobs),
        "judged": len(judged),
        "not_judged": len(found.joined.jobs) - len(judged),
        "unclassified": sum(job.cause is None for job in judged),
        "healthy": sum(has_trait(job.cause, Trait.SOUND) for job in judged),
        "analyses": len(found.of_key),
        "gpu_hours": figures["gpu_hours"],
        "lost_gpu_hours": figures["lost_gpu_hours"],
        "left_out": left_out,
    }


def _list_causes(found: JudgedTriage, figures: Mapping[str, Any]) -> list[Value]:
    """Give the causes, those of most jobs first; None where the judge abstains."""
    jobs = Counter(job.cause for job in found.joined.jobs if found.is_judged(job.identity))
    groups = Counter(group.cause for group in found.groups.values())
    lost = {row["cause"]: row["gpu_hours"] for row in figures["lost_by_cause"]}
    named = {
        summary.cause: summary
        for _, summary in sorted(found.summaries.items())
        if summary.state == JUDGED and summary.cause is not None
    }
    return [
        {
            "cause": cause,
            "title": build_translations(Message(named[cause].title_en, named[cause].title_zh))
            if cause
            else None,
            "category": named[cause].category if cause else "",
            "jobs": count,
            "gpu_hours": lost.get(cause),
            "groups": groups[cause],
        }
        for cause, count in sorted(jobs.items(), key=lambda item: (-item[1], item[0] or ""))
    ]


def _list_groups(found: JudgedTriage, links: Mapping[str, str], redactor: Redactor) -> list[Value]:
    members = found.get_members()
    rows = [
        _group(found.groups[name], members[name], found, links, redactor)
        for name in sorted(found.groups)
    ]
    return sorted(rows, key=lambda row: (-row["jobs"], row["id"]))


def _group(
    group: JobGroup,
    jobs: Sequence[JudgedJob],
    found: JudgedTriage,
    links: Mapping[str, str],
    redactor: Redactor,
) -> Value:
    best = group.best
    is_reported = not has_trait(group.cause, Trait.SOUND)
    title = build_translations(group.title.settled(redactor.text))
    example = jobs[0].identity
    return {
        "id": group.id,
        "cause": group.cause,
        "title": title,
        "template": redactor.text(group.template),
        "jobs": len(jobs),
        "gpu_hours": normalize_hours(
            sum_hours(job.gpu_hours for job in jobs if job.has_failed).hours
        ),
        "is_new": is_reported and found.earlier is not None and group.id not in found.earlier,
        "nodes": len({node for job in jobs for node in job.nodes}),
        "users": len({job.user for job in jobs if job.user}),
        "example": example,
        "report": links.get(example),
        "fix": build_translations(Message(best.fix_en, best.fix_zh)),
        "retry": best.retry,
        "whose": best.whose,
        "probability": best.probability,
        "draft": _build_signature_draft(group, redactor),
    }


def _build_signature_draft(group: JobGroup, redactor: Redactor) -> str | None:
    """Draft a signature for failures that no rule names; None if their lines share nothing."""
    if not group.is_open or not group.lines:
        return None
    try:
        return write_skeleton_for_lines([redactor.text(line) for line in group.lines[:_DRAFTED]])
    except UsageError:
        return None


def _list_vanished_groups(found: JudgedTriage, redactor: Redactor) -> list[Value]:
    """Give the groups of the triage before that no job is in now."""
    earlier = found.earlier or {}
    gone = [
        row
        for name, row in sorted(earlier.items())
        if name not in found.groups and not has_trait(row.cause, Trait.SOUND)
    ]
    return [
        {
            "id": row.identity,
            "cause": row.cause,
            "title": build_translations(Message(row.title_en, row.title_zh).settled(redactor.text)),
            "jobs": row.jobs,
        }
        for row in sorted(gone, key=lambda row: (-row.jobs, row.identity))
    ]


def _build_job_cells(
    job: JudgedJob,
    found: JudgedTriage,
    places: tuple[Mapping[str | None, int], Mapping[str, int]],
    links: Mapping[str, str],
) -> list[Any]:
    row, group = found.jobs[job.identity], found.group_of(job.identity)
    is_judged = found.is_judged(job.identity)
    summary = found.summaries.get(row.key)
    return [
        job.identity,
        job.title,
        row.state,
        places[0].get(job.cause) if is_judged else None,
        summary.probability if summary and is_judged else None,
        places[1][group] if group else None,
        job.user,
        list(job.nodes),
        normalize_hours(job.gpu_hours),
        _end(job),
        build_translations(Message(row.reason_en, row.reason_zh)),
        links.get(job.identity),
    ]


def _end(job: JudgedJob) -> str | None:
    end = job.allocation.end if job.allocation is not None else None
    return None if end is None else format_iso_time(end)
