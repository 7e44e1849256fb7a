"""The case: all evidence of a job in one value.

In: nothing. Out: `Case`, `Occurrence`. Not here: building it (`case.build`), the questions
(`inference.predicates`).
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from postmortem.core.findings import Attempt, Environment, Finding, Setting, Source, Traceback
from postmortem.core.message import Message
from postmortem.diagnosis.case.failures import Failure
from postmortem.diagnosis.case.outcomes import name_outcome
from postmortem.diagnosis.detectors.observed import Anomaly
from postmortem.extraction.extract import Extract
from postmortem.rules.base import load
from postmortem.rules.vocabulary import AnomalyType


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A finding with its standing in the run."""

    finding: Finding
    factor: float
    """How much its evidence counts: 1 at the first failure, less behind it or if survived."""
    because: str
    """Why the factor is below 1; empty if it is not."""
    is_fatal: bool

    @property
    def role(self) -> str:
        """The finding's role in this run.

        What came after the first failure follows from it, what was survived is a warning.
        """
        return {"after-first-failure": "consequence", "survived": "warning"}.get(
            self.because, self.finding.role
        )


@dataclass(frozen=True, slots=True)
class Case:
    """The evidence of one job."""

    events: tuple[Occurrence, ...]
    tracebacks: tuple[Traceback, ...]
    anomalies: Mapping[str, Anomaly]
    environment: Environment
    settings: Mapping[str, Setting]
    frameworks: Mapping[str, str | None]
    outcome: str
    first: Failure | None = None
    """What failed first over all sources and processes."""
    begins: Mapping[int, int] = field(default_factory=dict)
    """The raw line at which the attempt begins, of sources that hold more than one."""
    skews: Mapping[int, float] = field(default_factory=dict)
    """Seconds by which the clock of a source is ahead of the others'."""
    anomaly_types: Mapping[str, AnomalyType] = field(
        default_factory=lambda: load().anomalies, compare=False, repr=False
    )
    attempts: tuple[Attempt, ...] = ()
    """Of all sources, each with how it ended."""
    attempt: int = 1
    """The number of the one that is judged."""
    before: Failure | None = None
    """What failed first in the attempt before the one that is judged."""
    whole: Extract = field(default_factory=Extract, compare=False, repr=False)
    """What was read of all attempts; `extract` is what belongs to the one that is judged."""
    extract: Extract = field(default_factory=Extract, compare=False, repr=False)
    _by_signature: dict[str, list[int]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """Numbers of the events by signature: some hundred questions are asked of them."""
    answers: dict[int, tuple[object, Any]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """What was answered to the conditions of rules, with the condition, by its identity: the same
    ones are asked by many rules."""

    def __post_init__(self) -> None:
        """Sort the events by what they are."""
        for number, event in enumerate(self.events):
            self._by_signature.setdefault(event.finding.signature, []).append(number)

    def signatures(self, name: str) -> list[Occurrence]:
        """Give the events of a signature, in order; a name that ends in `.*` takes all below it."""
        if not name.endswith(".*"):
            return [self.events[number] for number in self._by_signature.get(name, ())]
        below = (
            numbers
            for signature, numbers in self._by_signature.items()
            if signature.startswith(name[:-1])
        )
        return [self.events[number] for number in sorted(itertools.chain.from_iterable(below))]

    def number_at(self, source: int, line: int) -> int:
        """Give the number of the attempt of a source to which a line belongs."""
        return max(1, sum(one.source == source and one.first_line <= line for one in self.attempts))

    @property
    def outcome_names(self) -> frozenset[str]:
        """The names of how it ended: that of a run which was stopped is also `failed`."""
        first = self.first.kind if self.first is not None else None
        return frozenset({self.outcome, name_outcome(self.outcome, first)})

    @property
    def sources(self) -> Sequence[Source[Message]]:
        """The files of the job."""
        return self.extract.sources

    @property
    def logs(self) -> Sequence[int]:
        """Indexes of the sources that are logs: what a dump says did not happen at a time."""
        return [
            index
            for index, source in enumerate(self.sources)
            if source.kind not in {"environment", "ignored"}
        ]
