"""Find by the flight recorder which rank the others wait for.

In: the dumps of the ranks. Out: the anomalies `ranks-differ`, `rank-absent-from-collective`,
`rank-stuck-in-collective`, `ranks-wait-in-circle`, and without a rank at fault `rank-without-dump`
and `ranks-wait-alike`. Not here: reading a dump (`formats.binary_files`), what watchdogs print
of the same (`detectors.collectives`).

Each rank waits in the first operation that it has not completed. It waits for those members of the
operation's process group that have neither completed it nor wait in it themselves. Who holds up
others and waits for nobody is at fault: it never issued the operation, or stands in one that all
others have completed. Of a rank without a dump neither is known; it is named only where no other
one explains the wait. Collectives are compared by group and number; numbers of different groups
mean nothing to each other. A point-to-point operation waits for its other end.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE, PendingWork, ProcessId, RankDump
from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.collectives import format_ranks
from postmortem.diagnosis.detectors.observed import Anomaly, Observed

DIFFER: Final = "ranks-differ"
STUCK: Final = "rank-stuck-in-collective"
ABSENT: Final = "rank-absent-from-collective"
CIRCLE: Final = "ranks-wait-in-circle"
UNSEEN: Final = "rank-without-dump"
ALIKE: Final = "ranks-wait-alike"
OUTLIER: Final = "ras-outlier"
"""Of a report of NCCL's RAS."""
WAITING: Final = (DIFFER, STUCK, ABSENT, CIRCLE, OUTLIER, UNSEEN, ALIKE)
"""What shows by itself that a run stood still."""
_DEFAULT: Final = "default_pg"
"""The group of all ranks."""
_MOST_SHOWN: Final = 16
_SAME_SIZES: Final = ("all_reduce", "allreduce", "broadcast", "reduce", "_all_gather_base",
                      "_reduce_scatter_base")  # fmt: skip
"""Operations in which all ranks of a group take part with tensors of one size."""


class _Waits(NamedTuple):
    """Who waits for whom."""

    heads: Mapping[int, PendingWork]
    """The operation in which each rank waits."""
    blockers: Mapping[int, tuple[int, ...]]
    """The ranks that each rank waits for."""


def detect_waiting_ranks(observed: Observed) -> Iterator[Anomaly]:
    """Find the ranks that the others wait for, or that wait for each other."""
    dumps = _drop_completed(_separate_groups({dump.rank: dump for dump in observed.rank_dumps}))
    heads = {rank: dump.pending[0] for rank, dump in dumps.items() if dump.pending}
    differing = _find_differing_calls(heads, dumps)
    if differing is not None:
        ranks, message, work = differing
        yield _build_anomaly(DIFFER, message, ranks, work, dumps)
    else:
        yield from _iter_waits(heads, dumps)


def _iter_waits(
    heads: Mapping[int, PendingWork], dumps: Mapping[int, RankDump]
) -> Iterator[Anomaly]:
    """Yield who is waited for and waits for nobody; without any, who wait for each other."""
    waits = _Waits(heads, _collect_blockers(heads, dumps))
    held_up = {rank for blockers in set(waits.blockers.values()) for rank in blockers}
    at_fault = sorted(rank for rank in held_up & dumps.keys() if not waits.blockers.get(rank))
    if at_fault:
        name = STUCK if at_fault[0] in heads else ABSENT
        work = heads[at_fault[0]] if name == STUCK else heads[_find_waiting(at_fault[0], waits)]
        yield _build_anomaly(name, _describe_fault(at_fault, waits, dumps), at_fault, work, dumps)
    elif circle := _find_circle(waits):
        apart = _find_most_awaited(circle, waits)
        ranks = circle if apart is None else [apart]
        message, work = _describe_circle(circle, waits, apart), heads[ranks[0]]
        found = _build_anomaly(CIRCLE, message, ranks, work, dumps)
        other = _find_waiting(ranks[0], waits)
        captured = _capture([other], heads[other], dumps)
        others = {f"other_{name}": value for name, value in captured.items()}
        yield found._replace(captures={**found.captures, **others})
    elif held_up:
        yield _describe_unseen(sorted(held_up), waits, dumps)
    elif heads:
        yield _describe_alike(heads, dumps)


def _separate_groups(dumps: Mapping[int, RankDump]) -> Mapping[int, RankDump]:
    """Call groups apart that have one name and different members: each rank numbers its own."""
    members: dict[str, set[tuple[int, ...]]] = defaultdict(set)
    for dump in dumps.values():
        for name, group in dump.groups.items():
            members[name].add(group.ranks)
    shared = {name for name, listed in members.items() if len(listed - {()}) > 1}
    if not shared:
        return dumps
    found = {}
    for rank, dump in dumps.items():
        own = {
            name: f"{name} of {dump.groups[name].ranks[:2]}" for name in shared & dump.groups.keys()
        }
        found[rank] = dump._replace(
            groups={own.get(name, name): group for name, group in dump.groups.items()},
            pending=tuple(
                work._replace(group=own.get(work.group, work.group)) for work in dump.pending
            ),
        )
    return found


def _drop_completed(dumps: Mapping[int, RankDump]) -> Mapping[int, RankDump]:
    """Leave out works that a rank has let go of and another one has completed.

    Gloo counts a work as completed only when the next one begins.
    """
    completed: dict[str, int] = {}
    for dump in dumps.values():
        for name, group in dump.groups.items():
            completed[name] = max(completed.get(name, -1), group.completed)
    return {
        rank: dump._replace(
            pending=tuple(
                work
                for work in dump.pending
                if not work.is_let_go or work.number > completed[work.group]
            )
        )
        for rank, dump in dumps.items()
    }


def _build_anomaly(
    name: str,
    message: Message,
    ranks: Sequence[int],
    work: PendingWork,
    dumps: Mapping[int, RankDump],
) -> Anomaly:
    """Build an anomaly of ranks and an operation; it stands at the dump of the first of them."""
    dump = dumps.get(ranks[0]) or next(iter(dumps.values()))
    place = ProcessId(rank=ranks[0])
    return Anomaly(name, message, dump.source, place, 1, _capture(ranks, work, dumps))


def _capture(
    ranks: Sequence[int], work: PendingWork, dumps: Mapping[int, RankDump]
) -> dict[str, str]:
    """Give what fixes name: some ranks, the first of them, an operation and its group."""
    named = (dump.groups[work.group] for dump in dumps.values() if work.group in dump.groups)
    group = next(named, None)
    return {
        "ranks": ",".join(map(str, ranks[:_MOST_SHOWN])),
        "rank": str(ranks[0]),
        "operation": work.operation.partition(" ")[0],
        "group": (group.description if group else "") or work.group,
    }


def _list_members(work: PendingWork, dumps: Mapping[int, RankDump]) -> Sequence[int]:
    """List the ranks of the group of an operation.

    Where no dump lists them: all for the default group; else those whose dump holds the group, or
    if there is no second one, those that have not come to any group.
    """
    holding = {
        rank: group for rank, dump in dumps.items() if (group := dump.groups.get(work.group))
    }
    listed = next((group.ranks for group in holding.values() if group.ranks), ())
    if listed:
        return listed
    if any(group.description == _DEFAULT for group in holding.values()):
        return range(max(dumps) + 1)
    idle = (rank for rank, dump in dumps.items() if not dump.groups)
    return [*holding] if len(holding) > 1 else sorted([*holding, *idle])


def _collect_blockers(
    heads: Mapping[int, PendingWork], dumps: Mapping[int, RankDump]
) -> dict[int, tuple[int, ...]]:
    """Give the members of a group that have not come to the operation in which each rank waits.

    All that wait in one collective wait for the same.
    """
    late: dict[tuple[str, int], tuple[int, ...]] = {}
    found = {}
    for rank, work in heads.items():
        key = (work.group, work.number)
        if work.peer is not None:
            other = [*_list_members(work, dumps)][work.peer : work.peer + 1]
            found[rank] = tuple(one for one in other if not _is_other_end(one, rank, work, dumps))
            continue
        if key not in late:
            members = _list_members(work, dumps)
            late[key] = tuple(one for one in members if not _has_come(one, work, dumps))
        found[rank] = late[key]
    return found


def _has_come(other: int, work: PendingWork, dumps: Mapping[int, RankDump]) -> bool:
    """Say whether a rank has completed a collective in which others wait, or waits in it too."""
    dump = dumps.get(other)
    if dump is None:
        return False
    head = dump.pending[0] if dump.pending else None
    key = (work.group, work.number)
    if head is not None and head.peer is None and (head.group, head.number) == key:
        return True
    group = dump.groups.get(work.group)
    is_left_out = any((one.group, one.number) == key for one in dump.pending if one.peer is None)
    return group is not None and not is_left_out and group.enqueued >= work.number


def _is_other_end(other: int, rank: int, work: PendingWork, dumps: Mapping[int, RankDump]) -> bool:
    """Say whether a rank stands at the other end of what another sends or receives."""
    dump = dumps.get(other)
    head = dump.pending[0] if dump is not None and dump.pending else None
    if head is None or head.peer is None or head.group != work.group:
        return False
    return [*_list_members(work, dumps)][head.peer : head.peer + 1] == [rank]


def _find_differing_calls(
    heads: Mapping[int, PendingWork], dumps: Mapping[int, RankDump]
) -> tuple[Sequence[int], Message, PendingWork] | None:
    """Find ranks that wait in different operations under one number of a group: the fewer.

    With the operation in which one of them waits.
    """
    waiting: dict[tuple[str, int], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for rank, work in heads.items():
        if work.peer is None and work.operation:
            waiting[work.group, work.number][_describe_call(work)].append(rank)
    for (group, number), calls in waiting.items():
        if len(calls) > 1:
            for rank, call in _list_last_calls(group, number, dumps):
                if rank not in heads and call in calls:
                    calls[call].append(rank)
            (odd_call, odd), *_, (call, ranks) = sorted(calls.items(), key=lambda one: len(one[1]))
            message = say(
                "group {group}, collective {number}: rank {one} in {one_call}, rank {other} in"
                " {other_call}",
                group=group,
                number=number,
                one=format_ranks(sorted(ranks), _MOST_SHOWN),
                one_call=call,
                other=format_ranks(sorted(odd), _MOST_SHOWN),
                other_call=odd_call,
            )
            return odd, message, PendingWork(group, number, *odd_call.partition(" ")[::2])
    return None


def _list_last_calls(
    group: str, number: int, dumps: Mapping[int, RankDump]
) -> Iterator[tuple[int, str]]:
    """Yield the ranks whose last call has this number, with the call: they have left it since."""
    for rank, dump in dumps.items():
        own = dump.groups.get(group)
        if own is not None and own.enqueued == number and own.last:
            operation, _, sizes = own.last.partition(" ")
            yield rank, _describe_call(PendingWork(group, number, operation, sizes))


def _describe_call(work: PendingWork) -> str:
    """Name an operation, with its sizes where all ranks must have the same."""
    is_sized = work.operation.rpartition(":")[2].startswith(_SAME_SIZES)
    return f"{work.operation} {work.sizes}".rstrip() if is_sized else work.operation


def _describe_fault(
    at_fault: Sequence[int], waits: _Waits, dumps: Mapping[int, RankDump]
) -> Message:
    """Say in what the ranks wait that are held up, and where those stand that hold them up."""
    first = at_fault[0]
    waiting = _find_waiting(first, waits)
    work, head = waits.heads[waiting], waits.heads.get(first)
    group = dumps[waiting].groups[work.group]
    words = {
        "ranks": format_ranks(at_fault, _MOST_SHOWN),
        "count": sum(1 for blockers in waits.blockers.values() if blockers),
        "call": _name_call(work),
        "group": group.label,
    }
    if head is None:
        return say(
            "{count} of the others wait for rank {ranks}: nothing enqueued, never came to {call}"
            " of group {group}",
            **words,
        )
    return say(
        "{count} of the others wait for rank {ranks}: it stands in {own} of group {own_group},"
        " which the other members have completed; missing in {call} of group {group}",
        own=_name_call(head),
        own_group=dumps[first].groups[head.group].label,
        **words,
    )


def _describe_unseen(
    unseen: Sequence[int], waits: _Waits, dumps: Mapping[int, RankDump]
) -> Anomaly:
    """Name the ranks of which no dump was handed in; a single one may be the one that is late."""
    waiting = _find_waiting(unseen[0], waits)
    work = waits.heads[waiting]
    message = say(
        "no dump was handed in of rank {ranks}: whether it came to {call} of group {group}, in"
        " which {count} ranks wait, is not known; no rank with a dump is late",
        ranks=format_ranks(unseen, _MOST_SHOWN),
        call=_name_call(work),
        group=dumps[waiting].groups[work.group].label,
        count=sum(1 for blockers in waits.blockers.values() if blockers),
    )
    found = _build_anomaly(UNSEEN, message, unseen, work, dumps)
    return found if len(unseen) == 1 else found._replace(where=NOWHERE)


def _describe_alike(heads: Mapping[int, PendingWork], dumps: Mapping[int, RankDump]) -> Anomaly:
    """Say that nobody is late: the dumps do not show on whom the ranks wait."""
    first = min(heads)
    work = heads[first]
    message = say(
        "no rank is late among these dumps: {count} of {all} wait, rank {first} in {call} of group"
        " {group}; it is the network, a device, or a rank whose dump is missing",
        count=len(heads),
        all=len(dumps),
        first=first,
        call=_name_call(work),
        group=dumps[first].groups[work.group].label,
    )
    found = _build_anomaly(ALIKE, message, [first], work, dumps)
    captures = {name: found.captures[name] for name in ("operation", "group")}
    return found._replace(where=NOWHERE, captures=captures)


def _find_waiting(rank: int, waits: _Waits) -> int:
    """Give one that waits for a rank, in a collective if any does."""
    return min(
        (other for other, blockers in waits.blockers.items() if rank in blockers),
        key=lambda other: waits.heads[other].peer is not None,
    )


def _name_call(work: PendingWork) -> str:
    name = work.operation or "collective"
    return f"{name} (number {work.number})" if work.peer is None else name


def _find_circle(waits: _Waits) -> list[int]:
    """Follow who waits for whom until a rank comes again; nothing if nobody's wait leads back."""
    alive = {rank for rank, blockers in waits.blockers.items() if blockers}
    while ended := {rank for rank in alive if alive.isdisjoint(waits.blockers[rank])}:
        alive -= ended
    if not alive:
        return []
    rank, path = min(alive), list[int]()
    while rank not in path:
        path.append(rank)
        rank = next(one for one in waits.blockers[rank] if one in alive)
    return sorted(path[path.index(rank) :])


def _find_most_awaited(circle: Sequence[int], waits: _Waits) -> int | None:
    """Give the rank of a circle that most ranks wait for; None where no single one is."""
    awaited = Counter(
        rank for blockers in waits.blockers.values() for rank in blockers if rank in circle
    )
    (first, most), (_, next_most), *_ = [*awaited.most_common(2), (-1, 0)]
    return first if most > next_most else None


def _describe_circle(circle: Sequence[int], waits: _Waits, apart: int | None) -> Message:
    """Say in what two ranks of a circle wait, first that of the one that stands apart."""
    one = circle[0] if apart is None else apart
    other = _find_waiting(one, waits)
    words = {
        "one_call": _name_call(waits.heads[one]),
        "one_group": waits.heads[one].group,
        "other": other,
        "other_call": _name_call(waits.heads[other]),
        "other_group": waits.heads[other].group,
    }
    if apart is not None:
        return say(
            "rank {one} went on to {one_call} of group {one_group}, while rank {other} waits for it"
            " in {other_call} of group {other_group}",
            one=one,
            **words,
        )
    return say(
        "rank {ranks} wait for each other: rank {one} in {one_call} of group {one_group}, rank"
        " {other} in {other_call} of group {other_group}",
        ranks=format_ranks(circle, _MOST_SHOWN),
        one=one,
        **words,
    )
