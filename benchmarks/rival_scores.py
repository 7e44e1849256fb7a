"""How often a tool names the right cause of a log, or its area.

In: cases, what a tool says of each, and the rows of `rivals.yaml`. Out: `Score`. Not here: asking.
"""

import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rival_cases import Case

_SHOWN = 50
"""So many characters of a line are enough to find it by."""


@dataclass
class Score:
    """Counts over the logs of a set."""

    failed: int = 0
    cause: int = 0
    area: int = 0
    """The right area, and not the right cause."""
    other: int = 0
    """It names something, and nothing of it is in the right area."""
    nothing: int = 0
    unread: int = 0
    """Of these it broke off, or refused the log."""
    quotable: int = 0
    quoted: int = 0
    """Of the logs with a line that shows the failure: it quotes that line."""
    quotes: list[int] = field(default_factory=list)
    """How many lines it quotes."""
    sound: int = 0
    alarms: int = 0
    unmapped: set[str] = field(default_factory=set)

    @property
    def lines(self) -> int:
        """How many lines it quotes of a failed run, in the median."""
        return round(statistics.median(self.quotes)) if self.quotes else 0


@dataclass(frozen=True)
class Meaning:
    """What an answer says."""

    causes: frozenset[str] = frozenset()
    areas: frozenset[str] = frozenset()
    is_firm: bool = True
    """It is a verdict: neither a lead, nor information, nor a word for any failure."""

    @property
    def is_said(self) -> bool:
        """Whether it says anything."""
        return bool(self.causes or self.areas)


def meant(
    answer: str, rows: Sequence[dict[str, Any]], ids: Callable[[list[str]], frozenset[str]]
) -> Meaning | None:
    """What the first row that holds makes of an answer; none if no row does."""
    for row in rows:
        if re.search(row["says"], answer):
            causes = ids(row.get("causes", []))
            areas = frozenset(row.get("areas", [])) | {cause.split(".")[0] for cause in causes}
            is_firm = not row.get("vague") and not answer.startswith(("lead:", "info:"))
            return Meaning(causes, areas, is_firm)
    return None


def scored(
    cases: Sequence[Case],
    answers: Sequence[list[str] | str],
    rows: Sequence[dict[str, Any]] | None,
    ids: Callable[[list[str]], frozenset[str]],
) -> Score:
    """Count; without rows the answers are ids of causes themselves."""
    score = Score()
    for case, answer in zip(cases, answers, strict=True):
        texts = [] if isinstance(answer, str) else answer
        named = [text for text in texts if not text.startswith("quote:")]
        meanings = []
        for text in named:
            own = Meaning(frozenset({text}), frozenset({text.split(".")[0]}))
            meaning = own if rows is None else meant(text, rows, ids)
            if meaning is None:
                score.unmapped.add(text)
            else:
                meanings.append(meaning)
        if case.is_sound:
            score.sound += 1
            score.alarms += any(
                one.is_firm and one.is_said and "healthy" not in one.areas for one in meanings
            )
        else:
            score.unread += isinstance(answer, str)
            _add(score, case, meanings)
            _add_quotes(score, case, [text for text in texts if text.startswith("quote:")])
    return score


def _add(score: Score, case: Case, meanings: Sequence[Meaning]) -> None:
    areas = {cause.split(".")[0] for cause in case.causes}
    score.failed += 1
    if any(meaning.causes & case.causes for meaning in meanings):
        score.cause += 1
    elif any(meaning.areas & areas for meaning in meanings):
        score.area += 1
    elif any(meaning.is_firm and meaning.is_said for meaning in meanings):
        score.other += 1
    else:
        score.nothing += 1


def _add_quotes(score: Score, case: Case, quotes: Sequence[str]) -> None:
    if case.lines:
        text = " ".join(" ".join(quotes).split())
        score.quotable += 1
        score.quoted += any(" ".join(line.split())[:_SHOWN] in text for line in case.lines)
        score.quotes.append(len(quotes))
