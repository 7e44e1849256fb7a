"""What the detectors of shapes may look at, in one frozen value.

In: gathered evidence, the findings of the last attempt. Out: `Observed`. Not here: finding shapes
(`shapes.registry`).
"""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from postmortem.facts.fact_store import FactStore
from postmortem.facts.series import Series
from postmortem.gathering.gathered import Gathered, Seen
from postmortem.model.findings import Finding, Traceback
from postmortem.model.job_facts import Source
from postmortem.model.lines import NOWHERE, Where
from postmortem.shapes.aligned import Curves
from postmortem.shapes.loss_of_training import TrainingLoss, training_loss
from postmortem.shapes.shape import Shape

_MOST_AROUND: Final = 40


@dataclass(frozen=True, slots=True)
class Observed:
    """What is known of a job when its shapes are looked for."""

    series: Sequence[Series] = ()
    """Of all processes."""
    facts: FactStore = field(default_factory=FactStore)
    """What the log says of the run; vocabulary and device give figures a scale."""
    findings: Sequence[tuple[Finding, int]] = ()
    """Of the last attempt, in their order, each with the metric records of its process before."""
    tracebacks: Sequence[Traceback] = ()
    """Of all attempts, in the order in which they were read."""
    records: Mapping[int, int] = field(default_factory=dict)
    """Metric records by source."""
    first_records: Mapping[int, int] = field(default_factory=dict)
    """Raw line of the first metric record of each source that has one."""
    last_records: Mapping[int, int] = field(default_factory=dict)
    """Raw line of the last metric record of each source that has one."""
    tails: Mapping[int, tuple[int, str]] = field(default_factory=dict)
    """The end of each source: raw line number of its first line, and the text."""
    heads: Mapping[int, str] = field(default_factory=dict)
    """The beginning of each source, as text."""
    around: Sequence[tuple[int, int, str]] = ()
    """Lines around values that are not finite: source, raw number of the first line, the text."""
    processes: Mapping[int, Where] = field(default_factory=dict)
    """Of each source that reaches into the last attempt, the process that its name tells."""
    snapshots: frozenset[int] = frozenset()
    """The sources that tell how things stand, not what happened when."""
    dumps: Mapping[int, str] = field(default_factory=dict)
    """The sources that tell how the machine stands, each with its text; empty where it is too long
    to be kept."""
    ended: Mapping[int, float] = field(default_factory=dict)
    """The line from which on a source tells how it was ended, for the detectors that ask."""
    lines: int = 0
    """Raw lines of all sources."""
    total_steps: float = math.nan
    """The last step that the run was to make; NaN where nobody names it."""
    curves: Curves = field(default_factory=lambda: Curves(()))
    """Of the process that is looked at, for the detectors that look at one at a time."""
    loss: TrainingLoss | None = None
    """Of the same process; None where too few records tell of it."""
    outcome: str = ""
    """How the run ended, for the detectors that ask; one of `names.OUTCOMES`."""
    known: Mapping[str, Shape] = field(default_factory=dict)
    """The shapes found before, by id, for the same."""

    def of(self, curves: Curves) -> "Observed":
        """Give the view of a detector that looks at the curves of one process."""
        return dataclasses.replace(self, curves=curves, loss=training_loss(curves))

    def at_end(self, outcome: str, known: Mapping[str, Shape]) -> "Observed":
        """Give the view of a detector that asks how the run ended."""
        return dataclasses.replace(self, outcome=outcome, known=known)


Detector = Callable[[Observed], Iterable[Shape]]


def observe(
    gathered: Gathered,
    seen: Sequence[Seen],
    sources: Sequence[Source[Any]],
    begins: Mapping[int, int],
) -> Observed:
    """Put together what the detectors may look at.

    Args:
        gathered: the evidence.
        seen: the findings of the last attempt, in their order.
        sources: of the job; their names tell processes.
        begins: raw line at which the last attempt begins, by source; 0 where it is not named.
    """
    return Observed(
        series=tuple(gathered.series.values()),
        facts=gathered.facts,
        findings=tuple((one.finding, one.records_before) for one in seen),
        tracebacks=tuple(traceback for traceback, _ in gathered.tracebacks),
        records=gathered.records,
        first_records={source: line for source, (line, _) in gathered.first_record.items()},
        last_records={source: line for source, (line, _) in gathered.last_record.items()},
        tails=gathered.tails,
        heads=gathered.heads,
        around=_around(seen),
        processes={
            source: sources[source].where if source < len(sources) else NOWHERE
            for source in gathered.tails
            if begins.get(source, 0) <= gathered.lines.get(source, 0)
        },
        snapshots=_of_kinds(sources, "environment"),
        dumps={
            index: _whole(gathered, index)
            for index in _of_kinds(sources, "environment", "scheduler", "kernel")
        },
        lines=sum(gathered.lines.values()),
        total_steps=gathered.total_steps,
    )


def _of_kinds(sources: Sequence[Source[Any]], *kinds: str) -> frozenset[int]:
    return frozenset(index for index, source in enumerate(sources) if source.kind in kinds)


def _around(seen: Iterable[Seen]) -> tuple[tuple[int, int, str], ...]:
    """Give the surroundings of the first findings of values that are not finite."""
    kept = (
        (one.finding.source, *one.context)
        for one in seen
        if one.context[0] and one.finding.signature.startswith("numerics.")
    )
    return tuple(itertools.islice(kept, _MOST_AROUND))


def _whole(gathered: Gathered, source: int) -> str:
    """Give the text of a source, of which both ends are kept; empty if they leave a gap."""
    head = gathered.heads.get(source, "").split("\n")
    begin, tail = gathered.tails.get(source, (0, ""))
    if gathered.lines.get(source, 0) < len(head):
        return "\n".join(head)
    return "\n".join((*head[:begin], *tail.split("\n")[1:])) if begin < len(head) else ""
