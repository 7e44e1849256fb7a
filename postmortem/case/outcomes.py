"""How a run ended, and in which framework it ran.

In: gathered evidence, failures, shapes. Out: the outcome, the frameworks. Not here: what failed
first (`case.order`).
"""

import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from postmortem import names
from postmortem.case.failures import SURVIVED_RECORDS, Failure
from postmortem.facts.fact_store import TOLD, FactStore
from postmortem.gathering.gathered import Gathered, Seen, records_behind
from postmortem.knowledge.stack_rules import StackRules
from postmortem.knowledge.traits import Trait, has_trait
from postmortem.shapes.shape import Shape

_ENDS: Final = frozenset({"last-step", "last-epoch", "closing-words"})
"""Shapes of a run that is through though no line of known wording says so."""
_OPEN: Final = frozenset({"trouble-at-end", "shell-prompt"})
"""Shapes of a run that has ended in a way that nothing tells."""
_STANDS_STILL: Final = "hang.stands-still."
_STILL: Final = frozenset({"same-step", "stood-still", "stood-still-at-start", "stacks-dumped"})
_MOVING: Final = frozenset({"slow-down", "log-goes-on"})
"""Shapes of a run whose steps still come: it is slow, or was, whatever it is called."""
_DUMPED: Final = "hang.faulthandler"
_NO_OUTPUT: Final = frozenset({"environment", "ignored"})
"""Kinds of sources that no run has printed."""
NO_LOG: Final = "not-a-training-log"


def frameworks(gathered: Gathered, stacks: StackRules) -> dict[str, str | None]:
    """Name the stacks that were recognised, with versions.

    Those that stand on others come first, then the most talkative.
    """
    facts = gathered.facts
    counts = dict(facts.framework_lines)
    for key in facts.facts:
        if key.startswith("framework."):
            counts.setdefault(key.removeprefix("framework."), 1)

    def order(name: str) -> tuple[int, int, str]:
        return -len(stacks.below(name)), -counts[name], name

    return {name: _version(name, facts, stacks) for name in sorted(counts, key=order)}


def _version(name: str, facts: FactStore, stacks: StackRules) -> str | None:
    packages = [*stacks.get(name).packages, name]
    keys = [f"framework.{name}", *(f"package.{package}" for package in packages)]
    return next((value for key in keys if (value := facts.get(key))), None)


def how_it_ended(
    gathered: Gathered,
    seen: Sequence[Seen],
    failures: Sequence[Failure],
    known: Mapping[str, Shape],
) -> str:
    """Tell how the run ended.

    Failed, completed, stalled, running, incomplete, or that this is no training log.
    """
    if _told_of_failure(gathered):
        return "failed"
    successes = [found for found in seen if _is_end(found, gathered)]
    if successes and not any(_behind_or_real(failures, successes)):
        return "completed"
    if failures or _is_ended(gathered, seen, known):
        return "failed"
    if known.keys() & _STILL or any(_stands_still(found, gathered, known) for found in seen):
        return "stalled"
    return _without_end(gathered, seen, known)


def _is_end(found: Seen, gathered: Gathered) -> bool:
    """Say whether this is the marker of an end, behind which nothing is trained."""
    return has_trait(found.finding.signature, Trait.SOUND) and not _trains_on(found, gathered)


def _is_ended(gathered: Gathered, seen: Iterable[Seen], known: Mapping[str, Shape]) -> bool:
    """Say whether a consequence ends the log; what peers print behind a run's end is noise."""
    ends = [found for found in seen if _ends_it(found, gathered)]
    is_through = bool(_ENDS.intersection(known))
    return any(
        not (is_through and has_trait(one.finding.signature, Trait.AMONG_PROCESSES)) for one in ends
    )


def _without_end(gathered: Gathered, seen: Sequence[Seen], known: Mapping[str, Shape]) -> str:
    """Say what an input is that tells of no end."""
    if "traceback-cut" in known:
        return "failed"
    if any(gathered.records.values()) or ("lines-count" in known and not _troubles(seen)):
        if _ENDS.intersection(known):
            return "completed"
        return "unknown" if known.keys() & _OPEN else "running"
    if _troubles(seen):
        return "unknown"
    is_begun = (seen or gathered.facts.facts) and not is_without_log(gathered)
    return "incomplete" if is_begun or "waits-at-start" in known else NO_LOG


def is_without_log(gathered: Gathered) -> bool:
    """Say whether all that was read tells how things stand, and nothing what happened."""
    return all(source.kind in _NO_OUTPUT for source in gathered.sources)


def _troubles(seen: Iterable[Seen]) -> bool:
    """Say whether anything was found that no sound run prints."""
    return any(found.finding.role in {"cause", "consequence", "warning"} for found in seen)


def _behind_or_real(failures: Iterable[Failure], successes: Sequence[Seen]) -> Iterator[Failure]:
    """Yield the failures that an end marker does not explain.

    What a distributed run prints while it is taken down after its end is noise; any other failure
    behind the marker is one.
    """
    last = max((found.finding.source, found.finding.offset) for found in successes)
    for failure in failures:
        is_before = (failure.source, failure.offset) < last
        is_echo = failure.finding and has_trait(failure.finding.signature, Trait.ECHO_OF_A_FAILURE)
        if is_before or failure.traceback or not is_echo:
            yield failure


def _trains_on(found: Seen, gathered: Gathered) -> bool:
    """Say whether training goes on behind an end marker: it was the end of a part, of a fold."""
    return any(
        series.name == names.LOSS
        and series.source == found.finding.source
        and len(series.lines) - bisect.bisect_right(series.lines, found.finding.line)
        >= SURVIVED_RECORDS
        for series in gathered.series.values()
    )


def _ends_it(found: Seen, gathered: Gathered) -> bool:
    return found.finding.role == "consequence" and _is_last(found, gathered)


def _stands_still(found: Seen, gathered: Gathered, known: Mapping[str, Shape]) -> bool:
    """Say whether somebody says that the run stands still, and its figures do not say otherwise."""
    signature = found.finding.signature
    if signature.startswith(_STANDS_STILL):
        return not _MOVING.intersection(known)
    return signature == _DUMPED and _is_last(found, gathered)


def _told_of_failure(gathered: Gathered) -> bool:
    """Say whether whoever ran the command has told how it ended, and it was not well."""
    told = {
        name: fact
        for name in ("exit_status", "signal")
        if (fact := gathered.facts.facts.get(f"env.{name}")) and fact.strength >= TOLD
    }
    return "signal" in told or ("exit_status" in told and told["exit_status"].value != "0")


def _is_last(found: Seen, gathered: Gathered) -> bool:
    return records_behind(gathered, found.finding, found.records_before) < SURVIVED_RECORDS
