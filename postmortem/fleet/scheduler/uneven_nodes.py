"""Find nodes on which jobs fail more often than elsewhere, corrected for chance.

A job is compared with jobs of its kind: of the same user, the same work and about as many nodes.
So a script that fails everywhere is evidence against no node, nor is a user who is bound to one. A
job of 64 nodes is compared with jobs of 64 nodes: its failure counts for all its nodes, but
if such jobs often fail it is expected, and says little.

Under "no node is special", failures are spread over the jobs of a kind by chance; how many fall on
a node is then known exactly (`scheduler.exact_tests`), summed over kinds, and corrected over nodes.
Nodes that only share jobs with a worse one are cleared of what they share. Only allocations count:
logs name their machines more often when they fail.

In: jobs with allocations. Out: a value for each node. Not here: showing it (`report.page`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from postmortem.core.message import NOTHING, Message, say
from postmortem.fleet.scheduler.comparable_jobs import ComparedJob, select_comparable_jobs
from postmortem.fleet.scheduler.exact_tests import (
    Urn,
    compute_false_discovery_rates,
    compute_tail_probability,
)
from postmortem.fleet.scheduler.hardware_witnesses import find_hardware_witnesses
from postmortem.fleet.scheduler.hostlists import get_short_hostname
from postmortem.fleet.scheduler.judged_jobs import JudgedJob

LEVEL: Final = 0.05
"""The share of named nodes that may be named wrongly."""
FEWEST: Final = 3
"""Failed jobs below which a node is not named, however rare failures are elsewhere."""


@dataclass(frozen=True, slots=True)
class NodeFigures:
    """One node: its counted jobs, and how they compare."""

    node: str
    jobs: int
    """Those whose end is known and that nobody stopped; of attempts on the same nodes the first."""
    failed: int
    expected: float
    """Failed ones, had the failures of each kind been spread evenly over its jobs."""
    p: float | None = None
    """Of as many failures by chance; None where there is nothing to compare with."""
    q: float | None = None
    """The same, corrected for the number of nodes."""
    is_outlier: bool = False
    causes: Mapping[str, int] | None = None
    """Of its failed jobs, by id; the empty one where none is known."""
    alike: tuple[str, ...] = ()
    """Nodes that had the very same jobs, and so cannot be told from it."""
    witness: Message = NOTHING
    """What else speaks of a fault of the hardware."""

    @property
    def stands_out(self) -> bool:
        """Whether its counts are unusual enough to report, if nothing else explains them."""
        return self.q is not None and self.q <= LEVEL and self.failed >= FEWEST

    @property
    def text(self) -> Message:
        """Word what the counts show, and no more; nothing for a node that is not named."""
        if not self.is_outlier:
            return NOTHING
        counts = say(
            "{failed} of {jobs} jobs failed here, {expected:.1f} would be expected: this node"
            " fails more often than others with like jobs (q = {q:.2g})",
            failed=self.failed,
            jobs=self.jobs,
            expected=self.expected,
            q=self.q,
        )
        why = self.witness or say(
            "the counts do not show why, and no log names a fault of its hardware"
        )
        return say("{counts}; {why}", counts=counts, why=why)


def compare_nodes(jobs: Iterable[JudgedJob]) -> tuple[NodeFigures, ...]:
    """Compare the nodes; named ones first, then by probability and name."""
    listed = sorted(jobs, key=lambda job: job.identity)
    counted = select_comparable_jobs(listed)
    ran: dict[str, list[int]] = defaultdict(list)
    for place, job in enumerate(counted):
        for node in job.nodes:
            ran[node].append(place)
    totals = _Totals(counted)
    witnesses = find_hardware_witnesses(listed)
    figures = [
        replace(
            totals.compute_figures(node, places),
            witness=witnesses.get(get_short_hostname(node), NOTHING),
        )
        for node, places in sorted(ran.items())
    ]
    tested = [figure for figure in figures if figure.p is not None]
    rates = compute_false_discovery_rates([figure.p for figure in tested if figure.p is not None])
    known = {cause.node: rate for cause, rate in zip(tested, rates, strict=True)}
    figures = [replace(figure, q=known.get(figure.node)) for figure in figures]
    named = _select_outlier_nodes(figures, totals, ran)
    figures = [named.get(figure.node, figure) for figure in figures]
    return tuple(sorted(figures, key=_order))


def _order(figure: NodeFigures) -> tuple[bool, float, str]:
    return not figure.is_outlier, 2.0 if figure.p is None else figure.p, figure.node


class _Totals:
    """The jobs of each kind and the failed among them, less those already explained."""

    def __init__(self, counted: Sequence[ComparedJob]) -> None:
        self._counted = counted
        self._all = Counter(job.kind for job in counted)
        self._failed = Counter(job.kind for job in counted if job.has_failed)
        self._explained: set[int] = set()

    def explain(self, places: Iterable[int]) -> None:
        """Take jobs out of all further counts."""
        for place in {*places} - self._explained:
            self._explained.add(place)
            job = self._counted[place]
            self._all[job.kind] -= 1
            self._failed[job.kind] -= job.has_failed

    def compute_figures(self, node: str, places: Sequence[int]) -> NodeFigures:
        """Compare a node's jobs with all of their kinds."""
        jobs = [self._counted[place] for place in places if place not in self._explained]
        drawn = Counter(job.kind for job in jobs)
        urns = [Urn(self._all[kind], self._failed[kind], drawn[kind]) for kind in sorted(drawn)]
        causes = Counter(job.cause for job in jobs if job.has_failed)
        return NodeFigures(
            node,
            len(jobs),
            causes.total(),
            sum(urn.expected for urn in urns),
            p=_compute_failure_probability(urns, causes.total()),
            causes=dict(sorted(causes.items())),
        )


def _compute_failure_probability(urns: Sequence[Urn], failed: int) -> float | None:
    """Give the probability of so many failures or more; None if no other number is possible."""
    telling = [urn for urn in urns if urn.is_telling]
    if not telling:
        return None
    fixed = sum(urn.failed * urn.drawn // urn.total for urn in urns if not urn.is_telling)
    return compute_tail_probability(telling, failed - fixed)


def _select_outlier_nodes(
    figures: Sequence[NodeFigures], totals: _Totals, ran: Mapping[str, Sequence[int]]
) -> dict[str, NodeFigures]:
    """Give the nodes to be named, the oddest first, without those it merely shares jobs with."""
    odd = [figure for figure in figures if figure.stands_out]
    cut = max((figure.p or 0.0 for figure in odd), default=0.0)
    same: dict[tuple[int, ...], list[NodeFigures]] = defaultdict(list)
    for figure in sorted(odd, key=_order):
        same[tuple(ran[figure.node])].append(figure)
    named: dict[str, NodeFigures] = {}
    for places, together in same.items():
        again = totals.compute_figures(together[0].node, places).p
        if again is None or again > cut:
            continue
        totals.explain(places)
        for outlier in together:
            others = tuple(other.node for other in together if other is not outlier)
            named[outlier.node] = replace(outlier, is_outlier=True, alike=others)
    return named
