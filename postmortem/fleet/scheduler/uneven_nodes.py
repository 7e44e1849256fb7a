"""Find nodes on which jobs fail more often than elsewhere, corrected for chance.

A job is compared with jobs of its kind: of the same user, the same work and about as many nodes. So
a script that fails everywhere is evidence against no node, nor is a user who is bound to one. A job
of 64 nodes is compared with jobs of 64 nodes: its failure counts for all its nodes, but if such
jobs often fail it is expected, and says little.

Under "no node is special", failures are spread over the jobs of a kind by chance; how many fall on
a node is then known exactly (`scheduler.exact_tests`), summed over kinds, and corrected over nodes.
Nodes that only share jobs with a worse one are cleared of what they share. Only allocations count:
logs name their machines more often when they fail. Hardware faults that logs report for a machine
are a second witness.

In: jobs with allocations. Out: a value for each node. Not here: showing it (`report.page`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from postmortem.core.message import NOTHING, SEMICOLON, Message, join_list, say
from postmortem.fleet.scheduler.allocations import JudgedJob
from postmortem.fleet.scheduler.exact_tests import (
    Urn,
    compute_false_discovery_rates,
    compute_tail_probability,
)
from postmortem.fleet.scheduler.scheduler_cells import get_short_hostname
from postmortem.rules.vocabulary import Trait, has_trait

_ENOUGH: Final = 5
"""Jobs from which on a kind is compared by itself; smaller ones are thrown together."""

Kind = tuple[str, ...]


class ComparedJob(NamedTuple):
    """A job as it is counted."""

    nodes: tuple[str, ...]
    kind: Kind
    has_failed: bool
    cause: str


def select_comparable_jobs(jobs: Sequence[JudgedJob]) -> list[ComparedJob]:
    """Give the jobs that count: the first attempt on the same nodes, with a known end."""
    first: dict[tuple[str, str, tuple[str, ...]], JudgedJob] = {}
    for job in sorted(jobs, key=lambda job: (job.run[2], job.identity)):
        one = job.allocation
        if one is None or not one.nodes or job.has_failed is None or job.was_stopped:
            continue
        first.setdefault((one.cluster, one.scheduler_id, tuple(sorted(one.nodes))), job)
    kept = [first[key] for key in sorted(first)]
    kinds = _select_strata(kept)
    return [
        ComparedJob(tuple(sorted({*job.nodes})), kind, bool(job.has_failed), job.blamed or "")
        for job, kind in zip(kept, kinds, strict=True)
    ]


def _select_strata(jobs: Sequence[JudgedJob]) -> list[Kind]:
    """Give the kind that each job is compared within, the narrowest that is large enough.

    It is settled by how many jobs there are, never by how they ended.
    """
    chosen: list[Kind] = [()] * len(jobs)
    left = list(range(len(jobs)))
    for depth in (3, 2, 1):
        kinds = {place: _build_stratum(jobs[place], depth) for place in left}
        sizes = Counter(kinds.values())
        for place in left:
            if depth == 1 or sizes[kinds[place]] >= _ENOUGH:
                chosen[place] = kinds[place]
        left = [place for place in left if not chosen[place]]
    return chosen


def _build_stratum(job: JudgedJob, depth: int) -> Kind:
    """Give size, user and work, as many of them as asked; sizes by doubling: 1, 2, 3-4, 5-8."""
    return (f"{(len(job.nodes) - 1).bit_length()}", job.user, job.work)[:depth]


def find_hardware_witnesses(jobs: Iterable[JudgedJob]) -> dict[str, Message]:
    """Collect what logs say about hardware faults, by short node name.

    A message concerns the machines its log names, or else the only node the job ran on.
    """
    signs: dict[tuple[str, str], list[str]] = defaultdict(list)
    for job in jobs:
        if job.cause is not None and has_trait(job.cause, Trait.FAULTY_HARDWARE):
            hosts = job.hosts or (job.nodes if len(job.nodes) == 1 else ())
            for host in {get_short_hostname(host) for host in hosts}:
                signs[host, job.cause].append(job.title or job.identity)
    worded: dict[str, list[Message]] = defaultdict(list)
    for (host, cause), titles in sorted(signs.items()):
        worded[host].append(
            say(
                "{count} logs name `{cause}` on it, the first {title}",
                count=len(titles),
                cause=cause,
                title=min(titles),
            )
        )
    return {host: join_list(messages, SEMICOLON) for host, messages in worded.items()}


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
