"""Map the keys of configuration files to facts, as `patterns/keys.yaml` describes.

In: rows of `patterns/keys.yaml`, the `Leaf`s of a file. Out: `StatedFact`: facts under the names
that the rules for printed lines give them, with their lines. Not here: reading files
(`formats.nested`), which of several files counts (`facts.fact_store`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.formats.nested import Leaf

_BELOW: Final = "*."
_UNSAID: Final = frozenset({"", "null", "none", "~", "auto", "???", "nan", "no"})
_FLAGS: Final = {"true": "True", "false": "False", "yes": "True", "no": "False"}
_OPEN: Final = "${"
"""Begins a value that names another, which is not looked up."""
_NUMBER: Final = compile_lazily(r"[+-]?(?:\d{1,15}\.?\d{0,20}|\.\d{1,20})(?:[eE][+-]?\d{1,3})?")
_LIST_ITEM: Final = compile_lazily(r"[\w./*-]{1,80}")


class StatedFact(NamedTuple):
    """A fact that a configuration states."""

    name: str
    value: str
    line: int


class _RankedRow(NamedTuple):
    number: int
    rank: int
    raw: Mapping[str, Any]


class KeyTable:
    """The meaning of the keys of configurations."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Sort the rows by their keys."""
        self._whole: dict[str, list[_RankedRow]] = {}
        self._below: dict[str, list[_RankedRow]] = {}
        for number, raw in enumerate(rows):
            for rank, key in enumerate(raw["keys"]):
                table = self._below if key.startswith(_BELOW) else self._whole
                row = _RankedRow(number, rank, raw)
                table.setdefault(_normalise_key(key.removeprefix(_BELOW)), []).append(row)

    def stated(self, leaves: Iterable[Leaf]) -> list[StatedFact]:
        """Give what the leaves say: of several keys for one fact the best, of equals the first."""
        best: dict[int, tuple[int, StatedFact]] = {}
        for leaf in leaves:
            for row in self._iter_rows(_normalise_key(leaf.name)):
                value = _parse_value(row.raw, leaf.value.strip())
                known = best.get(row.number)
                if value and (known is None or row.rank < known[0]):
                    best[row.number] = (row.rank, StatedFact(row.raw["to"], value, leaf.line))
        return [stated for _, (_, stated) in sorted(best.items())]

    def _iter_rows(self, name: str) -> Iterable[_RankedRow]:
        yield from self._whole.get(name, ())
        parts = name.split(".")
        for start in range(1, len(parts)):
            yield from self._below.get(".".join(parts[start:]), ())


def _normalise_key(name: str) -> str:
    return name.lower().replace("-", "_")


def _parse_value(row: Mapping[str, Any], printed: str) -> str:
    """Give what a value says for a row; empty where it says nothing."""
    lowered = printed.lower()
    if "values" in row:
        return str(row["values"].get(lowered, ""))
    if lowered in _UNSAID - _FLAGS.keys() or _OPEN in printed:
        return ""
    value = _READERS[row["is"]](printed)
    return str(row["as"]) if value and "as" in row else value


def _parse_number(printed: str) -> str:
    return printed if _NUMBER.fullmatch(printed) else ""


def _parse_whole_number(printed: str) -> str:
    return printed if re.fullmatch(r"\d{1,15}", printed) else ""


def _parse_flag(printed: str) -> str:
    return _FLAGS.get(printed.lower(), "")


def _parse_word(printed: str) -> str:
    is_word = len(printed) <= 200 and "\n" not in printed and printed[:1] not in "[{"
    return printed if is_word and not _is_flag_or_count(printed) else ""


def _is_flag_or_count(printed: str) -> bool:
    """Say whether a value is no word; a version is one."""
    return printed.lower() in _FLAGS or bool(re.fullmatch(r"[+-]?\d+(?:[eE].*)?", printed))


def _list(printed: str) -> str:
    return printed if _LIST_ITEM.search(printed) and len(printed) <= 400 else ""


_READERS: Final = {
    "number": _parse_number,
    "whole": _parse_whole_number,
    "flag": _parse_flag,
    "word": _parse_word,
    "list": _list,
}
