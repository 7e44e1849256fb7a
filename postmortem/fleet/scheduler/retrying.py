"""Jobs that were retried: which failures went away, what had changed, whether a retry pays off.

In: jobs with allocations. Out: pairs, and advice for each cause. Not here: what the rules say of
one job (`inference.verdict`).
A retry is the next run of the same work by the same user that starts after the failure ended,
or the next attempt under the same id. Tasks of an array are retried by tasks of the same number.
Whether the code or the data stayed the same is not known.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from postmortem.core.message import NOTHING, Message, say
from postmortem.fleet.scheduler.allocations import JudgedJob
from postmortem.fleet.scheduler.exact_tests import compute_binomial_cdf

_TOO_RARE: Final = 0.05
"""Beneath this chance so few (or so many) successes are not those of an even coin."""
_OF_RULES: Final = {"as-is": "yes", "after-fix": "after-change", "no": "no"}
UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class Retry:
    """A failed job and its next run."""

    failed: JudgedJob
    again: JudgedJob

    @property
    def has_succeeded(self) -> bool:
        """Whether the next run ended well."""
        return self.again.has_failed is False

    @property
    def changed(self) -> dict[str, bool | None]:
        """What the scheduler knows to have changed; None where one of both is not known."""
        first, second = self.failed.allocation, self.again.allocation
        if first is None or second is None:
            return dict.fromkeys(("nodes", "gpus", "image"))
        return {
            "nodes": _compare_known_values({*first.nodes}, {*second.nodes}),
            "gpus": _compare_known_values(first.gpus, second.gpus),
            "image": first.image != second.image,
        }

    @property
    def hint(self) -> Message:
        """Word that a change of nodes alone was followed by success; else nothing."""
        changed = self.changed
        left = sorted({*self.failed.nodes} - {*self.again.nodes})
        if not (self.has_succeeded and changed["nodes"] and left):
            return NOTHING
        if changed["gpus"] is not False or changed["image"]:
            return NOTHING
        return say(
            "it went well without {nodes}, and the scheduler knows of no other change: a hint, no"
            " proof",
            nodes=", ".join(left[:8]) + ("…" if len(left) > 8 else ""),
        )


def _compare_known_values(first: object, second: object) -> bool | None:
    are_known = first not in (None, set()) and second not in (None, set())
    return first != second if are_known else None


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether to run jobs with a cause again."""

    cause: str
    retry: str
    """yes | no | after-change | unknown"""
    retried: int
    """Failed jobs with this cause that were run again, with a known end."""
    succeeded: int
    text: Message


def find_retries(jobs: Iterable[JudgedJob]) -> tuple[Retry, ...]:
    """Give each failed job with its next run, if it has one, sorted by the failed job's identity.

    A run is the next of one failed job at most: of those that had ended before it started, the last
    that has none yet. Runs whose start is not known are the next only under the same id.
    """
    lines: dict[tuple[str, str, str], list[JudgedJob]] = defaultdict(list)
    attempts: dict[tuple[str, str], list[JudgedJob]] = defaultdict(list)
    for job in sorted(jobs, key=lambda job: job.identity):
        if job.user and job.work:
            lines[job.user, job.work, job.task].append(job)
        if job.run[1]:
            attempts[job.run[:2]].append(job)
    found: dict[str, Retry] = {}
    taken: set[str] = set()
    pairs = [pair for each in attempts.values() for pair in _iter_attempt_retries(each)]
    pairs += [pair for each in lines.values() for pair in _iter_run_retries(each)]
    for pair in pairs:
        if pair.failed.identity not in found and pair.again.identity not in taken:
            found[pair.failed.identity] = pair
            taken.add(pair.again.identity)
    return tuple(found[identity] for identity in sorted(found))


def _iter_attempt_retries(jobs: Sequence[JudgedJob]) -> Iterator[Retry]:
    """Yield failed attempts with the next of the same id."""
    listed = sorted(jobs, key=lambda job: (job.run[2], job.identity))
    for first, second in pairwise(listed):
        if first.has_failed and second.run[2] == first.run[2] + 1:
            yield Retry(first, second)


def _iter_run_retries(jobs: Sequence[JudgedJob]) -> Iterator[Retry]:
    """Yield failed runs of the same work with the next, by time."""
    started = [
        (job.allocation.start, job.identity, job)
        for job in jobs
        if job.allocation is not None and job.allocation.start is not None
    ]
    running: list[tuple[float, str, JudgedJob]] = []
    ready: list[JudgedJob] = []
    for start, identity, job in sorted(started, key=lambda entry: entry[:2]):
        while running and running[0][0] <= start:
            ready.append(heapq.heappop(running)[2])
        if ready:
            yield Retry(ready.pop(), job)
        if job.has_failed and job.allocation is not None and job.allocation.end is not None:
            heapq.heappush(running, (job.allocation.end, identity, job))


def compute_retry_advice(jobs: Iterable[JudgedJob], pairs: Iterable[Retry]) -> dict[str, Advice]:
    """Give, for each cause that a failed job has, what its rule says and what running again did."""
    rules: dict[str, Counter[str]] = defaultdict(Counter)
    for job in jobs:
        if job.has_failed and job.blamed is not None:
            rules[job.blamed][job.retry] += 1
    ends: dict[str, list[bool]] = defaultdict(list)
    for pair in pairs:
        if pair.failed.blamed is not None and pair.again.has_failed is not None:
            ends[pair.failed.blamed].append(pair.has_succeeded)
    return {
        cause: _build_advice(
            cause, _select_most_common(rules[cause]), len(ends[cause]), sum(ends[cause])
        )
        for cause in sorted(rules)
    }


def _select_most_common(counts: Mapping[str, int]) -> str:
    return min(counts, key=lambda rule: (-counts[rule], rule))


def _build_advice(cause: str, rule: str, retried: int, succeeded: int) -> Advice:
    """Take the rule's advice, unless earlier retries here contradict it."""
    by_rule = _OF_RULES.get(rule, UNKNOWN)
    mostly_fails = retried > 0 and compute_binomial_cdf(succeeded, retried, 0.5) <= _TOO_RARE
    mostly_works = (
        retried > 0 and compute_binomial_cdf(retried - succeeded, retried, 0.5) <= _TOO_RARE
    )
    counted = _describe_retry_counts(retried, succeeded)
    if by_rule == "yes" and mostly_fails:
        against = say(
            "by rule a retry as it is may succeed, but here it mostly failed again: {counted}",
            counted=counted,
        )
        return Advice(cause, "after-change", retried, succeeded, against)
    if by_rule == UNKNOWN and mostly_works:
        worked = say("retries mostly succeed here: {counted}", counted=counted)
        return Advice(cause, "yes", retried, succeeded, worked)
    if by_rule in {"no", "after-change"} and mostly_works:
        counted = say(
            "{counted}; what was changed before is not known",
            counted=counted,
        )
    text = say("{rule}; {counted}", rule=_RULE_TEXTS[by_rule], counted=counted)
    return Advice(cause, by_rule, retried, succeeded, text)


def _describe_retry_counts(retried: int, succeeded: int) -> Message:
    if not retried:
        return say("no failed job was run again here")
    return say(
        "of {retried} that were run again here, {succeeded} succeeded",
        retried=retried,
        succeeded=succeeded,
    )


_RULE_TEXTS: Final = {
    "yes": say("a retry as it is may succeed"),
    "after-change": say("retry after the fix"),
    "no": say("a retry will not help"),
    UNKNOWN: say("whether a retry helps is not known"),
}
