"""The templates that were learnt from one source, and what is done with their figures.

In: lines that were read slowly. Out: `TemplatePath`s, found by the first literal of a line and its
skeleton. Not here: making templates (`formats.records`, `formats.layouts`), taking figures
(`extraction.template_reader`).

They are found by literal and skeleton, so that any number of them costs the same; of one skeleton
the last that matched comes first. One is learnt when its like comes for the second time, and
learning must be paid for: what it costs is a fixed part of what was read slowly, so that lines
which are never the same again cost no more than reading them.
"""

import re
from typing import Final, NamedTuple

from postmortem.core.lines import ProcessId
from postmortem.extraction.facts.columns import Columns
from postmortem.extraction.formats import layouts
from postmortem.extraction.formats.bars import is_training
from postmortem.extraction.formats.learnt_layouts import Layout
from postmortem.extraction.formats.records import EPOCHS, POSITION, MetricReader
from postmortem.extraction.formats.templates import (
    PLACES,
    Template,
    build_common_prefix,
    build_skeleton,
    set_process_part,
)
from postmortem.extraction.points import Points
from postmortem.extraction.process_registry import MOST_PROCESSES
from postmortem.reading.windows import View
from postmortem.rules.engine import Budget

CREDIT: Final = 64.0
"""What learning may cost in advance; each line that was read slowly pays a part. A template costs
1, and behind others of its skeleton, which did not help, as much for each of them."""
_PAID: Final = 1 / 16
_LAYOUT_COSTS: Final = 4
_MOST_SKELETONS: Final = 512
_MOST_TEMPLATES: Final = 8
"""Of one skeleton."""
_MISSED, _FEWEST, _MOST_JOINED = 8, 3, 64
"""Lines that none of the templates of a literal has taken, and how many of these, for which it is
worth while to compile what they begin with."""
_MOST_SEEN: Final = 4096


class TemplatePath(NamedTuple):
    """A template and what is done with its figures."""

    template: Template
    reader: MetricReader | Layout | None
    """Nobody takes a figure of such a line if there is none."""
    places: tuple[tuple[int, str], ...]
    """Groups that tell the process, and which part of it."""
    wheres: dict[tuple[bytes, ...], ProcessId]
    """The processes that were told so far."""
    rows: dict[ProcessId, Columns]
    step: int | None
    epochs: tuple[int, int, float] | None
    """Groups of the epoch and of its length, and the number of the first epoch, where the step is
    counted anew in each."""
    needs_bar: bool
    is_training: bool
    position: tuple[int | None, ...]
    """Groups that tell where a bar stands."""

    def where(self, groups: tuple[bytes, ...], points: Points) -> ProcessId:
        """Give the process that a line names, as far as processes are kept apart."""
        numbers = tuple([groups[index] for index, _ in self.places])
        where = self.wheres.get(numbers)
        if where is None:
            if len(self.wheres) >= MOST_PROCESSES:
                return points.stranger()
            where = self.template.where
            for index, name in self.places:
                where = set_process_part(where, name, int(groups[index]))
            where = self.wheres[numbers] = points.process(where)
        return where


class LearntPaths:
    """The templates of one source."""

    def __init__(self, budget: Budget) -> None:
        """Know none; learning searches with this budget."""
        self._budget = budget
        self.by_literal: dict[int, dict[bytes, list[TemplatePath]]] = {}
        """By first literal and skeleton."""
        self.latest: dict[int, TemplatePath] = {}
        """The one that has matched last, by first literal: a line is most often like another."""
        self._heads: dict[int, re.Pattern[bytes]] = {}
        """What every line begins with that one of them takes, by first literal."""
        self._missed: dict[int, int] = {}
        """Lines that none has taken since the last was learnt, likewise."""
        self._seen: set[int] = set()
        self._credit = CREDIT

    def find(
        self, opening: int, data: bytes, begin: int, end: int, tried: TemplatePath | None = None
    ) -> tuple[TemplatePath, "re.Match[bytes]"] | None:
        """Find the template of the line from `begin` to `end`, which is not the one tried."""
        paths = self.by_literal[opening].get(build_skeleton(data, begin, end), [])
        for index, path in enumerate(paths):
            match = path.template.pattern.match(data, begin)
            if match is not None and match.end() == end:
                if index:
                    paths.insert(0, paths.pop(index))
                self.latest[opening] = path
                return path, match
        self._miss(opening)
        latest = self.latest.get(opening)  # may take what its own skeleton does not: a bar's graph
        if latest is None or latest is tried:
            return None
        match = latest.template.pattern.match(data, begin)
        if match is None or match.end() != end:
            return None
        return latest, match

    def knows(self, opening: int) -> bool:
        """Say whether a template begins with a literal."""
        return opening in self.by_literal

    def count(self) -> int:
        """Count the templates."""
        return sum(len(paths) for known in self.by_literal.values() for paths in known.values())

    def takes_none(self, opening: int, data: bytes, begin: int) -> bool:
        """Say whether the beginning of a line rules out every template.

        So it is where a log has ever other names, in one look in the place of one for each.
        """
        head = self._heads.get(opening)
        return head is not None and head.match(data, begin) is None

    def _miss(self, opening: int) -> None:
        """Count a line that no template took; after a few a check of the beginning pays."""
        missed = self._missed[opening] = self._missed.get(opening, 0) + 1
        if missed != _MISSED:
            return
        paths = [path for like in self.by_literal[opening].values() for path in like]
        latest = self.latest.get(opening)  # is among them, or was
        templates = [path.template for path in (*paths, *([latest] if latest is not None else []))]
        head = build_common_prefix(templates) if _FEWEST <= len(templates) <= _MOST_JOINED else None
        if head is not None:
            self._heads[opening] = head

    def learn(
        self, opening: int, view: View, reader: MetricReader | None, *, needs_bar: bool = False
    ) -> None:
        """Learn from a line that was read slowly.

        Without a format's reader it is one of unknown layout.
        """
        self._credit = min(CREDIT, self._credit + _PAID)
        common = build_skeleton(view.data, view.start, view.end)
        if not self._comes_again(opening, common):
            return
        known = self.by_literal.setdefault(opening, {})
        like = known.get(common, ())
        costs = (1 if reader is not None else _LAYOUT_COSTS) * max(1, len(like))
        if self._credit < costs or any(_is_match(path, view) for path in like):
            return
        self._credit -= costs
        learnt = layouts.infer_layout(view) if reader is None else reader
        template = self._learn_template(learnt, view)
        if learnt is None or template is None:
            return
        if common not in known and len(known) >= _MOST_SKELETONS:
            del known[next(iter(known))]
        paths = known.setdefault(common, [])
        paths.insert(0, build_path(template, learnt, needs_bar=needs_bar))
        del paths[_MOST_TEMPLATES:]
        self._heads.pop(opening, None)
        self._missed.pop(opening, None)

    def _comes_again(self, opening: int, common: bytes) -> bool:
        """Say whether a line of the same skeleton was read slowly before."""
        key = hash((opening, common))
        if key in self._seen:
            return True
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        self._seen.add(key)
        return False

    def _learn_template(self, learnt: MetricReader | Layout | None, view: View) -> Template | None:
        if isinstance(learnt, MetricReader):
            return learnt.learn(view, self._budget)
        return None if learnt is None else learnt.template


def _is_match(path: TemplatePath, view: View) -> bool:
    match = path.template.pattern.match(view.data, view.start)
    return match is not None and match.end() == view.end


def build_path(
    template: Template, reader: MetricReader | Layout | None, *, needs_bar: bool = False
) -> TemplatePath:
    """Give what is done with the figures of a template."""
    names = template.names
    epochs = next(
        (
            (names.index(name), names.index("per_epoch"), first)
            for name, first in EPOCHS.items()
            if name in names and "per_epoch" in names
        ),
        None,
    )
    places = tuple((index, name) for index, name in enumerate(names) if name in PLACES)
    step = names.index("step") if "step" in names else None
    position = tuple(names.index(name) if name in names else None for name in POSITION)
    known = is_training(names)
    return TemplatePath(template, reader, places, {}, {}, step, epochs, needs_bar, known, position)
