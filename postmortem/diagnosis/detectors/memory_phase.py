"""Determine in which phase of the run GPU memory ran out, by the frames or the last lines.

In: findings of `memory.cuda-oom.*`, tracebacks, the phases that each log tells of. Out: the
anomalies `oom-in-evaluation`, `oom-in-loading` or `oom-in-saving`; nothing where the run was
training. Not here: the arithmetic of the line (`detectors.out_of_memory`).

Of the frames the innermost one whose name tells of a phase counts: an evaluation within a training
loop is an evaluation, and loading the best weights within an evaluation is loading. What a model
calls within its own forward pass is no evaluation, whatever its name.
"""

from collections.abc import Iterable
from typing import Final

from postmortem.core.findings import Finding, Frame
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import quote, say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.out_of_memory import FAMILY

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


def _is_forward(frame: Frame) -> bool:
    """Say whether a module is called: all frames within are its forward pass."""
    return frame.function == "_call_impl" and frame.file.endswith(_MODULE)


def _detect_phase_by_traceback(finding: Finding, observed: Observed) -> list[Anomaly] | None:
    """Detect the phase by the frames of the traceback; None where no frame shows one."""
    frames = next(
        (
            traceback.frames
            for traceback in observed.tracebacks
            if traceback.source == finding.source
            and traceback.line <= finding.line <= traceback.end_line
        ),
        (),
    )
    forward = next((at for at, frame in enumerate(frames) if _is_forward(frame)), len(frames))
    for at, frame in reversed([*enumerate(frames)]):
        phase = infer_phase_from_function(frame)
        if at > forward and _OF_A_MODEL.search(_split_name(frame)):
            continue
        if phase in _SHAPES:
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
