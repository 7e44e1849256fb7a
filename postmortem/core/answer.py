"""The answer to a job: ranked causes with evidence and fixes, the verdict, what to collect next.

In: nothing. Out: frozen values, field for field as the JSON contract names them. Not here: weighing
(`inference`), choosing fixes (`fixes`).
"""

from dataclasses import dataclass, field
from typing import Final, Generic

from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.wording import Text, get_no_text

_WITHIN_REACH: Final = 2.5
"""Log-odds within which a second cause is as good as the first, for people."""
_FAR_AHEAD: Final = 0.9
"""A probability from which on no other cause is."""


@dataclass(frozen=True, slots=True)
class Need(Generic[Text]):
    """What would decide an open question, and how to get it."""

    what: Text
    why: Text
    command: str = ""


@dataclass(frozen=True, slots=True)
class Verdict(Generic[Text]):
    """The answer; `cause` is None when the program abstains."""

    cause: str | None
    probability: float
    status: str
    """established | supported | hypothesis | unknown"""
    summary: Text
    whose: str
    retry: str
    not_checked: tuple[Text, ...] = ()
    would_change: tuple[Text, ...] = ()
    need: tuple[Need[Text], ...] = ()


@dataclass(frozen=True, slots=True)
class DecisiveWords:
    """Words of the log that carry evidence of a classifier, and the line that they stand in."""

    text: str
    """The line, without what stands before it."""
    terms: tuple[str, ...]
    """As they stand in it, the weightiest first."""
    share: float
    """Of all that speaks for the cause."""
    source: int | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence(Generic[Text]):
    """One signed reason for or against a cause."""

    kind: str
    """signature | shape | environment | setting | traceback | advisory | classifier | replay"""
    id: str
    group: str
    text: Text
    weight: float
    """In log-odds; negative speaks against the cause."""
    source: int | None = None
    where: ProcessId = NOWHERE
    line: int | None = None
    end_line: int | None = None
    references: tuple[str, ...] = ()
    """Where a known defect is told of."""
    carried: tuple[DecisiveWords, ...] = ()
    """Of a classifier: the words that carry it."""


@dataclass(frozen=True, slots=True)
class Fix(Generic[Text]):
    """One thing to do, with the user's own numbers filled in."""

    id: str
    kind: str
    """check | change | prevent"""
    title: Text
    why: Text
    snippet: Text
    language: str
    safety: str
    """safe | changes-results | costly"""
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cause(Generic[Text]):
    """A candidate cause with its arithmetic."""

    id: str
    category: str
    title: Text
    probability: float
    explanation: Text
    evidence: tuple[Evidence[Text], ...]
    fixes: tuple[Fix[Text], ...] = ()
    log_odds: float = 0.0
    """What the evidence adds up to before rivals are counted; for the page, not in the report."""
    separated_by: Text = field(default_factory=get_no_text)
    """The one observation that would tell it from the first cause; for the page as well."""


def has_rival(probability: float, best: float, second: float | None) -> bool:
    """Say whether a second cause fits about as well as the first.

    Args:
        probability: of the first.
        best: the log-odds of the first.
        second: those of the second; None if there is none.
    """
    return second is not None and probability < _FAR_AHEAD and second > best - _WITHIN_REACH
