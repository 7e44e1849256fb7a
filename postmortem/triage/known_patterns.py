"""Clusters that are known, by their words: whose instance a template is, and whom it widens.

In: patterns of one scope and one length, the oldest first. Out: the id of one of them, or none. Not
here: parting what belongs to none (`triage.token_partition`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.triage.token_partition import ANY, Words, common, fixed_share, likeness

_MOST_MASKS: Final = 256
"""Sets of open places that a template is looked up under, those of the oldest patterns first."""
_MOST_COMPARED: Final = 64
"""Patterns that a template is compared with word by word: those with its rarest words."""
_Mask = tuple[int, ...]


class KnownPatterns:
    """Patterns that templates are held against; they widen, and never become one."""

    def __init__(self, patterns: Iterable[tuple[str, Words]]) -> None:
        """Take ids and words, the oldest first."""
        self.words: dict[str, Words] = dict(patterns)
        """The words of each pattern, as wide as it has become."""
        self._age = {name: age for age, name in enumerate(self.words)}
        self._index()

    def _index(self) -> None:
        """Note which fixed words each pattern has, by the places that it leaves open."""
        self._fixed: dict[_Mask, dict[Words, str]] = {}
        for name, words in self.words.items():
            mask = tuple(place for place, word in enumerate(words) if word == ANY)
            if mask in self._fixed or len(self._fixed) < _MOST_MASKS:
                self._fixed.setdefault(mask, {}).setdefault(words, name)

    def instance(self, template: Words) -> str | None:
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
        by_word = self._by_word()
        joining: defaultdict[str, list[Words]] = defaultdict(list)
        for template in templates:
            if self.instance(template) is None:
                name = self._likest(template, by_word, least)
                if name is not None:
                    joining[name].append(template)
        for name, members in joining.items():
            for member in members:
                wider = common((self.words[name], member))
                if fixed_share(wider) >= least:
                    self.words[name] = wider
        self._index()

    def _by_word(self) -> dict[tuple[int, str], list[str]]:
        found: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
        for name, words in self.words.items():
            for place, word in enumerate(words):
                if word != ANY:
                    found[place, word].append(name)
        return dict(found)

    def _likest(
        self, template: Words, by_word: dict[tuple[int, str], list[str]], least: float
    ) -> str | None:
        compared = list(_some(self._beside(template, by_word)))
        alike = [(likeness(template, self.words[name]), name) for name in compared]
        alike = [(share, name) for share, name in alike if share >= least]
        if not alike:
            return None
        return min(alike, key=lambda pair: (-pair[0], self._age[pair[1]]))[1]

    def _beside(self, template: Words, by_word: dict[tuple[int, str], list[str]]) -> Iterator[str]:
        """Yield the patterns that share a word with a template, those of its rarest words first."""
        lists = [by_word.get(place, []) for place in enumerate(template)]
        for names in sorted(lists, key=len):
            yield from names


def _some(names: Iterator[str]) -> Iterator[str]:
    """Yield the first few different ones."""
    seen: set[str] = set()
    for name in names:
        if name not in seen:
            seen.add(name)
            yield name
        if len(seen) >= _MOST_COMPARED:
            return
