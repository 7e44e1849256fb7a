"""Find the process of a job whose printed stack differs from the others.

In: findings of threads (faulthandler, gdb) and processes (py-spy), the ends of the sources. Out:
`Stack`s, one for each process; the anomalies `stacks-dumped` and, where one process stands
elsewhere than the others, `stack-apart`. Not here: the traceback of an exception
(`extraction.traceback`), the dump of a process that crashes.

Whoever dumps stacks (py-spy, faulthandler) has a run that stands still. The processes that wait in
a collective, or for the device that does, wait for the one that reads, writes, locks or computes;
where all wait, for the one that has come to its collective by another way. Of a process that was
asked several times, the last answer counts.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE, Finding, ProcessId
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import say
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.rules.vocabulary import Trait, has_trait

THREAD: Final = "context.stack-of-thread"
PROCESS: Final = "context.stack-of-process"
_COMMAND: Final = "context.stack-command"
_MACHINE: Final = ("pod", "host", "node", "container")
_RANK: Final = compile_lazily(r"--?(?:global[-_])?rank[= ](?P<rank>\d{1,6})")
_LOCAL: Final = compile_lazily(r"--local[-_]rank[= ](?P<rank>\d{1,6})")
_RANK_LABEL: Final = compile_lazily(
    r"(?i)(?<!local_)(?<!local )(?<!node_)(?<!node )\brank[ =:]{0,3}(?P<rank>\d{1,6})\b"
)
_LOCAL_RANK_LABEL: Final = compile_lazily(r"(?i)\blocal[_ ]rank[ =:]{0,3}(?P<rank>\d{1,6})\b")
_FRAME: Final = compile_lazily(
    r"^ {1,8}(?:File \"(?P<file>[^\"]{1,300})\", line \d{1,7} in (?P<of>.{1,160})"
    r"|(?P<function>[^(]{1,160}) \((?P<path>[^()]{1,300}):\d{1,7}\))"
)
_NATIVE: Final = compile_lazily(
    r"^#\d{1,4} +(?:0x[0-9a-f]{1,16} in )?(?P<native>[^\s(][^(]{0,160}?) ?\([^\n]{0,400}?"
    r"(?: (?:from|at) (?P<library>\S{1,300}))?$"
)
_SYSTEM: Final = compile_lazily(
    r"^(?:_*clock_gettime|_*pthread_|_*futex|epoll_|_*poll|ppoll|select|sem_|sched_yield|_*nanosleep"
    r"|syscall|lll_|do_futex)|/(?:libc|libpthread|ld-linux)[.-]"
)
"""Native calls in which any thread ends that waits or reads."""
_PLUMBING: Final = compile_lazily(
    r"(?:^|/)(?:threading|queue|selectors|socket|ssl|subprocess|signal)\.py"
    r"|(?:^|[^h])/?multiprocessing/|(?:^|/)(?:asyncio|concurrent)/"
)
"""What waits in the name of whoever calls it; `torch/multiprocessing` does not."""
_HELPERS: Final = compile_lazily(
    r"^_worker_loop |elastic/(?:agent|multiprocessing/api)|distributed/launcher/"
    r"|distributed/run\.py|deepspeed/launcher/|accelerate/commands/|^start_processes "
    r"|resource_tracker\.py|forkserver\.py|compile_worker"
)
"""What stands in the stacks of launchers and of workers that load data."""


class StackCall(NamedTuple):
    """One call of a stack."""

    name: str
    """The function and its file."""
    path: str
    line: int
    """Raw line that prints it."""

    def is_plumbing(self) -> bool:
        """Say whether it only waits in the name of its caller."""
        return _PLUMBING.search(self.path) is not None


class Stack(NamedTuple):
    """The main thread of one process, the innermost call first."""

    where: ProcessId
    source: int
    frames: Sequence[StackCall]

    def place(self) -> StackCall:
        """Give the innermost call that shows what the process does."""
        return next((frame for frame in self.frames if not frame.is_plumbing()), self.frames[0])


def read_stacks(job: Observed) -> list[Stack]:
    """Read the main thread of each process that was asked behind the last record of its source.

    Launchers and workers that load data are left out, unless there are no others.
    """
    found: dict[tuple[int, ProcessId, str], Stack] = {}
    crashed = {
        finding.source
        for finding, _ in job.findings
        if has_trait(finding.signature, Trait.NATIVE_CRASH)
    }
    for finding, _ in job.findings:
        is_of_stack = finding.signature in {THREAD, PROCESS} and finding.source not in crashed
        if is_of_stack and finding.line > job.last_records.get(finding.source, 0):
            where = _parse_process(job, finding)
            if frames := _parse_frames(finding):
                command = finding.capture("command") or ""
                found[finding.source, where, command] = Stack(where, finding.source, frames)
    ordered = sorted(found.values(), key=lambda stack: (stack.source, stack.frames[0].line))
    return _keep_one_source([stack for stack in ordered if not _is_of_helper(stack)] or ordered)


def _keep_one_source(stacks: Sequence[Stack]) -> list[Stack]:
    """Keep one answer of a rank that was asked in two ways: in its log, and in a file of py-spy."""
    last = {stack.where.rank: stack.source for stack in stacks}
    return [
        stack
        for stack in stacks
        if stack.where.rank is None or stack.source == last[stack.where.rank]
    ]


def _parse_frames(finding: Finding) -> list[StackCall]:
    """Read the calls of a stack, counting their lines from the last one."""
    texts = (finding.capture("frames") or "").split("\n")[1:]
    rows = [*enumerate(texts, finding.end_line - len(texts) + 1)]
    if texts and texts[0].startswith("#"):
        return _parse_native_frames(rows)
    found = []
    for number, text in rows:
        if (match := _FRAME.match(text)) is not None:
            path = match["path"] or match["file"]
            name = f"{match['function'] or match['of']} ({path.rsplit('/', 1)[-1]})".strip()
            found.append(StackCall(name, path, number))
    return found


def _parse_native_frames(rows: Iterable[tuple[int, str]]) -> list[StackCall]:
    """Read the calls of a stack of gdb, without those of the system if there are others."""
    found = []
    for number, text in rows:
        if (match := _NATIVE.match(text)) is not None:
            path = match["library"] or ""
            name = f"{match['native']} ({path.rsplit('/', 1)[-1]})" if path else match["native"]
            found.append(StackCall(name.strip(), path, number))
    return [call for call in found if not _SYSTEM.search(f"{call.name} {call.path}")] or found


def _is_of_helper(stack: Stack) -> bool:
    """Say whether a stack is that of a launcher or of a worker that loads data."""
    return any(
        _HELPERS.search(f"{frame.name.split(' (')[0]} ({frame.path})") for frame in stack.frames
    )


def _parse_process(observed: Observed, finding: Finding) -> ProcessId:
    """Name the process of a stack: by its label, its command, its file, or its number."""
    own = finding.where.filled(observed.processes.get(finding.source, NOWHERE))
    if finding.signature == THREAD:
        return own
    pid = int(finding.capture("pid") or 0)
    command = finding.capture("command") or ""
    rank, local = _RANK.search(command), _LOCAL.search(command)
    named = ProcessId(
        int(rank["rank"]) if rank else None,
        int(local["rank"]) if local else None,
        _find_machine_name(observed, finding),
        pid,
    ).filled(own)
    if named.rank is not None:
        return named
    lines = (line for source in observed.tails for _, line in observed.kept_lines(source))
    return named.filled(find_process_by_pid(lines, pid))


def _find_machine_name(observed: Observed, finding: Finding) -> str | None:
    """Give the machine that the command nearest above a stack names."""
    above = [
        command
        for command, _ in observed.findings
        if command.signature == _COMMAND
        and command.source == finding.source
        and command.line < finding.line
    ]
    if not above:
        return None
    nearest = max(above, key=lambda command: command.line)
    return next((name for key in _MACHINE if (name := nearest.capture(key))), None)


def find_process_by_pid(lines: Iterable[str], pid: int) -> ProcessId:
    """Give the process that lines with a process number name, where all name the same."""
    number = re.compile(rf"(?<![\w.:/-]){pid}(?![\w.:/-])")
    lines = [line for line in lines if str(pid) in line and number.search(line) is not None]
    return ProcessId(
        _parse_single_number(lines, _RANK_LABEL),
        _parse_single_number(lines, _LOCAL_RANK_LABEL),
        None,
        None,
    )


def _parse_single_number(lines: Sequence[str], pattern: re.Pattern[str]) -> int | None:
    """Give the number that lines name, if it is one."""
    numbers: set[int] = {number for line in lines for number in _iter_numbers(line, pattern)}
    return numbers.pop() if len(numbers) == 1 else None


def _iter_numbers(line: str, pattern: re.Pattern[str]) -> Iterator[int]:
    for match in pattern.finditer(line):
        yield int(match["rank"])


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
