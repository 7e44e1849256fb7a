"""Analyse an out-of-memory error of CUDA: the sizes in its line, and the phase of the run.

In: findings of `memory.cuda-oom.*` with the sizes they captured, how many metric records stood
before, the size of the card where another line tells it; tracebacks, the phases that each log tells
of. Out: the anomalies `oom-fragmented` or `oom-little-spare`, `oom-other-process` or `oom-all-own`,
`oom-larger-than-card`, `oom-capped`, `oom-stray-contexts`, `oom-after-steps` or `oom-before-steps`,
whose texts show the account in GiB; `oom-in-evaluation`, `oom-in-loading` or `oom-in-saving`,
nothing where the run was training. Not here: the wordings (`patterns/signatures/memory`).

    total - free - (allocated + reserved by this process)    held by others, and the context of this
    process
    reserved - allocated, against the request               fragmentation

The max_split_size / expandable_segments hint stands in every such line and is no evidence. Of the
frames the innermost one whose name tells of a phase counts: an evaluation within a training loop is
an evaluation, and loading the best weights within an evaluation is loading. What a model calls
within its own forward pass is no evaluation, whatever its name.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import Finding, Frame
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, join_list, quote, say
from postmortem.diagnosis.detectors.observed import Anomaly, Observed

FAMILY: Final = "memory.cuda-oom."
_SIZE: Final = compile_lazily(
    r"(?<!\d)(\d{1,25}(?:\.\d{1,25})?)\s*(bytes|[KMGT](?:i?B)?\b)", re.IGNORECASE
)
_UNITS: Final = {"b": 1 / (1 << 30), "k": 1 / (1 << 20), "m": 1 / 1024, "g": 1.0, "t": 1024.0}
_PROCESS: Final = compile_lazily(r"\bProcess\s+(\d+)\s+has\s+(\S+\s+\S+)\s+memory\s+in\s+use")
_OTHERS_SHARE: Final = 0.1
_OTHERS_GIB: Final = 1.5
_UNNAMED_GIB: Final = 2.0
"""The same where no process is named: contexts and a desktop may hold as much."""
_SPARE_SHARE: Final = 0.1
"""Holes that are less of the card than this are in every run."""
_CONTEXT_GIB: Final = 1.0
"""Up to this, another process holds hardly more than a CUDA context."""
_ROUNDING: Final = 1.02
_CONTRARY: Final = (("oom-fragmented", "oom-little-spare"), ("oom-other-process", "oom-all-own"))
"""What holds on any rank, and what is not said of the job then."""
_AnomalyParts = tuple[str, Message]
"""The id of a shape, and the figures that show it."""


class MemoryAccount(NamedTuple):
    """The figures of one line in GiB; None where it prints none, or what cannot be."""

    requested: float | None
    total: float | None
    free: float | None
    allocated: float | None
    spare: float | None
    """Reserved by this process, but not allocated."""
    own: float | None
    """Held by this process: as the driver counts it (with its context), else what its allocator has
    reserved."""
    processes: tuple[tuple[str, float], ...]
    """(pid, GiB) of the processes that the line names beside "this process"; in a container one of
    them may be this one."""
    is_own_named: bool

    @property
    def others(self) -> float | None:
        """What is neither free nor held by this process."""
        return (
            None
            if self.total is None or self.free is None or self.own is None
            else self.total - self.free - self.own
        )


def parse_gib(text: str | None) -> float | None:
    """Read a printed size as GiB; None if there is none."""
    match = _SIZE.search(text or "")
    return None if match is None else float(match[1]) * _UNITS[match[2][0].lower()]


def parse_memory_account(finding: Finding) -> MemoryAccount:
    """Read the figures of a line."""
    requested, total, free, allocated, spare = (
        parse_gib(finding.capture(name))
        for name in ("asked", "total", "free", "allocated", "unallocated")
    )
    reserved = parse_gib(finding.capture("reserved"))
    if spare is None and reserved is not None and allocated is not None:
        spare = reserved - allocated
    if reserved is None and allocated is not None:
        reserved = allocated + (spare or 0.0)
    mine = _parse_memory_in_use(finding, total)
    return MemoryAccount(
        requested=requested if requested is not None else parse_gib(finding.capture("asked2")),
        total=total,
        free=free,
        allocated=allocated,
        spare=spare,
        own=mine if mine is not None else reserved,
        processes=tuple(_iter_processes(finding)),
        is_own_named=mine is not None,
    )


def _parse_memory_in_use(finding: Finding, total: float | None) -> float | None:
    """Read what this process has in use as the driver counts it.

    None also for a counter that the driver does not keep (2**64 bytes).
    """
    mine = parse_gib(finding.capture("process_in_use"))
    is_possible = mine is None or total is None or mine <= _ROUNDING * total
    return mine if is_possible else None


def _iter_processes(finding: Finding) -> Iterator[tuple[str, float]]:
    for pid, text in _PROCESS.findall(finding.text):
        size = parse_gib(text)
        if size is not None:
            yield pid, size


def detect_oom_conditions(observed: Observed) -> Iterable[Anomaly]:
    """Judge every out-of-memory line; each anomaly once, at its first line.

    The largest GPU that was printed stands for the card of lines that do not tell of theirs.
    """
    card = observed.facts.cards.largest_gib()
    found: dict[str, Anomaly] = {}
    read: set[tuple[object, ...]] = set()
    for finding, records_before in observed.findings:
        key = (bool(records_before), finding.text, finding.captures)
        if not finding.signature.startswith(FAMILY) or key in read:
            continue
        read.add(key)  # what a thousand processes say alike gives the same shapes
        for name, message in _iter_oom_conditions(finding, records_before, card):
            anomaly = Anomaly(name, message, finding.source, finding.where, finding.line)
            found.setdefault(name, anomaly)
    for present, absent in _CONTRARY:
        if present in found:
            found.pop(absent, None)
    return found.values()


def _iter_oom_conditions(
    finding: Finding, records_before: int, card: float | None
) -> Iterator[_AnomalyParts]:
    """Yield the anomalies that one line shows."""
    yield (
        "oom-after-steps" if records_before else "oom-before-steps",
        say(
            "{count} metric records before the first out-of-memory line",
            count=records_before,
        ),
    )
    figures = parse_memory_account(finding)
    for anomaly in (
        _check_fragmentation(figures, figures.total if figures.total is not None else card),
        _compare_other_processes(figures),
        _find_stray_contexts(figures),
        _find_oversized_request(figures, parse_gib(finding.capture("needed")), card),
        _find_capped_process(figures, parse_gib(finding.capture("allowed"))),
    ):
        if anomaly is not None:
            yield anomaly


def _check_fragmentation(account: MemoryAccount, card: float | None) -> _AnomalyParts | None:
    """Compare what was asked for, and the card, with what was reserved and not allocated."""
    if account.requested is None or account.spare is None:
        return None
    reserved = quote("")
    if account.allocated is not None:
        reserved = say(
            "{reserved:.2f} reserved - {allocated:.2f} allocated = ",
            reserved=account.allocated + account.spare,
            allocated=account.allocated,
        )
    is_enough = account.spare > max(1.2 * account.requested, 0.5)
    if is_enough and account.spare < _SPARE_SHARE * (card or 0.0):
        return None
    message = say(
        "{sum}{spare:.2f} GiB reserved but unallocated, {asked:.2f} GiB asked",
        sum=reserved,
        spare=account.spare,
        asked=account.requested,
    )
    return ("oom-fragmented" if is_enough else "oom-little-spare", message)


def _compare_other_processes(account: MemoryAccount) -> _AnomalyParts | None:
    """Compare what others hold of the card with what contexts cost."""
    others = account.others
    if account.total is None or account.free is None or account.own is None or others is None:
        return None
    if account.own > _ROUNDING * account.total:
        return None
    total = say(
        "{total:.2f} total - {free:.2f} free - {own:.2f} of this process = {others:.2f} GiB",
        total=account.total,
        free=account.free,
        own=account.own,
        others=max(0.0, others),
    )
    least = _OTHERS_GIB if account.processes else _UNNAMED_GIB
    if others < max(_OTHERS_SHARE * account.total, least):
        return ("oom-all-own", say("{sum} for contexts", sum=total))
    message = say(
        "{sum} held elsewhere{by_whom}",
        sum=total,
        by_whom=_format_top_holders(account, account.own),
    )
    return ("oom-other-process", message)


def _format_top_holders(account: MemoryAccount, own: float) -> Message:
    """Name the processes that hold most, but this one."""
    held = [
        say("process {pid}: {size:.2f}", pid=pid, size=size)
        for pid, size in sorted(account.processes, key=lambda entry: -entry[1])[:4]
        if account.is_own_named or abs(size - own) > _CONTEXT_GIB
    ]
    return say(" ({held})", held=join_list(held)) if held else quote("")


def _find_stray_contexts(account: MemoryAccount) -> _AnomalyParts | None:
    """Several processes with hardly more than a context each.

    Ranks of one job that opened one on the wrong card.
    """
    small = [size for _, size in account.processes if size <= _CONTEXT_GIB]
    if len(small) < 2:
        return None
    message = say(
        "{count} other processes with {low:.2f} to {high:.2f} GiB each on this GPU",
        count=len(small),
        low=min(small),
        high=max(small),
    )
    return ("oom-stray-contexts", message)


def _find_oversized_request(
    account: MemoryAccount, needed: float | None, card_gib: float | None
) -> _AnomalyParts | None:
    """One request, or one compiled program, that no empty card could hold."""
    total, requested = (
        account.total if account.total is not None else card_gib,
        (needed if needed is not None else account.requested),
    )
    if requested is None or total is None or requested <= total:
        return None
    return (
        "oom-larger-than-card",
        say(
            "{asked:.2f} GiB asked at once, the card has {total:.2f} GiB",
            asked=requested,
            total=total,
        ),
    )


def _find_capped_process(account: MemoryAccount, allowed: float | None) -> _AnomalyParts | None:
    """Find a process that is allowed less than the card has."""
    if allowed is None or account.total is None or allowed * _ROUNDING > account.total:
        return None
    return (
        "oom-capped",
        say(
            "{allowed:.2f} of {total:.2f} GiB allowed to this process",
            allowed=allowed,
            total=account.total,
        ),
    )


_SHAPES: Final = {
    "evaluation": "oom-in-evaluation",
    "loading": "oom-in-loading",
    "saving": "oom-in-saving",
}
_PHASES: Final = (
    (
        "training",
        compile_lazily(r"backward|(?:^|_)train(?:ing)?(?:_|$)|optimi[sz]er_step|save_for_"),
    ),
    ("saving", compile_lazily(r"(?:^|_)(?:save|export|consolidate|merge)(?:_|$|d$)|full_tensor")),
    (
        "loading",
        compile_lazily(r"(?:^|_)(?:load|reload|restore|resume)(?:_(?!data|batch|image|sample)|$)"),
    ),
    ("loading", compile_lazily(r"from_pretrained|set_module_tensor")),
    ("saving", compile_lazily(r"state_dict")),
    (
        "evaluation",
        compile_lazily(
            r"(?:^|_)(?:eval|evaluate|evaluation|val|valid|validate|validation|test|dev|predict"
            r"|prediction|infer|inference|generate|generation|metrics)(?:_|$)"
        ),
    ),
)
"""Names of functions that tell of a phase; the first that fits a name counts."""
_LOSS: Final = compile_lazily(r"(?:^|_)(?:compute_loss|loss_fn|cross_entropy)(?:_|$)")
"""Names of functions that are called in training and in evaluation, never in loading."""
_OF_A_MODEL: Final = compile_lazily(r"(?:^|_)(?:predict|prediction|infer|inference)(?:_|$)")
"""Names of methods that models call in training as well."""
_MOVES: Final = frozenset({"to", "cuda", "_apply"})
_MODULE: Final = "torch/nn/modules/module.py"
_OPTIMIZER: Final = compile_lazily(r"(?:^|/)(?:torch/optim|optimizers?|optim)/\w{1,40}\.py$")
"""Files of optimisers, whose frames are those of a training step."""
_TRAINS: Final = compile_lazily(
    r"\.(?:fit|fit_generator|train_on_batch|backward)\(|\btrain_op\b|\boptim\w*\.step\("
)
"""Statements that train, whatever the name of the function they stand in."""
_HUMP: Final = compile_lazily(r"(?<=[a-z])(?=[A-Z])")


def detect_oom_phase(observed: Observed) -> Iterable[Anomaly]:
    """Find the phase of the first out-of-memory line."""
    for finding, _ in observed.findings:
        if finding.signature.startswith(FAMILY) and finding.role == "cause":
            by_frames = _detect_phase_by_traceback(finding, observed)
            return _detect_phase_by_lines(finding, observed) if by_frames is None else by_frames
    return []


def infer_phase_from_function(frame: Frame) -> str:
    """Infer the phase of the run from the name of a function; empty if it shows none."""
    if frame.function in _MOVES and frame.file.endswith(_MODULE):
        return "loading"
    if _OPTIMIZER.search(frame.file.replace("\\", "/")):
        return "training"
    name = _split_name(frame)
    return next((phase for phase, names in _PHASES if names.search(name)), "")


def _split_name(frame: Frame) -> str:
    """Give the words of a function's name, in lower case."""
    return _HUMP.sub("_", frame.function).lower()


def _detect_phase_by_traceback(finding: Finding, observed: Observed) -> list[Anomaly] | None:
    """Detect the phase by the frames of the traceback; None where no frame shows one."""
    frames = _find_frames(finding, observed)
    forward = next(
        (
            at
            for at, frame in enumerate(frames)
            if frame.function == "_call_impl" and frame.file.endswith(_MODULE)
        ),
        len(frames),
    )
    frame, phase = _find_phase(frames, forward)
    if frame is not None and phase in _SHAPES:
        message = quote(frame.function)
        return [Anomaly(_SHAPES[phase], message, finding.source, finding.where, finding.line)]
    if phase:
        return []
    if any(_LOSS.search(frame.function) or _TRAINS.search(frame.code) for frame in frames):
        return []
    if forward == len(frames):
        return None
    by_lines = _detect_phase_by_lines(finding, observed)
    return [one for one in by_lines if one.id == _SHAPES["evaluation"]]


def _find_phase(frames: Sequence[Frame], forward: int) -> tuple[Frame, str] | tuple[None, str]:
    """Find the innermost frame that shows a phase; within a forward pass a model's parts do not."""
    own = [
        frame
        for at, frame in enumerate(frames)
        if at <= forward or not _OF_A_MODEL.search(_split_name(frame))
    ]
    phases = ((frame, infer_phase_from_function(frame)) for frame in reversed(own))
    return next((shown for shown in phases if shown[1]), (None, ""))


def _find_frames(finding: Finding, observed: Observed) -> Sequence[Frame]:
    """Give the frames of the traceback that a finding is part of; none where it is part of none."""
    return next(
        (
            traceback.frames
            for traceback in observed.tracebacks
            if traceback.source == finding.source
            and traceback.line <= finding.line <= traceback.end_line
        ),
        (),
    )


def _detect_phase_by_lines(finding: Finding, observed: Observed) -> list[Anomaly]:
    """Detect the phase by the last line before that states one; a training record ends it."""
    before = [
        statement
        for statement in observed.facts.phases.get(finding.source, ())
        if statement.line < finding.line
    ]
    if not before or before[-1].value not in _SHAPES:
        return []
    last = before[-1]
    if observed.has_record_between(finding.source, last.line, finding.line):
        return []
    message = say("line {line}: {phase}", line=last.line, phase=last.value)
    return [Anomaly(_SHAPES[last.value], message, last.source, finding.where, last.line)]
