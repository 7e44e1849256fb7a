"""Where the processes of a job stand, by the stacks that somebody has had them print.

In: the ends of all sources. Out: the shapes `stacks-dumped` and, where one process stands elsewhere
than the others, `stack-apart`. Not here: the traceback of an exception (`gathering.traceback`), the
dump of a process that crashes.

Whoever dumps stacks (py-spy, faulthandler) has a run that stands still. The processes that wait in
a collective wait for the one that reads, writes, locks or computes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.lazy_regex import lazy_compile
from postmortem.model.lines import NOWHERE, Where
from postmortem.model.said import say
from postmortem.shapes.observed import Observed
from postmortem.shapes.shape import Shape

_PROCESS: Final = lazy_compile(r"^(?:.{0,40}\] ?)?Process (?P<pid>\d{1,10}): (?P<command>.{0,600})")
_RANK: Final = lazy_compile(r"--?(?:global[-_])?rank[= ](?P<rank>\d{1,6})")
_LOCAL: Final = lazy_compile(r"--local[-_]rank[= ](?P<rank>\d{1,6})")
_THREAD: Final = lazy_compile(
    r"(?:^|\] ?)(?:Thread \d{1,10} \((?:idle|active)[^)]{0,20}\)(?:: \"(?P<name>[^\"]{0,80})\")?"
    r"|(?:Current thread|Thread) 0x[0-9a-f]{4,16} (?:\[[^\]]{0,40}\] )?\(most recent call first\))"
)
_FRAME: Final = lazy_compile(
    r"^ {2,8}(?:File \"(?P<file>[^\"]{1,300})\", line \d{1,7} in (?P<of>\S{1,120})"
    r"|(?P<function>\S{1,120}) \((?P<path>[^()]{1,300}):\d{1,7}\))"
)
_CRASH: Final = lazy_compile(r"Fatal Python error|Segmentation fault")
_COLLECTIVE: Final = lazy_compile(
    r"all_?reduce|all_?gather|reduce_scatter|broadcast|barrier|all_to_all|synchronize|_wait_for"
    r"|distributed_c10d|\bsend\b|\brecv\b|allgather|allreduce"
)
_MAIN: Final = "MainThread"
_MOST: Final = 3
"""Innermost frames by which it is told where a process stands."""


class _Stack(NamedTuple):
    """The main thread of one process."""

    where: Where
    source: int
    line: int
    frames: Sequence[str]

    def waits(self) -> bool:
        """Say whether it waits for its peers."""
        return any(_COLLECTIVE.search(frame) for frame in self.frames[:_MOST])

    def place(self) -> str:
        """Name where it stands, in a few words."""
        return self.frames[0]


def dumped(observed: Observed) -> Iterable[Shape]:
    """Find stacks of living processes, and the process that stands elsewhere than the others."""
    stacks = [stack for source in observed.tails for stack in _stacks(observed, source)]
    if not stacks:
        return
    first = stacks[0]
    said = say(
        "stacks of {count} processes, the first in {place}",
        "{count} 个进程的调用栈，第一个停在 {place}",
        count=len(stacks),
        place=first.place(),
    )
    yield Shape("stacks-dumped", said, first.source, first.where, first.line)
    apart = [stack for stack in stacks if not stack.waits()]
    if len(apart) == 1 and len(stacks) > 1:
        odd, peer = apart[0], next(stack for stack in stacks if stack.waits())
        said = say(
            "{name} stands in {place}, the other {count} in {other}",
            "{name} 停在 {place}，其余 {count} 个停在 {other}",
            name=odd.where.said(),
            place=odd.place(),
            count=len(stacks) - 1,
            other=peer.place(),
        )
        yield Shape("stack-apart", said, odd.source, odd.where, odd.line)


def _stacks(observed: Observed, source: int) -> Iterator[_Stack]:
    """Read the main thread of each process at the end of a source, behind its last record.

    It is the one that py-spy calls so; faulthandler prints it last.
    """
    first, text = observed.tails[source]
    if "hread " not in text or _CRASH.search(text):
        return
    for threads in _threads(first, text, observed.processes.get(source, NOWHERE), source).values():
        main = threads.get(_MAIN) or next(iter(threads.values()))
        if main.frames and main.line > observed.last_records.get(source, 0):
            yield main


def _threads(first: int, text: str, own: Where, source: int) -> Mapping[int, Mapping[str, _Stack]]:
    """Read the threads of each process, by the line at which it begins and by their names."""
    threads: dict[int, dict[str, _Stack]] = {}
    where, process = own, 0
    frames: list[str] | None = None
    for number, line in enumerate(text.split("\n"), first):
        if (match := _PROCESS.match(line)) is not None:
            process, frames, where = number, None, _named(match).filled(own)
        elif (match := _THREAD.search(line)) is not None:
            frames = []
            stack = _Stack(where, source, number, frames)
            threads.setdefault(process, {})[match["name"] or _MAIN] = stack
        elif frames is not None and (match := _FRAME.match(line)) is not None:
            path = (match["path"] or match["file"]).rsplit("/", 1)[-1]
            frames.append(f"{match['function'] or match['of']} ({path})")
    return threads


def _named(match: re.Match[str]) -> Where:
    pid, command = match["pid"], match["command"]
    rank, local = _RANK.search(command), _LOCAL.search(command)
    return Where(
        int(rank["rank"]) if rank else None, int(local["rank"]) if local else None, None, int(pid)
    )
