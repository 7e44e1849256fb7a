"""The line shapes that were learnt from one source.

In: lines that were read the slow way. Out: `LineShape`s, found by what their lines have in common.
Not here: making them (`shape_making`), taking the figures of a line (`extraction.template_reader`),
many lines at once (`row_cutter`).

Learning must be paid for, as that of templates is (`extraction.learnt_paths`): lines that are never
the same again cost no more than reading them.
"""

import re
from typing import Final

from postmortem.extraction.columnar.rule_trials import RuleTrials
from postmortem.extraction.columnar.shape_making import LineShape, ShapeMaker
from postmortem.extraction.formats.templates import LONGEST, build_skeleton
from postmortem.extraction.learnt_paths import LearntPaths

FIRST_TRY, NEXT_TRY = 12, 4
"""Appearances of a line that is like others at which its shape is looked for, and how many times
more at which it is looked for again."""
_MOST_SEEN: Final = 4096
_MOST_SHAPES: Final = 2048
_MOST_OF_ONE: Final = 8
"""Shapes of lines that have as much in common."""
CREDIT: Final = 1500.0
"""Lines that the rules may be asked about in advance."""
_PAID: Final = 1 / 16
"""What each line that is read slowly pays for learning, in such lines."""


class LineShapes:
    """The shapes of one source."""

    def __init__(self, trials: RuleTrials, paths: LearntPaths, *, srun: bool) -> None:
        """Know none; figures are taken by `paths`."""
        self._trials, self._maker = trials, ShapeMaker(trials, paths, srun=srun)
        self._known: dict[bytes, list[LineShape]] = {}
        self._seen: dict[bytes, tuple[int, int]] = {}
        """How often a line came, by what it has in common with others, and when it is tried."""
        self._credit = CREDIT
        self._count = 0
        self.used: dict[int, tuple[LineShape, int]] = {}
        """By identity: shapes and how many lines of them were read since somebody last asked."""

    def find(self, data: bytes, begin: int, end: int) -> tuple[LineShape, "re.Match[bytes]"] | None:
        """Find the shape of the line from `begin` to `end`."""
        if not self._known:
            return None
        for shape in self._known.get(build_skeleton(data, begin, end), ()):
            match = shape.pattern.match(data, begin)
            if match is not None and match.end() == end:
                if shape.verdict.is_sure:
                    key = id(shape)
                    self.used[key] = (shape, self.used.get(key, (shape, 0))[1] + 1)
                return shape, match
        return None

    def clear(self) -> None:
        """Drop all shapes."""
        self._known.clear()
        self._seen.clear()
        self.used.clear()

    def forget(self, shape: LineShape) -> None:
        """Drop a shape to which some line did not keep."""
        for known in self._known.values():
            known[:] = [known_shape for known_shape in known if known_shape is not shape]

    def is_so(self, shape: LineShape, raw: bytes) -> bool:
        """Say whether a line keeps to what its shape states."""
        match = shape.pattern.match(raw + b"\n")
        if match is None:
            return False
        try:
            return self._trials.is_so(shape.verdict, shape.groups, raw, match.groups())
        except TimeoutError:
            return False

    def is_vain(self, shape: LineShape, number: int, raw: bytes) -> bool:
        """Say whether a literal that the shape does not account for has no effect on a line."""
        return self._trials.is_vain(shape.verdict, number, raw)

    def learn(self, opening: int, data: bytes, begin: int, end: int) -> None:
        """Learn from a line that was read the slow way, by its first literal."""
        self._credit = min(CREDIT, self._credit + _PAID)
        if end - begin > LONGEST:
            return
        common = build_skeleton(data, begin, end)
        if any(shape.pattern.match(data, begin) for shape in self._known.get(common, ())):
            return  # its findings are not yet so many that they are only counted
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        count, tried = self._seen.get(common, (0, FIRST_TRY))
        is_due = count + 1 >= tried
        self._seen[common] = (count + 1, NEXT_TRY * tried if is_due else tried)
        if is_due and self._credit >= 0 and self._count < _MOST_SHAPES:
            spent = self._trials.trial_count
            try:
                shape = self._maker.shape(opening, data, begin, end)
            except (TimeoutError, UnicodeDecodeError):
                shape = None
            self._credit -= self._trials.trial_count - spent
            if shape is not None:
                self._keep(common, shape)

    def _keep(self, common: bytes, shape: LineShape) -> None:
        """Keep a shape, before others of its skeleton."""
        self._seen.pop(common, None)
        known = self._known.setdefault(common, [])
        known.insert(0, shape)
        self._count += len(known) <= _MOST_OF_ONE
        del known[_MOST_OF_ONE:]
