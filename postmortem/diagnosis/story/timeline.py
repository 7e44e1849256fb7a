"""The timeline of a run.

Start, resumption, checkpoints, evaluations, warnings, the first bad value, overflows, the failure
and what came of it, the end.

In: what happened (`story.timeline_events`), the first failure. Out: `Event`s, in the order of time
over the files where all print it, else in the order of the files. Not here: choosing the failure,
showing events (`report`).
"""

import math
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import Final

from postmortem.core.answer import Event, FirstFailure, Progress
from postmortem.core.message import Message, quote, say
from postmortem.diagnosis.case.order_of_time import Clock
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.story.timeline_events import (
    EVIDENCE,
    SAME_TEXT,
    Entry,
    iter_end_entries,
    iter_entries,
)
from postmortem.extraction.facts import clock

_MOST: Final = 60
_MOST_HEAD: Final = 40
"""Lines of a file in which its first time is looked for."""
_FOLDED: Final = 3
"""Processes that say the same and are told as one entry."""
_PROCESSES: Final = say("{text} ({count} processes)")


def build_timeline(
    case: Case,
    failure: FirstFailure[Message] | None,
    done: Progress,
    titles: Callable[[str], Message] = quote,
    evidence: Container[tuple[int | None, int | None]] = frozenset(),
) -> tuple[tuple[Event[Message], ...], int]:
    """List what happened, at most _MOST events, and say how many were left out.

    Args:
        case: events, shapes, records, checkpoints, facts.
        failure: the first failure.
        done: names the checkpoint that is kept whatever else is left out.
        titles: gives the title of a signature.
        evidence: (source, line) of what speaks for the first causes; told even where much is left
            out.
    """
    extract, logs = case.extract, case.logs
    main = failure.source if failure is not None else min(logs, default=None)
    found = iter_entries(case, failure, done, titles, main)
    weighed = [_weigh_entry(entry, evidence) for entry in found if entry.event.source in logs]
    entries = _fold_entries(_merge_line_entries(weighed))
    taken = {_place(entry.event) for entry in entries}
    entries += [
        entry for entry in iter_end_entries(extract, main) if _place(entry.event) not in taken
    ]
    kept = sorted(entries, key=lambda entry: -entry.weight)[:_MOST]
    ordered = _sort_events([entry.event for entry in kept], case, failure)
    return tuple(ordered), len(entries) - len(kept)


def _weigh_entry(entry: Entry, evidence: Container[tuple[int | None, int | None]]) -> Entry:
    """Weigh an entry; evidence for a cause is never left out."""
    if entry.is_quote and _place(entry.event) in evidence:
        return entry._replace(weight=max(entry.weight, EVIDENCE))
    return entry


def _place(event: Event[Message]) -> tuple[int, int]:
    return event.source, event.line


def _merge_line_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Merge the entries of one line.

    Of entries that quote it the weightiest, of others those that say something else.
    """
    found: dict[tuple[int, int, str], Entry] = {}
    for entry in entries:
        key = (*_place(entry.event), "" if entry.is_quote else str(entry.event.text)[:SAME_TEXT])
        if key not in found or entry.weight > found[key].weight:
            found[key] = entry
    return list(found.values())


def _fold_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Fold equal entries of several processes into the weightiest one.

    Who says something else stands alone.
    """
    groups: dict[tuple[str, str], list[Entry]] = {}
    for number, entry in enumerate(entries):
        groups.setdefault((entry.event.role, entry.same or str(number)), []).append(entry)
    entries_shown = []
    for group in groups.values():
        count = len({(entry.event.source, entry.event.where) for entry in group})
        first = max(group, key=lambda entry: entry.weight)
        if count < _FOLDED or not first.same:
            entries_shown += group
        else:
            entries_shown.append(
                first._replace(
                    event=replace(
                        first.event,
                        text=_PROCESSES.fill(text=first.event.text, count=count).settled(),
                    )
                )
            )
    return entries_shown


def _sort_events(
    events: list[Event[Message]], case: Case, failure: FirstFailure[Message] | None
) -> list[Event[Message]]:
    """Sort by the printed time that stands nearest before, as far as the clocks can be compared.

    Then by step; else by source and line; what another file says without a time of what followed
    from the failure stands behind it.
    """
    by_time = _build_clock(events, case)
    steps = _track_largest_steps(events) if by_time.is_of_use else {}
    echoes = {} if failure is None else _find_echoes(events, failure)

    def placed(source: int, line: int) -> tuple[float, float, int, int]:
        return by_time.key(source, line)[0], steps.get((source, line), 0.0), source, line

    def key(event: Event[Message]) -> tuple[tuple[float, float, int, int], bool, tuple[int, int]]:
        own = origin = placed(event.source, event.line)
        if failure is not None and event.line >= echoes.get(event.source, math.inf):
            origin = placed(failure.source, failure.line)
        return max(own, origin), origin > own, _place(event)

    return sorted(events, key=key)


def _find_echoes(
    events: Sequence[Event[Message]], failure: FirstFailure[Message]
) -> dict[int, int]:
    """Find the line from which another file reports consequences of the failure.

    That is its first consequence behind its last record that bears no time; any, where the file of
    the failure itself prints none.
    """
    is_dated = any(event.time for event in events if event.source == failure.source)
    recorded: dict[int, int] = {}
    for event in events:
        if event.step is not None:
            recorded[event.source] = max(recorded.get(event.source, 0), event.line)
    echoes: dict[int, int] = {}
    for event in events:
        is_echo = event.role == "consequence" and (event.time is None or not is_dated)
        if (
            is_echo
            and event.source != failure.source
            and event.line > recorded.get(event.source, 0)
        ):
            echoes[event.source] = min(echoes.get(event.source, event.line), event.line)
    return echoes


def _build_clock(events: list[Event[Message]], case: Case) -> Clock:
    """Build the clock from the events' times and the first time that each file prints."""
    sources = {event.source for event in events}
    times = [
        (source, 1, _find_first_time(case.extract.heads.get(source, ""))) for source in sources
    ]
    times += [(event.source, event.line, event.time) for event in events]
    return Clock(times, case.skews, sources)


def _find_first_time(head: str) -> str | None:
    lines = head.split("\n", _MOST_HEAD)[:_MOST_HEAD]
    return next(filter(None, map(clock.parse_time, lines)), None)


def _track_largest_steps(events: Iterable[Event[Message]]) -> dict[tuple[int, int], float]:
    """Track the largest step that each source has printed up to each place.

    Clocks often print whole seconds, in which many steps pass.
    """
    steps: dict[tuple[int, int], float] = {}
    reached: dict[int, float] = {}
    for event in sorted(events, key=lambda event: (event.source, event.line)):
        reached[event.source] = max(reached.get(event.source, 0.0), event.step or 0.0)
        steps[event.source, event.line] = reached[event.source]
    return steps
