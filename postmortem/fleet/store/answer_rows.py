"""What is kept of a tracker's deliveries and of the answers to them, as plain values.

In: nothing. Out: frozen values. Not here: the tables, what the words in them mean to the bot. No
text of an issue is among them: only where something is asked, and what.
"""

from dataclasses import dataclass
from typing import NamedTuple

from postmortem.fleet.store.stored_rows import WAITING


class AskedPlace(NamedTuple):
    """Where something is asked."""

    tracker: str
    project: str
    kind: str
    """Of issue, or a run whose issue is not known yet."""
    name: str
    """A number, or a run's id."""


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """One delivery."""

    place: AskedPlace
    delivery: str
    """The tracker's id of it."""
    ask: str
    about: str = ""
    """What of the rules is to be explained."""
    comment: str = ""
    """The id of the comment that asks."""
    asker: str = ""
    """Who asks: an id that stays."""
    asker_name: str = ""
    run: str = ""
    number: int = 0
    """Filled in by the store: the order in which they came."""
    state: str = WAITING
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """What stands in a place by now."""

    place: AskedPlace
    comment: str = ""
    """The id of the one comment."""
    run: str = ""
    """The last failed run that was told of there."""
    labels: tuple[str, ...] = ()
    """Those that were put on by the bot."""
    failed_tries: int = 0
    """To answer, since the last success; the store's column is `attempts`."""
    claim: str = ""
    """Of whoever is at it: a text that no other claim has."""
