"""Compare the series of several processes.

Find which of them went bad first, and whether they have equally much to do.

In: the series of all processes, the last lines of each source. Out: the anomalies `one-rank-first`,
`uneven-work`. Not here: collectives (`detectors.collectives`), one curve alone.

Gradients are averaged over the ranks, so what one rank spoils reaches all of them one step later. A
rate too high, or weights that are broken, show on all ranks in the same step; bad data and a bad
device show on one rank first. And since ranks take each step together, a rank with more steps than
another waits in its next collective for one that has ended.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily_with_words
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.message import Message, join_list, say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Point, Series
from postmortem.reading.prefixes import clean, has_srun_labels

_NOT_TRAINING: Final = ("eval", "val", "test")
_MOST_NAMED: Final = 64
_MOST_SHOWN: Final = 8
_OF: Final = compile_lazily_with_words(
    "step iter batch",
    r"\b(?P<word>step|iter(?:ation)?|batch)\W{0,3}(?P<done>\d{1,9}) ?/ ?(?P<total>\d{1,9})\b",
    re.IGNORECASE,
)
_PLANNED: Final = compile_lazily_with_words(
    "step iter batch",
    r"\b(?:(?P<done>\d{1,9}) of )?(?P<total>\d{1,9}) (?P<word>step|iter(?:ation)?|batch)(?:e?s)?\b"
    r"(?= per | in | done|,|;|\.?$| each| this)",
    re.IGNORECASE,
)
"""The same in words: `769 batches per epoch`, `12 of 768 batches`."""


def detect_first_nonfinite_process(observed: Observed) -> Iterable[Anomaly]:
    """Find the one process whose training loss stops being finite before that of all the others."""
    by_name: dict[str, list[Series]] = defaultdict(list)
    for series in observed.series:
        if _is_loss_of_a_process(series):
            by_name[series.name].append(series)
    for members in by_name.values():
        anomaly = _compare_processes(members)
        if anomaly is not None:
            return [anomaly]
    return []


def _is_loss_of_a_process(series: Series) -> bool:
    """Say whether it is a training loss of a process that is known."""
    return (
        "loss" in series.name
        and not series.name.startswith(_NOT_TRAINING)
        and series.where != NOWHERE
        and series.points > 0
    )


def _compare_processes(members: Sequence[Series]) -> Anomaly | None:
    """Compare one series over its processes."""
    bad = [
        (curve.first_nonfinite, curve)
        for curve in members
        if curve.first_nonfinite is not None and not math.isnan(curve.first_nonfinite.step)
    ]
    if not bad:
        return None
    (point, first), *others = sorted(bad, key=lambda pair: pair[0].step)
    is_alone = all(other.step > point.step for other, _ in others)
    if not is_alone or not any(
        _has_reached(curve, point) for curve in members if curve is not first
    ):
        return None
    message = say(
        "{rank}: {name} {value} at step {step:g}; {rest}",
        rank=first.where.describe(),
        name=first.name,
        value=point.value,
        step=point.step,
        rest=_describe_others(members, first, others),
    )
    return Anomaly("one-rank-first", message, first.source, first.where, point.line)


def _has_reached(series: Series, point: Point) -> bool:
    """Say whether a series goes on to the step of a point."""
    return series.last is not None and series.last.step >= point.step


def _format_processes(processes: Sequence[Message]) -> Message:
    """List processes; of a crowd the first ones, and how many more there are."""
    names, over = join_list([*processes[:_MOST_NAMED]]), len(processes) - _MOST_NAMED
    if over <= 0:
        return names
    return say("{names} and {over} more", names=names, over=over)


def _describe_others(
    members: Sequence[Series], first: Series, others: Sequence[tuple[Point, Series]]
) -> Message:
    """Say how the others fared."""
    steps = sorted({f"{point.step:g}" for point, _ in others}, key=float)
    names = _format_processes(
        [series.where.describe() for series in members if series is not first]
    )
    if steps:
        return say("{names}: from step {step} on", names=names, step=steps[0])
    return say("{names}: finite throughout", names=names)


class _Total(NamedTuple):
    """How many steps a process counts to, and where it says so."""

    steps: int
    source: int
    line: int


def detect_uneven_step_counts(observed: Observed) -> Iterable[Anomaly]:
    """Find processes that count to different numbers of steps."""
    for word, totals in _read_step_totals(observed).items():
        if len({total.steps for total in totals.values()}) > 1:
            ordered = sorted(totals.items(), key=lambda entry: entry[1].steps)
            counts = [
                say(
                    "{total} on {rank}",
                    total=total.steps,
                    rank=where.describe(),
                )
                for where, total in ordered[:_MOST_SHOWN]
            ]
            message = say(
                "{word} counts to {counts}",
                word=word,
                counts=join_list(counts),
            )
            where, most = max(totals.items(), key=lambda entry: entry[1].steps)
            return [Anomaly("uneven-work", message, most.source, where, most.line)]
    return []


def _read_step_totals(observed: Observed) -> Mapping[str, Mapping[ProcessId, _Total]]:
    """Read off the last lines of each source to how many steps, or batches, each process counts."""
    totals: dict[str, dict[ProcessId, _Total]] = defaultdict(dict)
    for source, own in observed.processes.items():
        begin, text = observed.tails[source]
        srun = has_srun_labels(text)
        for number, raw in enumerate(text.split("\n"), begin):
            if (match := _OF.search(raw) or _PLANNED.search(raw)) is None:
                continue
            where = clean(raw, srun=srun).where.filled(own)
            if where != NOWHERE:
                totals[match["word"].lower()][where] = _Total(int(match["total"]), source, number)
    return totals
