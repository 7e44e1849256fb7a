"""Known clusters as word patterns: which one a template matches, and which one it widens.

In: patterns of one scope and one length, the oldest first. Out: the id of one of them, or none. Not
here: clustering templates that match none (`grouping.token_partition`).

A pattern is never opened so far that a template could be an instance of two: what once belonged to
a cluster belongs to it in every later triage.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.fleet.grouping.token_partition import (
    ANY,
    Words,
    compute_fixed_share,
    compute_similarity,
    merge_rows,
)

_MOST_MASKS: Final = 256
"""Sets of open places that a template is looked up under, those of the oldest patterns first."""
_MOST_COMPARED: Final = 24
"""Patterns that a template is compared with word by word: those with its rarest words."""
_MOST_STATES: Final = 512
"""Patterns that a wider one is held against; beside more it is not opened."""
_Mask = tuple[int, ...]
_Place = tuple[int, str]


class KnownPatterns:
    """Patterns that templates are held against; they widen, and never become one."""

    def __init__(self, patterns: Iterable[tuple[str, Words]]) -> None:
        """Take ids and words, the oldest first."""
        self.words: dict[str, Words] = dict(patterns)
        """The words of each pattern, as wide as it has become."""
        self._age = {name: age for age, name in enumerate(self.words)}
        self._having: defaultdict[_Place, list[str]] = defaultdict(list)
        for name, words in self.words.items():
            for place in enumerate(words):
                self._having[place].append(name)
        self._index()

    def _index(self) -> None:
        """Note which pattern has which fixed words, by the places that it leaves open."""
        self._fixed: dict[_Mask, dict[Words, str]] = {}
        for name, words in self.words.items():
            mask = tuple(place for place, word in enumerate(words) if word == ANY)
            if mask in self._fixed or len(self._fixed) < _MOST_MASKS:
                self._fixed.setdefault(mask, {}).setdefault(words, name)

    def find_instance(self, template: Words) -> str | None:
        """Give the oldest pattern that a template is an instance of."""
        found = []
        for mask, patterns in self._fixed.items():
            opened = list(template)
            for place in mask:
                opened[place] = ANY
            if (name := patterns.get(tuple(opened))) is not None:
                found.append(name)
        return min(found, key=self._age.__getitem__, default=None)

    def widen(self, templates: Sequence[Words], least: float) -> None:
        """Open the patterns for templates that are like them and an instance of none.

        Each template is held against the patterns as they were before; of several it is like, the
        one that it has most in common with is opened, the older one of two, as far as the pattern
        keeps the share of its words that all members must have in common.

        Args:
            templates: sorted, each once.
            least: share of words in common from which on two are alike.
        """
        if not self.words:
            return
        joining: defaultdict[str, list[Words]] = defaultdict(list)
        for template in templates:
            if self.find_instance(template) is None:
                name = self._likest(template, least)
                if name is not None:
                    joining[name].append(template)
        for name in sorted(joining, key=self._age.__getitem__):
            for member in joining[name]:
                wider = merge_rows((self.words[name], member))
                if compute_fixed_share(wider) >= least and not self._reaches_others(name, wider):
                    self._open(name, wider)
        self._index()

    def _open(self, name: str, wider: Words) -> None:
        for place, word in enumerate(wider):
            if word != self.words[name][place]:
                self._having[place, word].append(name)
        self.words[name] = wider

    def _reaches_others(self, name: str, wider: Words) -> bool:
        """Say whether a template could be an instance of a wider pattern and of another one."""
        lists = (
            (self._having.get(place, []), self._having.get((place[0], ANY), []))
            for place in enumerate(wider)
            if place[1] != ANY
        )
        same, opened = min(lists, key=lambda pair: len(pair[0]) + len(pair[1]))
        if len(same) + len(opened) > _MOST_STATES:
            return True
        return any(
            other != name and _can_overlap(wider, self.words[other]) for other in {*same, *opened}
        )

    def _likest(self, template: Words, least: float) -> str | None:
        alike = [
            (compute_similarity(template, self.words[name]), name)
            for name in self._compared(template)
        ]
        alike = [(share, name) for share, name in alike if share >= least]
        if not alike:
            return None
        return min(alike, key=lambda pair: (-pair[0], self._age[pair[1]]))[1]

    def _compared(self, template: Words) -> Iterator[str]:
        """Yield the first few patterns that share a word with a template, its rarest words first.

        A pattern that shares no word with it is not like it.
        """
        seen: set[str] = set()
        for names in sorted(
            (self._having.get(position, []) for position in enumerate(template)), key=len
        ):
            for name in names:
                if len(seen) >= _MOST_COMPARED:
                    return
                if name not in seen:
                    seen.add(name)
                    yield name


def _can_overlap(first: Words, second: Words) -> bool:
    """Say whether there could be an instance of both."""
    return all(mine == its or ANY in (mine, its) for mine, its in zip(first, second, strict=True))
