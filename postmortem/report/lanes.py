"""The timeline over processes: a lane for each process that something happened to, as a graph beside the list of events.

In: a `Diagnosis`. Out: the lanes' names, and the lane of each event. Not here: which events there are (`postmortem.timeline`), markup.
"""

from typing import Final, NamedTuple

from postmortem.model.diagnosis import Diagnosis, Event
from postmortem.report.plain import file_name, process
from postmortem.report.words import Words

_MOST: Final = 8
"""Lanes with a place of their own; the processes beyond share one more."""


class Lanes(NamedTuple):
    """Lanes by the order in which their processes first appear, and for each event the index of its lane."""

    names: tuple[str, ...]
    of: tuple[int, ...]


def lanes(diagnosis: Diagnosis, words: Words) -> Lanes:
    """Give each process a lane; what a file tells without naming a process is the file's."""
    events = diagnosis.timeline
    known = list(dict.fromkeys(_name(diagnosis, event, words) for event in events))
    if len(known) > _MOST + 1:
        known = [*known[:_MOST], words("lanes.rest", count=len(known) - _MOST)]
    places = {name: index for index, name in enumerate(known)}
    return Lanes(tuple(known), tuple(places.get(_name(diagnosis, event, words), len(known) - 1) for event in events))


def _name(diagnosis: Diagnosis, event: Event, words: Words) -> str:
    own = diagnosis.sources[event.source].where if event.source < len(diagnosis.sources) else event.where
    return process(event.where, words) or process(own, words) or file_name(diagnosis, event.source, words)
