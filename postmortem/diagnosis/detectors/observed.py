"""What detectors may look at, in one frozen value.

In: the extract, the findings of the last attempt. Out: `Observed`. Not here: finding anomalies
(`detectors.registry`).
"""

import bisect
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
from postmortem.extraction.extract import Extract, Sighting, process_of, select_sources_by_type
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.facts.series import Series
from postmortem.extraction.formats.rank_dumps import RankDump
from postmortem.rules.anomaly_type import AnomalyType
from postmortem.rules.base import KnowledgeBase, load
from postmortem.rules.metrics import MetricTable
from postmortem.rules.traits import Trait, has_trait

_MOST_AROUND: Final = 40
_Worked = TypeVar("_Worked")


@dataclass(frozen=True, slots=True)
class Observed:
    """The input of detectors: what is known of a job."""

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
    rank_dumps: Sequence[RankDump] = ()
    """What the flight recorder of each rank wrote."""
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

    @property
    def is_undecided(self) -> bool:
        """Whether nothing failed, unless by a stop from outside, and nothing is bad by itself."""
        return self.outcome not in {"failed", "stalled"} and not any(
            self.anomaly_types[shape].is_bad for shape in self.known
        )

    def has_record_between(self, source: int, first: int, last: int) -> bool:
        """Say whether a curve of a source has a point between two of its lines."""
        return any(
            curve.source == source
            and bisect.bisect_right(curve.lines, first) < bisect.bisect_left(curve.lines, last)
            for curve in self.series
        )

    def kept_lines(self, source: int) -> list[tuple[int, str]]:
        """Give the lines of both ends of a source, each once with its raw number, but cut ones."""
        head = self.heads.get(source, "").split("\n")[:-1]
        first, text = self.tails.get(source, (1, ""))
        tail = [*enumerate(text.split("\n"), first)][first > 1 :]
        return [*enumerate(head, 1), *(line for line in tail if line[0] > len(head))]


Detector = Callable[[Observed], Iterable[Anomaly]]


def build_observed(
    extract: Extract, seen: Iterable[Sighting], begins: Mapping[int, int], knowledge: KnowledgeBase
) -> Observed:
    """Put together what the detectors may look at.

    Args:
        extract: the evidence.
        seen: the findings of the last attempt, in their order.
        begins: raw line at which the last attempt begins, by source; 0 where it is not named.
        knowledge: the types of anomalies, the classes of metrics.
    """
    return Observed(
        series=tuple(_select_unmirrored_series(extract)),
        facts=extract.facts,
        findings=tuple((sighting.finding, sighting.records_before) for sighting in seen),
        tracebacks=tuple(traceback for traceback, _ in extract.tracebacks),
        records=extract.records,
        first_records={source: line for source, (line, _) in extract.first_record.items()},
        last_records={source: line for source, (line, _) in extract.last_record.items()},
        rank_dumps=extract.rank_dumps,
        tails=extract.tails,
        heads=extract.heads,
        around=_collect_nonfinite_context(seen),
        processes={
            source: process_of(extract, source)
            for source in extract.tails
            if begins.get(source, 0) <= extract.lines.get(source, 0)
        },
        snapshots=select_sources_by_type(extract, "environment"),
        dumps=select_sources_by_type(extract, "environment", "scheduler", "kernel"),
        lines=sum(extract.lines.values()),
        total_steps=extract.total_steps,
        anomaly_types=knowledge.anomalies,
        metrics=knowledge.metrics,
    )


def _select_unmirrored_series(extract: Extract) -> Iterable[Series]:
    """Give the series without those that only mirror another file."""
    mirrored = extract.copies.mirrored
    return (
        curve for curve in extract.series.values() if (curve.source, curve.where) not in mirrored
    )


def _collect_nonfinite_context(seen: Iterable[Sighting]) -> tuple[tuple[int, int, str], ...]:
    """Give the surroundings of the first findings of values that are not finite."""
    kept = (
        (sighting.finding.source, *sighting.context)
        for sighting in seen
        if sighting.context[0] and has_trait(sighting.finding.signature, Trait.ABOUT_VALUES)
    )
    return tuple(itertools.islice(kept, _MOST_AROUND))
