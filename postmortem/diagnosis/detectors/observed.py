"""What the detectors of shapes may look at, in one frozen value.

In: gathered evidence, the findings of the last attempt. Out: `Observed`. Not here: finding shapes
(`detectors.registry`).
"""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from postmortem.core.findings import Finding, Traceback
from postmortem.core.lines import ProcessId
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.loss_of_training import TrainingLoss, find_training_loss
from postmortem.extraction.extract import Extract, Seen, process_of, select_sources_by_type
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.facts.series import Series
from postmortem.rules.anomaly_type import AnomalyType
from postmortem.rules.base import KnowledgeBase, load
from postmortem.rules.metrics import MetricTable
from postmortem.rules.traits import Trait, has_trait

_MOST_AROUND: Final = 40
_Worked = TypeVar("_Worked")


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
    processes: Mapping[int, ProcessId] = field(default_factory=dict)
    """Of each source that reaches into the last attempt, the process that its name tells."""
    snapshots: frozenset[int] = frozenset()
    """The sources that tell how things stand, not what happened when."""
    dumps: frozenset[int] = frozenset()
    """The same, and what a scheduler or the kernel tells: what no process of the run writes."""
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
    known: Mapping[str, Anomaly] = field(default_factory=dict)
    """The shapes found before, by id, for the same."""
    anomaly_types: Mapping[str, AnomalyType] = field(default_factory=lambda: load().anomalies)
    metrics: MetricTable = field(default_factory=lambda: load().metrics)
    _worked_out: dict[Callable[["Observed"], Any], Any] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def once(self, make: Callable[["Observed"], _Worked]) -> _Worked:
        """Give what a function makes of this, worked out once for all detectors that ask."""
        if make not in self._worked_out:
            self._worked_out[make] = make(self)
        known: _Worked = self._worked_out[make]
        return known

    def of(self, curves: Curves) -> "Observed":
        """Give the view of a detector that looks at the curves of one process."""
        return dataclasses.replace(self, curves=curves, loss=find_training_loss(curves))

    def at_end(self, outcome: str, known: Mapping[str, Anomaly]) -> "Observed":
        """Give the view of a detector that asks how the run ended."""
        return dataclasses.replace(self, outcome=outcome, known=known)

    def kept_lines(self, source: int) -> list[tuple[int, str]]:
        """Give the lines of both ends of a source, each once with its raw number, but cut ones."""
        head = self.heads.get(source, "").split("\n")[:-1]
        first, text = self.tails.get(source, (1, ""))
        tail = [*enumerate(text.split("\n"), first)][first > 1 :]
        return [*enumerate(head, 1), *(line for line in tail if line[0] > len(head))]


Detector = Callable[[Observed], Iterable[Anomaly]]


def build_observed(
    gathered: Extract, seen: Iterable[Seen], begins: Mapping[int, int], knowledge: KnowledgeBase
) -> Observed:
    """Put together what the detectors may look at.

    Args:
        gathered: the evidence.
        seen: the findings of the last attempt, in their order.
        begins: raw line at which the last attempt begins, by source; 0 where it is not named.
        knowledge: the types of anomalies, the classes of metrics.
    """
    return Observed(
        series=tuple(_select_unmirrored_series(gathered)),
        facts=gathered.facts,
        findings=tuple((one.finding, one.records_before) for one in seen),
        tracebacks=tuple(traceback for traceback, _ in gathered.tracebacks),
        records=gathered.records,
        first_records={source: line for source, (line, _) in gathered.first_record.items()},
        last_records={source: line for source, (line, _) in gathered.last_record.items()},
        tails=gathered.tails,
        heads=gathered.heads,
        around=_collect_nonfinite_context(seen),
        processes={
            source: process_of(gathered, source)
            for source in gathered.tails
            if begins.get(source, 0) <= gathered.lines.get(source, 0)
        },
        snapshots=select_sources_by_type(gathered, "environment"),
        dumps=select_sources_by_type(gathered, "environment", "scheduler", "kernel"),
        lines=sum(gathered.lines.values()),
        total_steps=gathered.total_steps,
        anomaly_types=knowledge.anomalies,
        metrics=knowledge.metrics,
    )


def _select_unmirrored_series(gathered: Extract) -> Iterable[Series]:
    """Give the series but those of files that tell nothing that another does not."""
    mirrored = gathered.copies.mirrored
    return (one for one in gathered.series.values() if (one.source, one.where) not in mirrored)


def _collect_nonfinite_context(seen: Iterable[Seen]) -> tuple[tuple[int, int, str], ...]:
    """Give the surroundings of the first findings of values that are not finite."""
    kept = (
        (one.finding.source, *one.context)
        for one in seen
        if one.context[0] and has_trait(one.finding.signature, Trait.ABOUT_VALUES)
    )
    return tuple(itertools.islice(kept, _MOST_AROUND))
