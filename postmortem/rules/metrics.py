"""What the names of metrics mean, as `patterns/metrics.yaml` lists it.

In: rows of the table, a name. Out: the classes that it belongs to. Not here: the names under which
a report knows the series that formats read (`core.names`), what follows from a class
(`diagnosis.detectors`), the proof of the table (`rules.metric_proof`).
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from postmortem.core.lazy_regex import compile_lazily

_WORD: Final = (
    r"(?:^|[_/ .@-]|(?<=^val)|(?<=^(?:test|eval))|(?<=^(?:train|valid)))(?:{})(?:$|[_/ .-])"
)
"""A word of a name: between the separators that programs put there, or glued to that of a split."""
_ANY: Final = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class MetricClass:
    """A row of the table."""

    id: str
    pattern: re.Pattern[str]
    """Searched in the whole name."""
    excluded: tuple[str, ...] = ()
    """Classes of which a name of this one is none."""
    better: str = ""
    """`higher`, `lower`, or empty where neither is."""
    bounds: tuple[float, float] = _ANY
    """A share, which may be printed in per cent, is of 0 to 1."""


class MetricTable:
    """The classes of metrics; several rows of one id add names to it."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take the compiled rows."""
        self._rows = tuple(rows)
        self._classes: dict[str, list[MetricClass]] = {}

    def __getitem__(self, name: str) -> list[MetricClass]:
        """Give the rows of a class.

        Raises:
            KeyError: there is no such class.
        """
        if not self._classes:
            for row in self._rows:
                self._classes.setdefault(row["id"], []).append(_build_class(row))
        return self._classes[name]

    def is_any(self, name: str, *classes: str) -> bool:
        """Say whether a name belongs to one of these classes."""
        return any(
            bool(row.pattern.search(name)) and not self.is_any(name, *row.excluded)
            for one in classes
            for row in self[one]
        )

    def classify(self, name: str) -> MetricClass | None:
        """Give the first class of the table to which a name belongs."""
        ids = dict.fromkeys(row["id"] for row in self._rows)
        return next((self[one][0] for one in ids if self.is_any(name, one)), None)


def _build_class(row: Mapping[str, Any]) -> MetricClass:
    pattern = _WORD.format(row["names"]) if "names" in row else row["match"]
    least, most = row.get("bounds") or _ANY
    return MetricClass(
        row["id"],
        compile_lazily(pattern, re.IGNORECASE),
        tuple(row.get("not") or ()),
        row.get("better", ""),
        (float(least), float(most)),
    )
