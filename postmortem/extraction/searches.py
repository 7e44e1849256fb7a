"""Run the searches of rules, once for all processes that print the same line.

In: a rule, a text, the budget of the source. Out: matches. Not here: which lines are searched, and
what a match becomes.
"""

from typing import Final

from postmortem.reading.windows import LONG
from postmortem.rules.base import Format, Signature
from postmortem.rules.engine import Budget, Match

_MOST: Final = 1024
"""Texts that are known not to need another search: a thousand processes print the same one."""


class Searches:
    """What the rules have found in the texts of one source."""

    def __init__(self, budget: Budget) -> None:
        """Take the seconds that slow searches may take."""
        self._budget = budget
        self._known: dict[tuple[str, str], tuple[Match, ...]] = {}

    def search(self, rule: Signature | Format, text: str) -> tuple[Match, ...]:
        """Give all matches of a rule that wants each of them, else the first, if there is one.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        known, key = self._known, (rule.id, text)
        found = known.get(key)
        if found is None:
            found = tuple(
                rule.finditer(text, self._budget)
                if rule.raw.get("each")
                else filter(None, [rule.search(text, self._budget)])
            )
            if len(text) <= LONG:
                if len(known) >= _MOST:
                    known.clear()
                known[key] = found
        return found
