"""Find the literals of single lines.

In: lines. Out: which literals each holds, and where those stand whose rules are not known. Not
here: what the rules do (`rule_trials`), the literals of regions (`row_cutter`).
"""

import bisect
import itertools
from collections.abc import Sequence

from postmortem.extraction.learnt_literals import LearntLiterals
from postmortem.extraction.literals import Matcher


class LineLiterals:
    """Finds literals by the first of those that differ in a digit alone."""

    def __init__(self, machine: Matcher, learnt: LearntLiterals) -> None:
        """Take the literals, and those that their source teaches."""
        self._machine, self._learnt = machine, learnt

    def of(self, raw: bytes) -> set[int]:
        """Give the literals of a line."""
        return self.of_each([raw])[0]

    def of_each(self, lines: Sequence[bytes]) -> list[set[int]]:
        """Give the literals of each line; a scan of many costs little more than one of one."""
        alike, found = self._machine.alike, [set[int]() for _ in lines]
        joined = b"\n".join(lines)
        ends = list(itertools.accumulate(len(line) + 1 for line in lines))
        for number, start in self._learnt.hits(joined, 0, len(joined)):
            line = bisect.bisect_right(ends, start)
            if joined.startswith(self._learnt.texts(number), start, ends[line] - 1):
                found[line].add(alike[number])
        return found

    def find_unknown(self, known: frozenset[int], raw: bytes) -> list[tuple[int, int]]:
        """Give where those on a line of figures begin and end that are looked at and not known."""
        machine = self._machine
        return [
            (start, start + len(machine.literals[number]))
            for number, start in machine.filter.hits(raw, 0, len(raw))
            if machine.is_more_than_metric[machine.alike[number]]
            and machine.alike[number] not in known
        ]
