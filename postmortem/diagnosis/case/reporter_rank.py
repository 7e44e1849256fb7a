"""Rank who reports a failure: the process itself, a launcher, a peer that waited or lost another.

In: failures, findings. Out: how far the reporter is from the origin, the processes that an agent
names as the root cause. Not here: the order of failures (`case.order`).
"""

from collections.abc import Iterable, Mapping
from typing import Final

from postmortem.core.findings import Traceback
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import ProcessId
from postmortem.core.numerals import parse_whole_number
from postmortem.diagnosis.case.failures import Failure
from postmortem.extraction.extract import Sighting
from postmortem.rules.base import Signature

ROOT_CAUSE: Final = "context.elastic-root-cause"
NO_FILE: Final = "<N/A>"
ITSELF: Final = 0
_LAUNCHER, _WAITED, _LOST = 1, 2, 3
_MOST_TEXT: Final = 600
_IN_VAIN: Final = compile_lazily(
    r"Timed out waiting \d{1,12}ms for (?:recv|send|data)|wait timeout after \d{1,12}ms"
    r"|waiting for clients\b|(?:^|: )Socket Timeout\s*(?:$|\n)"
    r"|\d{1,6}/\d{1,6} clients joined|The client has timed out after|(?:failed to"
    r" pass|successfully reached) monitoredBarrier"
)
_PEER_GONE: Final = compile_lazily(
    r"Connection (?:closed|reset) by peer|Connection refused.{0,80}remote worker|Broken"
    r" pipe|application timeout caused pair closure"
    r"|Got completion from peer .{0,80}status=12\b"
    r"|\bconnect to \S{1,80} (?:returned|failed ?:) Connection refused"
    r"|remote process exited or there was a network error|Socket closed"
    r"|Connection was likely closed|failed to recv, got 0 bytes|^-- Process \d+ terminated",
)

_OF_ANOTHER: Final = compile_lazily(
    r"(?:Train(?:ing|er)?|Task|Job|Worker|Child|Remote|Actor|Trial|Tune|Raylet)[A-Za-z]{0,20}"
    r"(?:Failed|Died|Crashed|Unavailable)[A-Za-z]{0,12}\Z|(?:RayTask|RayActor|Tune)Error\Z"
)
"""Exceptions in which a driver says that one of its processes has failed."""
_OF_SOME: Final = compile_lazily(r"\bCheckpointException\Z")
"""Exceptions that every process raises once it knows which of them have failed."""


def compute_reporter_rank(failure: Failure, rules: Mapping[str, Signature]) -> int:
    """Rank the reporter of a failure: `ITSELF` for the process that failed."""
    finding, traceback = failure.finding, failure.traceback
    if _is_of_another(failure):
        return _LAUNCHER
    if traceback is not None:
        return _rank_by_exception(traceback)
    if finding is None:
        return ITSELF
    is_launcher = rules[finding.signature].told_by == "launcher"
    return _LAUNCHER if is_launcher else _rank_by_text(finding.text)


def _rank_by_exception(traceback: Traceback) -> int:
    """Rank the reporter by the class of its exception, else by its text."""
    if traceback.exception.endswith("ProcessRaisedException"):
        return _LOST
    if _OF_ANOTHER.search(traceback.exception.partition("(")[0]):
        return _LAUNCHER
    if _OF_SOME.search(traceback.exception):
        return _WAITED
    return _rank_by_text(traceback.message)


def _is_of_another(failure: Failure) -> bool:
    """Say whether a process prints the exception of another rank than its own."""
    reported, own = failure.reported_process.rank, failure.where.rank
    return reported is not None and own is not None and reported != own


def _rank_by_text(text: str) -> int:
    """Recognise by the text a process that waited for its peer or lost it."""
    beginning = text[:_MOST_TEXT]
    if _IN_VAIN.search(beginning):
        return _WAITED
    return _LOST if _PEER_GONE.search(beginning) else ITSELF


def find_root_cause_processes(seen: Iterable[Sighting]) -> dict[bool, set[ProcessId]]:
    """Give the processes that agents name as the root cause.

    By whether they have left a record of their exception.
    """
    found: dict[bool, set[ProcessId]] = {True: set(), False: set()}
    for sight in seen:
        if sight.finding.signature == ROOT_CAUSE:
            captures = dict(sight.finding.captures)
            process = ProcessId(
                parse_whole_number(captures["rank"]),
                parse_whole_number(captures["local_rank"]),
                None,
                None,
            )
            found[captures.get("error_file", NO_FILE) != NO_FILE].add(process)
    return found


def is_named(where: ProcessId, roots: Iterable[ProcessId]) -> bool:
    """Say whether a label names one of the processes that an agent has named."""
    return any(_is_of(where, root) for root in roots)


def _is_of(where: ProcessId, root: ProcessId) -> bool:
    """Say whether a label names the process of a rank and local rank."""
    if where.rank is not None:
        return where.rank == root.rank
    return where.local_rank is not None and where.local_rank == root.local_rank
