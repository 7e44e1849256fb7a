"""Read facts from lines: arguments, versions, GPUs, checkpoints.

In: lines with a literal of a rule for facts. Out: named values in the `FactStore` of an `Extract`.
Not here: what the values mean (`facts`).
"""

from typing import Final

from postmortem.extraction.points import Points
from postmortem.extraction.searches import Searches
from postmortem.reading.windows import View
from postmortem.rules.base import Format
from postmortem.rules.engine import Match

_TOTAL: Final = "total_steps"


class FactLines:
    """Takes the facts that the lines of one source state."""

    def __init__(self, rules: list[Format], points: Points, searches: Searches) -> None:
        """Take the rules, where frameworks are counted, and who searches."""
        self._rules, self._points, self._searches = rules, points, searches
        self._seen: dict[int, int] = {}
        """Matches of the rules of which some are enough, by index."""

    def take(self, index: int, view: View, _: int) -> None:
        """Take what the rule of this index finds on a line."""
        rule = self._rules[index]
        if self.is_enough(index):
            return
        text = "\n".join(view.following(int(rule.raw.get("lines", 1))))
        for match in self._searches.search(rule, text):
            self._put(rule, match, view)
            if rule.enough:
                self._seen[index] = self._seen.get(index, 0) + 1
            if rule.framework:
                self._points.recognise(rule.framework)

    def is_enough(self, index: int) -> bool:
        """Say whether a rule has matched as often as it counts."""
        enough = self._rules[index].enough
        return enough > 0 and self._seen.get(index, 0) >= enough

    def _put(self, rule: Format, match: Match, view: View) -> None:
        result, source = self._points.result, self._points.source
        strength = int(rule.raw.get("strength", 1))
        groups = {name: value for name, value in match.groupdict().items() if value is not None}
        if "package" in groups and "version" in groups:
            package = groups.pop("package").lower().replace("-", "_")
            groups[f"package_{package}"] = groups.pop("version")
        for name, value in (*groups.items(), *(rule.raw.get("set") or {}).items()):
            if name == _TOTAL and value.replace(",", "").isdigit():
                result.total_steps = float(value.replace(",", ""))
            result.facts.add(name, value, strength, source, view.number, view.cleaned.time)
