"""The figures that need a scheduler, as plain values of `postmortem.triage/1`.

In: jobs with allocations. Out: nodes, users, images, trend, retried, advice, lost hours, ready for
JSON; texts as {en, zh}. Not here: computing them, groups and causes of logs, pages.
"""

from collections.abc import Sequence
from typing import Any

from postmortem.fleet.scheduler.joining import Joined
from postmortem.fleet.scheduler.judged_jobs import JudgedJob, build_job_without_log
from postmortem.fleet.scheduler.lost_hours import (
    Bucket,
    Share,
    compute_image_shares,
    compute_lost_hours_by_cause,
    compute_node_shares,
    compute_total_hours,
    compute_trend,
    compute_user_shares,
    format_iso_time,
)
from postmortem.fleet.scheduler.retrying import Advice, Retry, compute_retry_advice, find_retries
from postmortem.fleet.scheduler.uneven_nodes import NodeFigures, compare_nodes
from postmortem.fleet.triage_values import build_translations, normalize_hours

Value = dict[str, Any]


def compute_scheduler_statistics(found: Joined) -> Value:
    """Give all figures of joined jobs; the order of the jobs does not matter.

    Hours, users, images and the trend are those of the jobs. Nodes are compared, and runs again
    looked for, over all that the scheduler knows: who looks through the logs of failed jobs only
    has the others in its file, and they say how often jobs fail elsewhere.
    """
    jobs = found.jobs
    everything = (*jobs, *map(build_job_without_log, found.without_job))
    pairs = find_retries(everything)
    taken, lost = compute_total_hours(jobs)
    return {
        "joined": {
            "jobs": len(jobs) - len(found.without_allocation),
            "without_allocation": len(found.without_allocation),
            "without_job": len(found.without_job),
        },
        "gpu_hours": normalize_hours(taken.hours),
        "lost_gpu_hours": normalize_hours(lost.hours),
        "gpu_hours_unknown": taken.unknown,
        "lost_gpu_hours_unknown": lost.unknown,
        "lost_by_cause": [
            {
                "cause": cause,
                "jobs": value.jobs,
                "gpu_hours": normalize_hours(value.hours),
                "unknown": value.unknown,
            }
            for cause, value in compute_lost_hours_by_cause(jobs).items()
        ],
        "nodes": _list_node_values(jobs, everything),
        "users": [_build_share_values(share) for share in compute_user_shares(jobs) if share.name],
        "images": [_build_share_values(share) for share in compute_image_shares(jobs)],
        "trend": [_build_bucket_values(bucket) for bucket in compute_trend(jobs)],
        "retried": [_retry(pair) for pair in pairs if pair.has_succeeded],
        "advice": {
            cause: _build_advice_values(value)
            for cause, value in compute_retry_advice(jobs, pairs).items()
        },
    }


def _build_share_values(share: Share) -> Value:
    return {
        "name": share.name,
        "jobs": share.jobs,
        "failed": share.failed,
        "gpu_hours": normalize_hours(share.taken.hours),
        "lost_gpu_hours": normalize_hours(share.lost.hours) if share.failed else 0.0,
        "lost_unknown": share.lost.unknown,
    }


def _list_node_values(jobs: Sequence[JudgedJob], everything: Sequence[JudgedJob]) -> list[Value]:
    shares = {share.name: _build_share_values(share) for share in compute_node_shares(jobs)}
    return [
        _build_node_values(node, shares.get(node.node, {})) for node in compare_nodes(everything)
    ]


def _build_node_values(node: NodeFigures, share: Value) -> Value:
    return {
        "node": node.node,
        "jobs": node.jobs,
        "failed": node.failed,
        "expected": round(node.expected, 4),
        "p": node.p,
        "q": node.q,
        "is_outlier": node.is_outlier,
        "causes": dict(node.causes or {}),
        "alike": list(node.alike),
        "witness": build_translations(node.witness),
        "text": build_translations(node.text),
        "gpu_hours": share.get("gpu_hours"),
        "lost_gpu_hours": share.get("lost_gpu_hours"),
    }


def _build_bucket_values(bucket: Bucket) -> Value:
    return {
        "from": format_iso_time(bucket.begin),
        "to": format_iso_time(bucket.end),
        "jobs": bucket.jobs,
        "causes": dict(bucket.causes),
        "lost_gpu_hours": normalize_hours(bucket.lost.hours) if bucket.lost.jobs else 0.0,
    }


def _retry(pair: Retry) -> Value:
    return {
        "failed": pair.failed.identity,
        "succeeded": pair.again.identity,
        "cause": pair.failed.blamed,
        "changed": pair.changed,
        "hint": build_translations(pair.hint),
    }


def _build_advice_values(advice: Advice) -> Value:
    return {
        "retry": advice.retry,
        "retried": advice.retried,
        "succeeded": advice.succeeded,
        "text": build_translations(advice.text),
    }
