"""Determine how a run ended, and in which frameworks it ran.

In: the extract, findings, tracebacks, failures and anomalies of the last attempt. Out: the outcome,
the frameworks; by source, the line at which a process states that its run is complete; the anomaly
`last-epoch` of an attempt that is through with the last epoch that its log plans. Not here: what
failed first (`case.order`), how far the attempt came (`case.printed_progress`), steps and plans
that no number states (`detectors.ending`, `detectors.planned_end`).

Words of an exit handler are no end: behind them stand an exit status, a launcher's failure or
another exception, or the last record is far from the last epoch that was planned.

An epoch is through once each curve has as many points in it as in the epoch before. A curve whose
points are rarer than the epochs tells nothing. The last epoch is the one that is planned, or, of a
log that holds several attempts, the one at which another of them ends.
"""

import bisect
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.findings import NOWHERE, Traceback
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, say
from postmortem.diagnosis.case.failures import SURVIVED_RECORDS, Failure
from postmortem.diagnosis.case.printed_progress import (
    PrintedProgress,
    iter_epoch_lines,
    read_progress,
)
from postmortem.diagnosis.detectors.ending import PART, is_cut_short
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.diagnosis.detectors.waiting_ranks import WAITING
from postmortem.extraction.extract import Extract, Sighting, count_records_after
from postmortem.extraction.facts.fact_store import STATED_BY_CALLER, FactStore
from postmortem.extraction.facts.series import Series
from postmortem.extraction.trailing_context import is_handled
from postmortem.rules.base import Signature
from postmortem.rules.vocabulary import StackRules, Trait, has_trait


def find_completion_notices(
    seen: Sequence[Sighting],
    tracebacks: Iterable[Traceback],
    rules: Mapping[str, Signature],
    observed: Observed,
    closing: Anomaly | None,
) -> dict[int, int]:
    """Name the line at which each source says that the run is through, where that can be trusted.

    Args:
        seen: the findings.
        tracebacks: the exceptions.
        rules: signatures by id.
        observed: the ends of the sources, their last records.
        closing: words with which the run closes, if there are any.
    """
    ends = {} if closing is None else {closing.source: closing.line}
    for sighting in seen:
        finding = sighting.finding
        if has_trait(finding.signature, Trait.SOUND):
            ends[finding.source] = max(ends.get(finding.source, 0), finding.line)
    last = {traceback.source: traceback.line for traceback in tracebacks if not traceback.aside}
    for sighting in seen:
        if _is_contradicting(sighting, rules):
            last[sighting.finding.source] = max(
                last.get(sighting.finding.source, 0), sighting.finding.line
            )
    return {
        source: line
        for source, line in ends.items()
        if line > last.get(source, 0)
        and line >= observed.last_records.get(source, 0)
        and not is_cut_short(observed, source)
    }


def _is_contradicting(sighting: Sighting, rules: Mapping[str, Signature]) -> bool:
    """Say whether a line reports a failure that was not handled."""
    finding = sighting.finding
    is_fatal = finding.role == "cause" and rules[finding.signature].fatal
    is_failure = is_fatal or finding.role == "consequence"
    return is_failure and not is_handled(finding.text, finding.level)


_FEWEST: Final = 3
"""Epochs, and records, that are needed."""
_ROW: Final = 2000
"""Characters of the line of a record, from its end, that may hold a count."""


def find_reached_plan(extract: Extract, ends: Collection[float] = ()) -> dict[str, Anomaly]:
    """Find the last record of the last epoch, if it was reached and is through.

    Args:
        extract: of the attempt.
        ends: the last epochs of the other attempts of the same log.
    """
    curves = [curve for curve in extract.series.values() if curve.last is not None]
    if max((len(curve.lines) for curve in curves), default=0) < _FEWEST:
        return {}
    begins = sorted(dict(_iter_begins(extract, curves)).items())
    is_through = len(begins) >= _FEWEST and _is_last_through(curves, begins)
    last = max(curves, key=lambda curve: curve.lines[-1])
    if not (is_through or _is_count_full(extract)):
        return {}
    whole = {end for end in ends if float(end).is_integer()}  # a part of an epoch is no plan
    progress = read_progress(extract, extract.facts.settings())
    epochs = [epoch for epoch, _ in begins]
    message = _describe_end(progress, epochs, whole, is_through=is_through)
    if message is None:
        return {}
    return {"last-epoch": Anomaly("last-epoch", message, last.source, NOWHERE, last.lines[-1])}


def _describe_end(
    progress: PrintedProgress, epochs: Sequence[float], whole: Container[float], *, is_through: bool
) -> Message | None:
    """Word the plan that the last record has reached; None where it has reached none.

    Args:
        progress: as it is printed.
        epochs: those that the records stand in.
        whole: the last epochs of the other attempts.
        is_through: whether the last epoch has as many records as the one before.
    """
    if _is_last_step(progress) or (is_through and _is_at_end(progress, epochs)):
        return say(
            "the last record is of epoch {epoch:g} of {planned:g}, which is through",
            epoch=progress.epoch,
            planned=progress.planned_epochs,
        )
    if is_through and progress.planned_epochs is None and epochs[-1] in whole:
        return say(
            "the last record is of epoch {epoch:g}, at which another attempt ended as well",
            epoch=epochs[-1],
        )
    return None


def _is_count_full(extract: Extract) -> bool:
    """Say whether a count such as `500/500` is full on the last record of each source."""
    for source, (line, _) in extract.last_record.items():
        first, text = extract.tails.get(source, (1, ""))
        rows = text.split("\n")[line - first :][:1] if line >= first else []
        if not any(
            part["now"] == part["of"] for row in rows for part in PART.finditer(row[-_ROW:])
        ):
            return False
    return bool(extract.last_record)


def _is_last_step(progress: PrintedProgress) -> bool:
    """Say whether the last step of the last epoch was reached, both of a printed plan."""
    step, steps, epoch, epochs = progress
    return None not in progress and step == steps and epoch == epochs


def _is_last_through(curves: Sequence[Series], begins: Sequence[tuple[float, int]]) -> bool:
    """Say whether the last epoch is as long as the one before; each comes with its first line."""
    (_, before), (_, last) = begins[-2:]
    return all(
        curve.count_within(before, last - 1) <= curve.count_within(last, max(last, curve.lines[-1]))
        for curve in curves
    )


def _is_at_end(progress: PrintedProgress, epochs: Sequence[float]) -> bool:
    """Say whether the last of the epochs that were begun is the last that was planned."""
    if progress.epoch is None or progress.planned_epochs is None:
        return False
    left = progress.planned_epochs - progress.epoch
    return left <= (epochs[0] == 0) and epochs[-1] == progress.epoch


def _iter_begins(extract: Extract, curves: Sequence[Series]) -> Iterator[tuple[float, int]]:
    """Yield each epoch and its first line, which comes last."""
    for curve in curves:
        if curve.name == names.EPOCH:
            yield from reversed([*zip(curve.values, curve.lines, strict=True)])
            return
    yield from sorted(iter_epoch_lines(extract), key=lambda found: -found[1])


_ENDS: Final = frozenset(
    {"last-step", "last-epoch", "planned-end", "closing-words", "closing-results"}
)
"""Shapes of a run that is through though no line of known wording says so."""
_OPEN: Final = frozenset({"trouble-at-end", "shell-prompt"})
"""Shapes of a run that has ended in a way that nothing tells."""
_STANDS_STILL: Final = "hang.stands-still."
_STILL: Final = frozenset(
    {"same-step", "stood-still", "stood-still-at-start", "stacks-dumped", *WAITING}
)
_MOVING: Final = frozenset({"slow-down", "log-goes-on"})
"""Shapes of a run whose steps still come: it is slow, or was, whatever it is called."""
_DUMPED: Final = "hang.faulthandler"
_WORKS: Final = frozenset({"lines-count", "closing-words"})
"""Anomalies that show work in a log without metric records."""
_HANDLED: Final = "handled-error"
"""Shape of a program that goes on behind an error that it has caught."""
_NO_OUTPUT: Final = frozenset({"environment", "ignored"})
"""Kinds of sources that no run has printed."""
_TORCH: Final = compile_lazily(
    r"(?i:pytorch)|(?<![\w.-])torch==|(?<![A-Za-z.-])torch(?:\.[a-z]|/(?:nn|utils|cuda|distributed"
    r"|optim|autograd|_\w|jit|fx|amp|functional|serialization|multiprocessing|backends|storage)\b)"
)
"""Names PyTorch, not the Torch of Lua."""
NO_LOG: Final = "not-a-training-log"


def name_outcome(outcome: str, cause: str | None) -> str:
    """Name how a run ended for people: what failed because it was stopped was cancelled."""
    is_stopped = outcome == "failed" and has_trait(cause, Trait.CANCELS_THE_RUN)
    return "cancelled" if is_stopped else outcome


def get_framework_versions(extract: Extract, stacks: StackRules) -> dict[str, str | None]:
    """Name the stacks that were recognised, with versions.

    Those that stand on others come first, then the most talkative.
    """
    facts = extract.facts
    counts = dict(facts.framework_lines)
    for key in facts.facts:
        if key.startswith("framework."):
            counts.setdefault(key.removeprefix("framework."), 1)
    assumed = counts.pop(names.ASSUMED_LOOP, 0)
    if assumed:
        counts[names.PLAIN_LOOP] = counts.get(names.PLAIN_LOOP, 0) + assumed

    def order(name: str) -> tuple[int, int, str]:
        return -len(stacks.list_below(name)), -counts[name], name

    return {
        name: _find_framework_version(name, facts, stacks) for name in sorted(counts, key=order)
    }


def count_framework_lines(name: str, extract: Extract) -> int:
    """Count the lines that show a stack: its own, and for plain PyTorch any that name torch."""
    own = extract.facts.framework_lines.get(name, 0)
    if own or name != names.PLAIN_LOOP:
        return own
    texts = (
        line for sample in extract.samples.values() for _, line in (*sample.telling, *sample.last)
    )
    lines = sum(bool(_TORCH.search(line)) for line in texts)
    lines += sum(
        any(_TORCH.search(frame.file) for frame in found.frames) for found, _ in extract.tracebacks
    )
    lines += sum(bool(_TORCH.search(seen.finding.text)) for seen in extract.seen())
    return lines + bool(extract.facts.get("package.torch"))


def _find_framework_version(name: str, facts: FactStore, stacks: StackRules) -> str | None:
    packages = [*stacks.get(name).packages, name]
    keys = [f"framework.{name}", *(f"package.{package}" for package in packages)]
    return next((value for key in keys if (value := facts.get(key))), None)


def infer_outcome(
    extract: Extract,
    seen: Sequence[Sighting],
    failures: Sequence[Failure],
    known: Mapping[str, Anomaly],
) -> str:
    """Infer how the run ended.

    Failed, completed, stalled, running, incomplete, or that this is no training log.
    """
    if _has_failure_status(extract):
        return "failed"
    successes = [found for found in seen if _is_end(found, extract)]
    if successes and not any(_find_real_failures(failures, successes)):
        return "completed"
    if failures or _is_ended(extract, seen, known):
        return "failed"
    if known.keys() & _STILL or any(_is_stalled(found, extract, known) for found in seen):
        return "stalled"
    return _infer_outcome_without_end(extract, seen, known)


def _is_end(found: Sighting, extract: Extract) -> bool:
    """Say whether this is the marker of an end, behind which nothing is trained."""
    return has_trait(found.finding.signature, Trait.SOUND) and not _is_training_continued(
        found, extract
    )


def _is_ended(extract: Extract, seen: Iterable[Sighting], known: Mapping[str, Anomaly]) -> bool:
    """Say whether a consequence ends the log; what peers print behind a run's end is noise."""
    ends = [found for found in seen if _is_final_consequence(found, extract)]
    is_through = bool(_ENDS.intersection(known))
    return any(
        not (is_through and has_trait(sighting.finding.signature, Trait.AMONG_PROCESSES))
        for sighting in ends
    )


def _infer_outcome_without_end(
    extract: Extract, seen: Sequence[Sighting], known: Mapping[str, Anomaly]
) -> str:
    """Infer the outcome where nothing reports an end."""
    if "traceback-cut" in known:
        return "failed"
    if _is_working(extract, seen, known):
        if _ENDS.intersection(known):
            return "completed"
        return "unknown" if known.keys() & _OPEN else "running"
    if _has_troubles(seen):
        return "unknown"
    facts = extract.facts
    is_begun = (seen or facts.facts or facts.phases) and not is_without_log(extract)
    return "incomplete" if is_begun or "waits-at-start" in known else NO_LOG


def _is_working(extract: Extract, seen: Sequence[Sighting], known: Mapping[str, Anomaly]) -> bool:
    """Say whether a log shows work: records, lines that count, output behind an error it caught."""
    is_counting = bool(_WORKS.intersection(known)) and not _has_troubles(seen)
    return any(extract.records.values()) or is_counting or _HANDLED in known


def is_without_log(extract: Extract) -> bool:
    """Say whether the input holds only reports on a state, and no log of a run."""
    return all(source.kind in _NO_OUTPUT for source in extract.sources)


def _has_troubles(seen: Iterable[Sighting]) -> bool:
    """Say whether anything was found that no sound run prints."""
    return any(found.finding.role in {"cause", "consequence", "warning"} for found in seen)


def _find_real_failures(
    failures: Iterable[Failure], successes: Sequence[Sighting]
) -> Iterator[Failure]:
    """Yield the failures that an end marker does not explain.

    What a distributed run prints while it is taken down after its end is noise; any other failure
    behind the marker is one.
    """
    last = max((found.finding.source, found.finding.offset) for found in successes)
    for failure in failures:
        is_before = (failure.source, failure.offset) < last
        is_echo = failure.finding and has_trait(failure.finding.signature, Trait.ECHO_OF_A_FAILURE)
        if is_before or failure.traceback or not is_echo:
            yield failure


def _is_training_continued(found: Sighting, extract: Extract) -> bool:
    """Say whether training goes on behind an end marker: it was the end of a part, of a fold.

    A list of what has been goes on with nothing.
    """
    return any(
        series.name == names.LOSS
        and series.producer != names.IN_LISTS
        and series.source == found.finding.source
        and len(series.lines) - bisect.bisect_right(series.lines, found.finding.line)
        >= SURVIVED_RECORDS
        for series in extract.series.values()
    )


def _is_final_consequence(found: Sighting, extract: Extract) -> bool:
    return found.finding.role == "consequence" and _is_last(found, extract)


def _is_stalled(found: Sighting, extract: Extract, known: Mapping[str, Anomaly]) -> bool:
    """Say whether the run is reported to stand still and its metrics do not contradict it."""
    signature = found.finding.signature
    if signature.startswith(_STANDS_STILL):
        return not _MOVING.intersection(known)
    return signature == _DUMPED and _is_last(found, extract)


def _has_failure_status(extract: Extract) -> bool:
    """Say whether the caller stated an exit status that is a failure."""
    exit_facts = {
        name: fact
        for name in ("exit_status", "signal")
        if (fact := extract.facts.facts.get(f"env.{name}")) and fact.strength >= STATED_BY_CALLER
    }
    return "signal" in exit_facts or (
        "exit_status" in exit_facts and exit_facts["exit_status"].value != "0"
    )


def _is_last(found: Sighting, extract: Extract) -> bool:
    return count_records_after(extract, found.finding, found.records_before) < SURVIVED_RECORDS
