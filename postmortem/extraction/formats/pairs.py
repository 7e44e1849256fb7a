"""Read the name-value pairs of a record, whatever their number and order.

In: a match of a format of kind metrics. Out: its pairs under canonical names. Not here: the groups
that a format names itself, what the values are (`formats.records`).
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from postmortem.core import names as known
from postmortem.rules.engine import Budget, Match, Pattern, compile_pattern


class PairPlaces(NamedTuple):
    """Where the pairs of a record stand in its text."""

    keys: Sequence[tuple[int, int]]
    """Without blanks around them."""
    values: Sequence[tuple[int, int]]
    endings: Sequence[str] = ()
    """What each name ends with: that of a mean so far says so."""


def _locate_pairs(match: Match) -> tuple[int, str]:
    """Give where the pairs of a match begin, and their text; empty where it has none."""
    try:
        return match.start("pairs"), match["pairs"] or ""
    except (KeyError, IndexError):  # the format has no such group
        return -1, ""


class PairReader:
    """Reads the pairs in the records of one format."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        """Take what the knowledge base says of the format."""
        self._raw = raw
        self._names: dict[str, str] = {**(raw.get("names") or {})}
        """By key, where it is another one; empty where the pair is ignored."""
        self._names.update(dict.fromkeys(raw.get("ignore") or (), ""))
        if raw.get("step"):
            self._names[raw["step"]] = "step"

    @functools.cached_property
    def _pair(self) -> Pattern | None:
        """The pattern of a pair, compiled when the first record comes."""
        pattern = self._raw.get("pair")
        return compile_pattern(pattern) if pattern else None

    @functools.cached_property
    def _loss_key(self) -> Pattern | None:
        """The pattern of the key that stands for the loss, compiled likewise."""
        pattern = self._raw.get("loss_key")
        return compile_pattern(pattern) if pattern else None

    @property
    def pattern(self) -> str:
        """The text of the pattern of a pair; empty if the format has none."""
        return self._raw.get("pair") or ""

    @property
    def is_linear(self) -> bool:
        """Whether searching for pairs takes nothing from the budget."""
        return self._pair is None or self._pair.is_linear

    def places(self, match: Match, budget: Budget | None) -> PairPlaces:
        """Find every pair of a match.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        base, text = _locate_pairs(match)
        if self._pair is None or not text:
            return PairPlaces((), ())
        has_mean = "mean" in self._pair.names
        keys, values = list[tuple[int, int]](), list[tuple[int, int]]()
        endings = list[str]()
        for pair in self._pair.finditer(text, budget):
            start, end = pair.span("key")
            key = text[start:end]
            start += len(key) - len(key.lstrip())
            for group, ending in (("value", ""), ("mean", known.SO_FAR))[: 1 + has_mean]:
                value, value_end = pair.span(group)
                if value >= 0:
                    keys.append((base + start, base + start + len(key.strip())))
                    values.append((base + value, base + value_end))
                    endings.append(ending)
        return PairPlaces(keys, values, endings)

    def read(self, text: str, places: PairPlaces, budget: Budget | None) -> list[tuple[str, str]]:
        """Give (canonical name, printed value) of the pairs that stand at places of a text.

        The name is empty where the pair is ignored.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        names = self._canonicalize_keys([text[start:end] for start, end in places.keys], budget)
        called = [name and name + end for name, end in zip(names, places.endings, strict=True)]
        values = [text[start:end] for start, end in places.values]
        return list(zip(called, values, strict=True))

    def rests(self, match: Match, budget: Budget | None) -> list[tuple[int, int]]:
        """Give where text stands that belongs to a pair but not to its value.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        base, text = _locate_pairs(match)
        if self._pair is None or "rest" not in self._pair.names or not text:
            return []
        return [
            (base + found.start("rest"), base + found.end("rest"))
            for found in self._pair.finditer(text, budget)
            if found["rest"] is not None
        ]

    def _canonicalize_keys(self, keys: list[str], budget: Budget | None) -> list[str]:
        """Give the canonical names of a record's keys; at most one of them stands for the loss."""
        get_name = self._names.get
        names = [get_name(key, key) for key in keys]
        if self._loss_key is not None and "loss" not in names:
            for index, key in enumerate(keys):
                if self._loss_key.search(key, budget):
                    names[index] = "loss"
                    break
        return names
