"""Remember where the parts of a record stand, for texts that differ only in digits.

In: a format of kind metrics and a text. Out: the places of its groups and pairs. Not here: what
stands there (`formats.records`, `formats.pairs`).

A log that names thousands of metrics has thousands of lines with other names, which no template
takes. Most differ in digits, and to most patterns all digits are alike: then the parts of the one
stand where those of the other do, and nothing need be searched for.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.extraction.formats.pairs import PairPlaces, PairReader
from postmortem.rules.base import Format
from postmortem.rules.digit_agnostic import is_digit_agnostic
from postmortem.rules.engine import Budget

_MASK: Final = bytes.maketrans(b"123456789", b"0" * 9)
_MOST_KNOWN: Final = 256
_LONGEST: Final = 1024
"""Characters of a text above which its places are not kept."""
_ODD: Final = ("unless", "beside")
"""What a rule may ask besides its pattern."""


class RecordPlaces(NamedTuple):
    """The places of a record in its text."""

    groups: Mapping[str, tuple[int, int]]
    """By name, of the groups that take part."""
    pairs: PairPlaces
    lines: int


class PlaceFinder:
    """Finds the records of one format."""

    def __init__(self, format_: Format, pairs: PairReader) -> None:
        """Take the format, and who finds its pairs; know no text."""
        self._format, self._pairs = format_, pairs
        self._known: dict[bytes, RecordPlaces | None] = {}
        """By text, with all digits the same."""
        self._is_blind: bool | None = None
        """Whether all digits are the same to its patterns; None while nobody has asked."""

    def find(self, text: str, budget: Budget | None) -> RecordPlaces | None:
        """Find the record in a text, or None if there is none.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        if len(text) > _LONGEST or not text.isascii() or not self._has_alike():
            return self._search_places(text, budget)
        masked = text.encode().translate(_MASK)
        try:
            return self._known[masked]
        except KeyError:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[masked] = self._search_places(text, budget)
            return found

    def _search_places(self, text: str, budget: Budget | None) -> RecordPlaces | None:
        match = self._format.search(text, budget)
        if match is None:
            return None
        return RecordPlaces(
            {name: place for name in self._names() if (place := match.span(name))[0] >= 0},
            self._pairs.places(match, budget),
            match[0].count("\n") + 1,
        )

    def _names(self) -> Sequence[str]:
        return self._format.pattern().names

    def _has_alike(self) -> bool:
        """Say whether texts that differ in digits alone have their records at the same places."""
        if self._is_blind is None:
            patterns = [pattern for pattern in (self._format.match, self._pairs.pattern) if pattern]
            self._is_blind = (
                not any(self._format.raw.get(name) for name in _ODD)
                and all(map(is_digit_agnostic, patterns))
                and self._format.pattern().is_linear
                and self._pairs.is_linear
            )
        return self._is_blind
