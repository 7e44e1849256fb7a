"""Collect what happened in a run: entries of its timeline, places at which curves are marked.

In: the extract, the case, the first failure. Out: `Entry`s with their weights, in no order: metric
records, checkpoints, evaluations, what the curves do, what was recognised, the failure, the ends;
`Marks` in the order of source and kind: skipped steps, checkpoints, evaluations, resumption, the
crash. Not here: the order of the timeline, and what is left out where there is too much
(`story.timeline`), drawing (`page.panel_layout`).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.answer import Event, FirstFailure, Marks, Progress
from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.log_text import compile_lazily, normalise_step
from postmortem.core.message import NOTHING, Message, add_label, cut, quote, say
from postmortem.diagnosis.case.values import Case
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts import fact_store
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
_EVALUATION: Final = say("evaluation: eval_loss {value:.4g}")
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
    yield from _iter_record_entries(case.extract, main)
    yield from _iter_checkpoint_entries(case.extract, done)
    yield from _iter_evaluation_entries(case.extract)
    yield from _iter_curve_entries(case, failure)
    yield from _iter_signature_entries(case, titles)
    if failure is not None:
        yield _build_failure_entry(case.extract, failure)


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
    listed = fact_store.list_in_save_order(extract.facts.checkpoints)
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
                _EVALUATION.fill(value=point.value),
                where=series.where,
                step=None if series.interleaved else normalise_step(point.step),
            )
            yield Entry(_ASIDE + 1, event)


def _iter_curve_entries(case: Case, failure: FirstFailure[Message] | None) -> Iterator[Entry]:
    """What the curves do, except where it is the failure itself."""
    failing_place = (failure.source, failure.line) if failure is not None else None
    for anomaly in case.anomalies.values():
        known = case.anomaly_types[anomaly.id]
        if known.is_turn and failing_place != (anomaly.source, anomaly.line):
            event = _build_event(
                anomaly.source,
                anomaly.line,
                anomaly.message.cut(_MOST_TEXT),
                role="warning",
                where=anomaly.where,
                step=normalise_step(case.extract.step_at(anomaly.source, anomaly.line)),
            )
            yield Entry(_BAD if known.is_grave else _WARNING, event)


def _iter_signature_entries(case: Case, titles: Callable[[str], Message]) -> Iterator[Entry]:
    """Each signature once a source, with how often it came."""
    shown: set[tuple[str, int]] = set()
    counts = _count_signatures(case.extract)
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
            step=normalise_step(case.extract.step_at(finding.source, finding.line)),
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


MOST: Final = 120
"""Places that are kept of one kind in one process."""
_RESUMED: Final = "numerics.context.resumed"
_OVERFLOW: Final = "numerics.loss-scale.deepspeed-overflow"
_SKIPPED: Final = "skipped_iterations"
_EVALUATION_NAMES: Final = ("eval_", "val_", "valid_", "validation_")
_Place = tuple[int, float | None]


def list_marks(
    case: Case, extract: Extract, failure: FirstFailure[Message] | None, *, is_sound: bool = False
) -> tuple[Marks, ...]:
    """List the places to mark, at most MOST of a kind and process; a sound run has no crash."""
    found: dict[tuple[str, int, ProcessId], dict[int, float | None]] = {}
    for series in extract.copies.leading(extract.series):
        kind, places = _list_series_marks(series, extract)
        if places:
            found.setdefault((kind, series.source, series.where), {}).update(places)
    for source, line, step in _iter_saves(extract):
        found.setdefault(("checkpoint", source, NOWHERE), {})[line] = step
    for event in case.signatures(_RESUMED):
        found.setdefault(("resumed", event.finding.source, event.finding.where), {})[
            event.finding.line
        ] = None
    for source, where, line in () if is_sound else _iter_crashes(case, extract, failure):
        found[("crash", source, where)] = {line: None}
    rows = (
        Marks(kind, source, where, len(places), _choose(places))
        for (kind, source, where), places in found.items()
    )
    return tuple(sorted(rows, key=lambda row: (row.source, row.kind, str(row.where))))


def sample_evenly(places: Sequence[_Place], most: int = MOST) -> tuple[_Place, ...]:
    """Choose at most `most` places, the first and the last among them, spread evenly."""
    if len(places) <= most:
        return tuple(places)
    return tuple(places[round(index * (len(places) - 1) / (most - 1))] for index in range(most))


def _choose(places: Mapping[int, float | None]) -> tuple[_Place, ...]:
    """Choose the places of a kind that are shown, with their steps as they are counted."""
    chosen = sample_evenly(sorted(places.items()))
    return tuple((line, normalise_step(step)) for line, step in chosen)


def _list_series_marks(series: Series, extract: Extract) -> tuple[str, list[_Place]]:
    """Give what a series marks on the curves of its process.

    Steps that the loss scaler skipped, evaluations.
    """
    if series.name.startswith(_EVALUATION_NAMES):
        return "evaluation", list(zip(series.lines, series.steps, strict=True))
    return "overflow", list(_iter_overflows(series, extract))


def _iter_overflows(series: Series, extract: Extract) -> Iterator[_Place]:
    """Yield the steps that were skipped, by the scale, a flag a step, or a count of them."""
    if series.name == names.LOSS_SCALE:
        yield from _iter_scale_drops(
            series,
            all_events=any(
                name == _OVERFLOW and where == series.source for name, where, _ in extract.findings
            ),
        )
    elif series.name == _SKIPPED:
        yield from ((line, step) for step, value, line in series.kept() if value > 0)
    elif series.name == names.SKIPPED_STEPS and not _has_scale(series.source, extract):
        for before, point in pairwise(series.kept()):
            if point.value > before.value:
                yield point.line, point.step


def _has_scale(source: int, extract: Extract) -> bool:
    return any(
        series.name == names.LOSS_SCALE and series.source == source
        for series in extract.series.values()
    )


def _iter_scale_drops(series: Series, *, all_events: bool) -> Iterator[_Place]:
    """Yield where the loss scale falls.

    One that is printed without a step is printed because a step was skipped: also if it stays, or
    has grown unseen in between.
    """
    before = math.nan
    for step, value, line in series.kept():
        is_event = math.isnan(step)
        if value < before or (is_event and (all_events or value == before or math.isnan(before))):
            yield line, step
        before = value


def _iter_saves(extract: Extract) -> Iterator[tuple[int, int, float | None]]:
    """Yield each saving of a checkpoint.

    A name with a step counts once: named again it is listed, or loaded.
    """
    known: set[tuple[int, str]] = set()
    for fact in extract.facts.checkpoints:
        step = fact_store.parse_step(fact.value)
        if step is not None and (fact.source, fact.value) in known:
            continue
        known.add((fact.source, fact.value))
        yield fact.source, fact.line, normalise_step(step)


def _iter_crashes(
    case: Case, extract: Extract, failure: FirstFailure[Message] | None
) -> Iterator[tuple[int, ProcessId, int]]:
    """Yield the first fatal line behind the last record of a source.

    Unless that is the first failure itself.
    """
    fatal: dict[int, tuple[int, ProcessId]] = {}
    for source, where, line in _iter_fatal_lines(case):
        record = extract.last_record.get(source)
        if (
            record is not None
            and line >= record[0]
            and line < fatal.get(source, (math.inf, NOWHERE))[0]
        ):
            fatal[source] = (line, where)
    for source, (line, where) in fatal.items():
        if failure is None or (failure.source, failure.line) != (source, line):
            yield source, where, line


def _iter_fatal_lines(case: Case) -> Iterable[tuple[int, ProcessId, int]]:
    if case.outcome not in {"failed", "stalled"}:
        return
    for event in case.events:
        if event.is_fatal and event.role in {"cause", "consequence"}:
            yield event.finding.source, event.finding.where, event.finding.line
    for traceback in case.tracebacks:
        yield traceback.source, traceback.where, traceback.exception_line
