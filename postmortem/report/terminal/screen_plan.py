"""How much of each section a screen shows, from the shortest form up.

In: nothing. Out: a plan, and what is added to it, the most informative first. Not here: writing it
(`terminal.screen`).
"""

from typing import Final, NamedTuple


class Plan(NamedTuple):
    """How many lines or items of each kind are shown."""

    title: int = 1
    first: int = 1
    warnings: int = 1
    explanation: int = 0
    needs: int = 1
    fixes: int = 1
    reason: int = 0
    """Lines for why the first fix is to be done."""
    snippets: int = 0
    evidence: int = 1
    depth: int = 1
    """Lines that a piece of evidence may take."""
    candidates: int = 1
    curves: int = 0
    progress: int = 0
    environment: int = 0
    others: int = 0
    harmless: int = 0
    is_spaced: bool = False


UPGRADES: Final[tuple[tuple[str, int], ...]] = (
    ("needs", 2),
    ("fixes", 2),
    ("evidence", 2),
    ("snippets", 1),
    ("title", 2),
    ("reason", 1),
    ("curves", 1),
    ("progress", 1),
    ("candidates", 2),
    ("first", 2),
    ("is_spaced", 1),
    ("depth", 2),
    ("fixes", 3),
    ("explanation", 1),
    ("evidence", 3),
    ("snippets", 2),
    ("needs", 3),
    ("candidates", 3),
    ("explanation", 2),
    ("curves", 2),
    ("evidence", 4),
    ("environment", 1),
    ("others", 1),
    ("explanation", 3),
    ("warnings", 2),
    ("snippets", 3),
    ("harmless", 1),
    ("environment", 2),
    ("others", 2),
    ("fixes", 4),
    ("evidence", 5),
    ("curves", 3),
    ("explanation", 5),
    ("depth", 3),
    ("fixes", 5),
    ("evidence", 7),
    ("explanation", 9),
    ("harmless", 2),
    ("warnings", 8),
)
