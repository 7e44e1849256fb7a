"""Collect what happened in a run, one entry for each event, in no order.

Metric records, checkpoints, evaluations, what the curves do, what was recognised, the failure, the
ends.

In: the case, the first failure. Out: `Entry`s with their weights. Not here: the order, and what is
left out where there is too much (`story.timeline`).
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.message import NOTHING, Message, add_label, cut, quote, say
from postmortem.core.shown import Event, FirstFailure, Progress
from postmortem.diagnosis.case.values import Case
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts import checkpoints
from postmortem.extraction.facts.number_texts import normalise_step
from postmortem.extraction.facts.series import Series

_MOST_TEXT: Final = 400
SAME_TEXT: Final = 100
"""Characters in which two entries of one line agree if they tell the same."""
_MOST_CHECKPOINTS: Final = 6
_FAILURE, _BAD, EVIDENCE, _SAFE, _FRAME, _FATAL, _FOLLOWING, _WARNING, _ASIDE = (
    9, 8, 8, 7, 6, 6, 5, 4, 2,
)  # fmt: skip
"""What is kept where there is too much: the failure first, notes aside last."""
_NUMBER: Final = compile_lazily(r"\d+")
_FIRST: Final = say("first metric record")
_LAST: Final = say("last metric record")
_FAILED: Final = say("first failure")
_END: Final = say("end of the log")
_SAVED: Final = say("checkpoint saved: {value}")
_EVALUATED: Final = say("evaluation: eval_loss {value:.4g}")
_TIMES: Final = say("{text} ({count} times, to line {line})")
_ENDED_BY: Final = (
    ("env.signal", say("signal {value}")),
    ("env.exit_status", say("exit status {value}")),
)
_WEIGHTS: Final = {"cause": _FATAL, "consequence": _FOLLOWING, "warning": _WARNING}
_LIFECYCLE: Final = compile_lazily(r"^healthy\.|(?:^|\.)context\.")
"""Of the notes aside, starts, resumptions and ends."""


class Entry(NamedTuple):
    """An event that may be shown."""

    weight: int
    event: Event[Message]
    same: str = ""
    """What entries of several processes agree in if they are told as one; empty for none."""
    is_quote: bool = False
    """True if it quotes a line: of one line only the weightiest is told."""


def iter_entries(
    case: Case,
    failure: FirstFailure[Message] | None,
    done: Progress,
    titles: Callable[[str], Message],
    main: int | None,
) -> Iterator[Entry]:
    """Yield what happened, but for the ends; `main` is the source that the report is about."""
    yield from _iter_record_entries(case.gathered, main)
    yield from _iter_checkpoint_entries(case.gathered, done)
    yield from _iter_evaluation_entries(case.gathered)
    yield from _iter_curve_entries(case, failure)
    yield from _iter_signature_entries(case, titles)
    if failure is not None:
        yield _build_failure_entry(case.gathered, failure)


def _build_event(
    source: int,
    line: int,
    text: Message,
    *,
    role: str = "context",
    where: ProcessId = NOWHERE,
    time: str | None = None,
    step: float | None = None,
    title: Message = NOTHING,
) -> Event[Message]:
    return Event(source, where, line, time, step, role, text, title)


def _build_failure_entry(extract: Extract, failure: FirstFailure[Message]) -> Entry:
    event = _build_event(
        failure.source,
        failure.line,
        add_label(_FAILED, failure.why),
        role="cause",
        where=failure.where,
        time=failure.time,
        step=extract.step_at(failure.source, failure.line),
        title=_FAILED,
    )
    return Entry(_FAILURE, event, is_quote=True)


def _iter_record_entries(extract: Extract, main: int | None) -> Iterator[Entry]:
    """The first metric record of each source, and the last one."""
    mirrored = {source for source, _ in extract.copies.mirrored}
    for source, (first, _) in extract.first_record.items():
        if source in mirrored:
            continue
        weight = _FRAME if source == main else _ASIDE
        last = extract.last_record[source][0]
        for line, text, same in ((first, _FIRST, "first"), (last, _LAST, "last")):
            if same == "first" or last != first:
                step = normalise_step(extract.step_at(source, line))
                yield Entry(weight, _build_event(source, line, text, step=step), same)


def _iter_checkpoint_entries(extract: Extract, done: Progress) -> Iterator[Entry]:
    """The first checkpoints, the last ones, and the one to go back to."""
    listed = checkpoints.list_in_save_order(extract.facts.checkpoints)
    half = _MOST_CHECKPOINTS // 2
    chosen = [*listed[:half], *listed[max(half, len(listed) - half) :]]
    chosen += [saved for saved in listed if saved.value == done.resume_from and saved not in chosen]
    for value, place in chosen:
        text = _SAVED.fill(value=value).cut(_MOST_TEXT)
        event = _build_event(
            place.source, place.line, text, time=place.time, step=normalise_step(place.step)
        )
        yield Entry(_SAFE if value == done.resume_from else _ASIDE, event)


def _iter_evaluation_entries(extract: Extract) -> Iterator[Entry]:
    """The first, the best, the last evaluation, and the first whose loss is not finite."""
    for series in extract.copies.leading(extract.series):
        if series.name != names.EVAL_LOSS or series.first is None or series.last is None:
            continue
        best = min(
            (point for point in series.samples() if point.value == series.min),
            default=None,
            key=lambda point: point.line,
        )
        notable = (series.first, best, series.first_nonfinite, series.last)
        for point in {point.line: point for point in notable if point is not None}.values():
            event = _build_event(
                series.source,
                point.line,
                _EVALUATED.fill(value=point.value),
                where=series.where,
                step=_get_step(series, point.step),
            )
            yield Entry(_ASIDE + 1, event)


def _get_step(series: Series, step: float) -> float | None:
    return None if series.interleaved else normalise_step(step)


def _iter_curve_entries(case: Case, failure: FirstFailure[Message] | None) -> Iterator[Entry]:
    """What the curves do, except where it is the failure itself."""
    failing_place = (failure.source, failure.line) if failure is not None else None
    for anomaly in case.shapes.values():
        known = case.anomaly_types[anomaly.id]
        if known.is_turn and failing_place != (anomaly.source, anomaly.line):
            event = _build_event(
                anomaly.source,
                anomaly.line,
                anomaly.message.cut(_MOST_TEXT),
                role="warning",
                where=anomaly.where,
                step=normalise_step(case.gathered.step_at(anomaly.source, anomaly.line)),
            )
            yield Entry(_BAD if known.is_grave else _WARNING, event)


def _iter_signature_entries(case: Case, titles: Callable[[str], Message]) -> Iterator[Entry]:
    """Each signature once a source, with how often it came."""
    shown: set[tuple[str, int]] = set()
    counts = _count_signatures(case.gathered)
    for event in case.events:
        finding = event.finding
        key = (finding.signature, finding.source)
        is_aside = finding.role == "harmless" or (
            finding.role == "context" and not _LIFECYCLE.search(finding.signature)
        )
        if is_aside or key in shown:
            continue
        shown.add(key)
        line = finding.text.splitlines()[0]
        text = quote(cut(line, _MOST_TEXT))
        count, last = counts.get(key, (1, 0))
        if count > 1:
            text = _TIMES.fill(text=text, count=count, line=last)
        folded = _build_event(
            finding.source,
            finding.line,
            text,
            role=event.role,
            where=finding.where,
            time=finding.time,
            step=normalise_step(case.gathered.step_at(finding.source, finding.line)),
            title=NOTHING if event.role == "context" else titles(finding.signature),
        )
        same = f"{finding.signature} {_NUMBER.sub('#', line)[:SAME_TEXT]}"
        yield Entry(_WEIGHTS.get(event.role, _FRAME), folded, same, is_quote=True)


def _count_signatures(extract: Extract) -> dict[tuple[str, int], tuple[int, int]]:
    """Count each signature in each source, and name its last line there."""
    counts: dict[tuple[str, int], tuple[int, int]] = {}
    for (signature, source, _), kept in extract.findings.items():
        count, last = counts.get((signature, source), (0, 0))
        counts[signature, source] = (count + kept.count, max(last, kept.last_line))
    return counts


def iter_end_entries(extract: Extract, main: int | None) -> Iterator[Entry]:
    """How the processes ended, as far as a line says so, and where the log ends."""
    if main is None:
        return
    for name, message in _ENDED_BY:
        fact = extract.facts.facts.get(name)
        if fact is not None:
            # What the caller tells is printed nowhere: it stands at the end.
            end = (main, extract.lines.get(main, 1))
            source, line = (fact.source, fact.line) if fact.line else end
            text = message.fill(value=fact.value)
            yield Entry(
                _FRAME, _build_event(source, line, text, role="consequence", time=fact.time)
            )
    if extract.lines.get(main):
        yield Entry(_FRAME, _build_event(main, extract.lines[main], _END))
