"""Nodes on which jobs fail more often than elsewhere, and what that shows and does not.

A job is compared with jobs of its kind: of the same user, the same work and about as many nodes.
A script that fails everywhere speaks against no node then, nor does a user who is bound to one. A
job of 64 nodes is compared with jobs of 64 nodes: that it failed is told of all its nodes, but
where such jobs often fail it is expected of each, and says little.

Under "no node is special", failures are spread over the jobs of a kind by chance; how many fall on
a node is then known exactly (`triage.exact_tests`), summed over kinds, and corrected over nodes.
Nodes that only share jobs with a worse one are cleared of what they share. Only allocations count:
logs name their machines more often when they fail.

In: jobs with allocations. Out: a value for each node. Not here: who is told of it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from postmortem.model.said import NOTHING, Said, say
from postmortem.triage.exact_tests import Urn, chance_of_as_many, false_discovery_rates
from postmortem.triage.hostlists import short_name
from postmortem.triage.judged_jobs import JudgedJob

LEVEL: Final = 0.05
"""The share of named nodes that may be named wrongly."""
FEWEST: Final = 3
"""Failed jobs below which a node is not named, however rare failures are elsewhere."""
_ENOUGH: Final = 5
"""Jobs from which on a kind is compared by itself; smaller ones are thrown together."""
_OF_HARDWARE: Final = frozenset(
    {"cuda.hardware-ecc", "cuda.hardware-xid", "numerics.hardware-corruption"}
)

Kind = tuple[str, ...]


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
    witness: Said = NOTHING
    """What else speaks of a fault of the hardware."""

    @property
    def text(self) -> Said:
        """Word what the counts show, and no more; nothing for a node that is not named."""
        if not self.is_outlier:
            return NOTHING
        counts = say(
            "{failed} of {jobs} jobs failed here, {expected:.1f} would be expected: this node"
            " fails more often than others with like jobs (q = {q:.2g})",
            "此节点上 {jobs} 个作业中有 {failed} 个失败，预期为 {expected:.1f} 个："
            "在同类作业中，它比其他节点更常失败（q = {q:.2g}）",
            failed=self.failed,
            jobs=self.jobs,
            expected=self.expected,
            q=self.q,
        )
        why = self.witness or say(
            "the counts do not show why, and no log names a fault of its hardware",
            "计数本身不说明原因，也没有日志指明其硬件故障",
        )
        return say("{counts}; {why}", "{counts}；{why}", counts=counts, why=why)


class _Counted(NamedTuple):
    """A job as it is counted."""

    nodes: tuple[str, ...]
    kind: Kind
    has_failed: bool
    cause: str


def node_figures(jobs: Iterable[JudgedJob]) -> tuple[NodeFigures, ...]:
    """Compare the nodes; named ones first, then by probability and name."""
    listed = sorted(jobs, key=lambda job: job.identity)
    counted = _counted(listed)
    ran: dict[str, list[int]] = defaultdict(list)
    for place, job in enumerate(counted):
        for node in job.nodes:
            ran[node].append(place)
    totals = _Totals(counted)
    witnesses = _witnesses(listed)
    figures = [
        replace(totals.figures(node, places), witness=witnesses.get(short_name(node), NOTHING))
        for node, places in sorted(ran.items())
    ]
    tested = [figure for figure in figures if figure.p is not None]
    rates = false_discovery_rates([figure.p for figure in tested if figure.p is not None])
    known = {one.node: rate for one, rate in zip(tested, rates, strict=True)}
    figures = [replace(figure, q=known.get(figure.node)) for figure in figures]
    named = _named(figures, totals, ran)
    figures = [named.get(figure.node, figure) for figure in figures]
    return tuple(sorted(figures, key=_order))


def _order(figure: NodeFigures) -> tuple[bool, float, str]:
    return not figure.is_outlier, 2.0 if figure.p is None else figure.p, figure.node


def _counted(jobs: Sequence[JudgedJob]) -> list[_Counted]:
    """Give the jobs that count: the first attempt on the same nodes, with a known end."""
    first: dict[tuple[str, str, tuple[str, ...]], JudgedJob] = {}
    for job in sorted(jobs, key=lambda job: (job.attempt, job.identity)):
        one = job.allocation
        if one is None or not one.nodes or job.has_failed is None or job.was_stopped:
            continue
        first.setdefault((one.cluster, one.scheduler_id, tuple(sorted(one.nodes))), job)
    kept = [first[key] for key in sorted(first)]
    kinds = _kinds(kept)
    return [
        _Counted(tuple(sorted({*job.nodes})), kind, bool(job.has_failed), job.blamed or "")
        for job, kind in zip(kept, kinds, strict=True)
    ]


def _kinds(jobs: Sequence[JudgedJob]) -> list[Kind]:
    """Give the kind that each job is compared within, the narrowest that is large enough.

    It is settled by how many jobs there are, never by how they ended.
    """
    chosen: list[Kind] = [()] * len(jobs)
    left = list(range(len(jobs)))
    for depth in (3, 2, 1):
        kinds = {place: _narrowed(jobs[place], depth) for place in left}
        sizes = Counter(kinds.values())
        for place in left:
            if depth == 1 or sizes[kinds[place]] >= _ENOUGH:
                chosen[place] = kinds[place]
        left = [place for place in left if not chosen[place]]
    return chosen


def _narrowed(job: JudgedJob, depth: int) -> Kind:
    """Give size, user and work, as many of them as asked; sizes by doubling: 1, 2, 3-4, 5-8."""
    return (f"{(len(job.nodes) - 1).bit_length()}", job.user, job.work)[:depth]


class _Totals:
    """The jobs of each kind and the failed among them, less those already explained."""

    def __init__(self, counted: Sequence[_Counted]) -> None:
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

    def figures(self, node: str, places: Sequence[int]) -> NodeFigures:
        """Compare a node's jobs with all of their kinds."""
        jobs = [self._counted[place] for place in places if place not in self._explained]
        drawn = Counter(job.kind for job in jobs)
        urns = [Urn(self._all[kind], self._failed[kind], drawn[kind]) for kind in sorted(drawn)]
        failed = [job for job in jobs if job.has_failed]
        telling = [urn for urn in urns if urn.is_telling]
        fixed = sum(urn.failed * urn.drawn // urn.total for urn in urns if not urn.is_telling)
        return NodeFigures(
            node,
            len(jobs),
            len(failed),
            sum(urn.expected for urn in urns),
            p=chance_of_as_many(telling, len(failed) - fixed) if telling else None,
            causes=dict(sorted(Counter(job.cause for job in failed).items())),
        )


def _named(
    figures: Sequence[NodeFigures], totals: _Totals, ran: Mapping[str, Sequence[int]]
) -> dict[str, NodeFigures]:
    """Give the nodes to be named, the oddest first, without those it merely shares jobs with."""
    odd = [one for one in figures if one.q is not None and one.q <= LEVEL and one.failed >= FEWEST]
    odd.sort(key=_order)
    cut = max((one.p for one in odd if one.p is not None), default=0.0)
    same: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for one in odd:
        same[tuple(ran[one.node])].append(one.node)
    named: dict[str, NodeFigures] = {}
    for one in odd:
        if one.node in named:
            continue
        again = totals.figures(one.node, ran[one.node])
        if again.p is None or again.p > cut:
            continue
        together = same[tuple(ran[one.node])]
        for node in together:
            others = tuple(other for other in together if other != node)
            figure = next(figure for figure in odd if figure.node == node)
            named[node] = replace(figure, is_outlier=True, alike=others)
        totals.explain(ran[one.node])
    return named


def _witnesses(jobs: Sequence[JudgedJob]) -> dict[str, Said]:
    """Give, by short name, what logs say of a fault of a node's hardware.

    A log speaks of the machines it names; one that names none of the only node it ran on.
    """
    told: dict[tuple[str, str], list[str]] = defaultdict(list)
    for job in jobs:
        if job.cause in _OF_HARDWARE:
            hosts = job.hosts or (job.nodes if len(job.nodes) == 1 else ())
            for host in {short_name(host) for host in hosts}:
                told[host, job.cause].append(job.title or job.identity)
    worded: dict[str, list[Said]] = defaultdict(list)
    for (host, cause), titles in sorted(told.items()):
        worded[host].append(
            say(
                "{count} logs name `{cause}` on it, the first {title}",
                "{count} 份日志指明其上有 `{cause}`，第一份为 {title}",
                count=len(titles),
                cause=cause,
                title=min(titles),
            )
        )
    return {host: _together(said) for host, said in worded.items()}


def _together(said: Sequence[Said]) -> Said:
    values = {f"witness_{number}": one for number, one in enumerate(said)}
    places = [f"{{{name}}}" for name in values]
    return Said("; ".join(places), "；".join(places), values)
