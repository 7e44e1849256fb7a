"""The figures that need a scheduler, as plain values of `postmortem.triage/1`.

In: jobs with allocations. Out: nodes, users, images, trend, retried, advice, lost hours, ready for
JSON; texts as {en, zh}. Not here: computing them, groups and causes of logs, pages.
"""

from collections.abc import Sequence
from typing import Any

from postmortem.triage.plain_figures import rounded, texts
from postmortem.triage.scheduler.joining import Joined
from postmortem.triage.scheduler.judged_jobs import JudgedJob, without_log
from postmortem.triage.scheduler.lost_hours import (
    Bucket,
    Share,
    iso,
    lost_by_cause,
    shares_of_images,
    shares_of_nodes,
    shares_of_users,
    totals,
    trend,
)
from postmortem.triage.scheduler.retrying import Advice, Retry, advice, retries
from postmortem.triage.scheduler.uneven_nodes import NodeFigures, node_figures

Value = dict[str, Any]


def scheduled_figures(found: Joined) -> Value:
    """Give all figures of joined jobs; the order of the jobs does not matter.

    Hours, users, images and the trend are those of the jobs. Nodes are compared, and runs again
    looked for, over all that the scheduler knows: who looks through the logs of failed jobs only
    has the others in its file, and they say how often jobs fail elsewhere.
    """
    jobs = found.jobs
    everything = (*jobs, *map(without_log, found.without_job))
    pairs = retries(everything)
    taken, lost = totals(jobs)
    return {
        "joined": {
            "jobs": len(jobs) - len(found.without_allocation),
            "without_allocation": len(found.without_allocation),
            "without_job": len(found.without_job),
        },
        "gpu_hours": rounded(taken.hours),
        "lost_gpu_hours": rounded(lost.hours),
        "gpu_hours_unknown": taken.unknown,
        "lost_gpu_hours_unknown": lost.unknown,
        "lost_by_cause": [
            {
                "cause": cause,
                "jobs": one.jobs,
                "gpu_hours": rounded(one.hours),
                "unknown": one.unknown,
            }
            for cause, one in lost_by_cause(jobs).items()
        ],
        "nodes": _nodes(jobs, everything),
        "users": [_share(one) for one in shares_of_users(jobs) if one.name],
        "images": [_share(one) for one in shares_of_images(jobs)],
        "trend": [_bucket(one) for one in trend(jobs)],
        "retried": [_retry(pair) for pair in pairs if pair.has_succeeded],
        "advice": {cause: _advice(one) for cause, one in advice(jobs, pairs).items()},
    }


def _share(one: Share) -> Value:
    return {
        "name": one.name,
        "jobs": one.jobs,
        "failed": one.failed,
        "gpu_hours": rounded(one.taken.hours),
        "lost_gpu_hours": rounded(one.lost.hours) if one.failed else 0.0,
        "lost_unknown": one.lost.unknown,
    }


def _nodes(jobs: Sequence[JudgedJob], everything: Sequence[JudgedJob]) -> list[Value]:
    shares = {one.name: _share(one) for one in shares_of_nodes(jobs)}
    return [_node(one, shares.get(one.node, {})) for one in node_figures(everything)]


def _node(one: NodeFigures, share: Value) -> Value:
    return {
        "node": one.node,
        "jobs": one.jobs,
        "failed": one.failed,
        "expected": round(one.expected, 4),
        "p": one.p,
        "q": one.q,
        "is_outlier": one.is_outlier,
        "causes": dict(one.causes or {}),
        "alike": list(one.alike),
        "witness": texts(one.witness),
        "text": texts(one.text),
        "gpu_hours": share.get("gpu_hours"),
        "lost_gpu_hours": share.get("lost_gpu_hours"),
    }


def _bucket(one: Bucket) -> Value:
    return {
        "from": iso(one.begin),
        "to": iso(one.end),
        "jobs": one.jobs,
        "causes": dict(one.causes),
        "lost_gpu_hours": rounded(one.lost.hours) if one.lost.jobs else 0.0,
    }


def _retry(pair: Retry) -> Value:
    return {
        "failed": pair.failed.identity,
        "succeeded": pair.again.identity,
        "cause": pair.failed.blamed,
        "changed": pair.changed,
        "hint": texts(pair.hint),
    }


def _advice(one: Advice) -> Value:
    return {
        "retry": one.retry,
        "retried": one.retried,
        "succeeded": one.succeeded,
        "text": texts(one.text),
    }
