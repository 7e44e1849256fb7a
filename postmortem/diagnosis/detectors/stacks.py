"""Find the process of a job whose printed stack differs from the others.

In: the stacks of a job (`detectors.stack_dumps`). Out: the anomalies `stacks-dumped` and, where one
process stands elsewhere than the others, `stack-apart`. Not here: reading stacks.

Whoever dumps stacks (py-spy, faulthandler) has a run that stands still. The processes that wait in
a collective, or for the device that does, wait for the one that reads, writes, locks or computes;
where all wait, for the one that has come to its collective by another way.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.stack_dumps import Stack, StackCall, read_stacks

_COLLECTIVE: Final = compile_lazily(
    r"all_?reduce|all_?gather|reduce_scatter|broadcast|barrier|all_to_all|[sS]ynchronize|_wait_for"
    r"|distributed_c10d|\bsend\b|\brecv\b|allgather|allreduce|^c10d::|^gloo::|^nccl[A-Z]"
)
_DEVICE: Final = compile_lazily(
    r"^(?:backward|_engine_run_backward|run_backward|_call_backend|synchronize|wait_stream)$"
)
"""Calls of torch in which a process waits for what its device does."""
_IN_TURN: Final = compile_lazily(r"pipelin|p2p|(?:send|recv)_(?:forward|backward)")
"""Schedules by which processes rightly stand in different places."""
_MOST: Final = 3
"""Innermost calls by which it is told whether a process waits."""
_FEWEST: Final = 3
"""Processes among which one can come another way than the others."""


class _OddStack(NamedTuple):
    """The process that stands elsewhere, in which call, and one of the others."""

    odd: Stack
    at: StackCall
    other: Stack
    other_at: StackCall


def detect_stack_outlier(observed: Observed) -> Iterable[Anomaly]:
    """Find stacks of living processes, and the process that stands elsewhere than the others."""
    stacks = read_stacks(observed)
    if not stacks:
        return
    first = stacks[0]
    message = say(
        "stacks of {count} processes, the first in {place}",
        count=len(stacks),
        place=first.place().name,
    )
    where = first.where if len(stacks) == 1 else NOWHERE
    yield Anomaly("stacks-dumped", message, first.source, where, first.place().line)
    apart = _find_non_waiting_process(stacks) or _find_different_wait(stacks)
    if apart is not None:
        odd = apart.odd
        message = say(
            "{name} stands in {place}, the other {count} in {other}",
            name=odd.where.describe(),
            place=apart.at.name,
            count=len(stacks) - 1,
            other=apart.other_at.name,
        )
        yield Anomaly("stack-apart", message, odd.source, odd.where, apart.at.line)


def _is_waiting(stack: Stack) -> bool:
    """Say whether a process waits for its peers, or for its device, which may."""
    at = stack.place()
    is_for_device = "torch/" in at.path and _DEVICE.search(at.name.split(" (")[0]) is not None
    return is_for_device or any(
        _COLLECTIVE.search(frame.name) and not frame.is_plumbing() for frame in stack.frames[:_MOST]
    )


def _find_non_waiting_process(stacks: Sequence[Stack]) -> _OddStack | None:
    """Find the one process that waits for no other and stands where no other does."""
    places = Counter(stack.place()[:2] for stack in stacks)
    alone = [stack for stack in stacks if places[stack.place()[:2]] == 1 and not _is_waiting(stack)]
    if len(alone) != 1 or len(stacks) == 1:
        return None
    others = [stack for stack in stacks if stack is not alone[0]]
    other = next((stack for stack in others if _is_waiting(stack)), None)
    if other is None:
        return None
    return _OddStack(alone[0], alone[0].place(), other, other.place())


def _find_different_wait(stacks: Sequence[Stack]) -> _OddStack | None:
    """Find the one process that waits behind another call than all the others do."""
    if len(stacks) < _FEWEST or not all(map(_is_waiting, stacks)):
        return None
    if any(_IN_TURN.search(frame.name) for stack in stacks for frame in stack.frames):
        return None
    for depth in range(1, min(len(stack.frames) for stack in stacks) + 1):
        ways: dict[str, list[Stack]] = defaultdict(list)
        for stack in stacks:
            ways[stack.frames[-depth].name].append(stack)
        if len(ways) > 1:
            few, many = sorted(ways.values(), key=len)[:2]
            if len(ways) > 2 or len(few) > 1 or len(many) == 1:
                return None
            odd, other = few[0], many[0]
            return _OddStack(odd, odd.frames[-depth], other, other.frames[-depth])
    return None
