"""The lanes of the timeline: one for each process that has an event.

In: a `Diagnosis`. Out: the lanes' names, and the lane of each event. Not here: which events there
are (`postmortem.diagnosis.story.timeline`), markup.
"""

from typing import Final, NamedTuple

from postmortem.core.diagnosis import Diagnosis
from postmortem.core.shown import Event
from postmortem.report.plain import process, shorten_source_path
from postmortem.report.words import Words

_MOST: Final = 8
"""Lanes with a place of their own; the processes beyond share one more."""


class Lanes(NamedTuple):
    """Lanes by the order in which their processes first appear.

    For each event the index of its lane.
    """

    names: tuple[str, ...]
    of: tuple[int, ...]


def build_lanes(diagnosis: Diagnosis, words: Words) -> Lanes:
    """Give each process a lane.

    A file whose lines name a single process is its, one that names several or none has a lane for
    what it tells of itself.
    """
    events = diagnosis.timeline
    named: dict[int, set[str]] = {}
    for event in events:
        named.setdefault(event.source, set()).update(
            filter(None, (_process(diagnosis, event, words),))
        )
    owners = {source: next(iter(names)) for source, names in named.items() if len(names) == 1}
    names = [
        _process(diagnosis, event, words)
        or owners.get(event.source)
        or shorten_source_path(diagnosis, event.source, words)
        for event in events
    ]
    known = list(dict.fromkeys(names))
    if len(known) > _MOST + 1:
        known = [*known[:_MOST], words("lanes.rest", count=len(known) - _MOST)]
    places = {name: index for index, name in enumerate(known)}
    return Lanes(tuple(known), tuple(places.get(name, len(known) - 1) for name in names))


def _process(diagnosis: Diagnosis, event: Event, words: Words) -> str:
    """Name the process that a line or its file names, or nothing."""
    own = (
        diagnosis.sources[event.source].where
        if event.source < len(diagnosis.sources)
        else event.where
    )
    return process(event.where, words) or process(own, words)
