"""What is known of an anomaly in general: its meaning, and what follows from it.

In: nothing. Out: `AnomalyType`. Not here: the rows (`rules.catalogue`), an anomaly that was found
(`detectors.anomaly`).
"""

from typing import NamedTuple

from postmortem.core.message import Message


class AnomalyType(NamedTuple):
    """A row of the catalogue of anomalies."""

    id: str
    meaning: Message
    is_bad: bool = False
    """A run that shows it is not sound: nobody says of it that no failure is shown."""
    is_grave: bool = False
    """In the story of the run it is told before whatever else is told of its line, and kept where
    there is too much to tell."""
    can_be_first: bool = False
    """Where it stands may be the first failure of the run."""
    spoils: bool = False
    """From its place on the weights are lost: a checkpoint behind it is nothing to go back to."""
    is_turn: bool = False
    """It happens at a place of the run and is told there in the story of the run."""
    spreads: bool = False
    """The all-reduce carries it from the process that went wrong first, which shows how, to the
    others, which show only what came of it."""
