"""Choose the places at which the curves of a run are marked.

Skipped steps, checkpoints, evaluations, resumption, the crash.

In: the extract, the case. Out: `Marks` in the order of source and kind. Not here: the first
failure and the attempts, which the diagnosis has by itself; drawing (`page.panel_layout`).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from postmortem.core import names
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.message import Message
from postmortem.core.shown import FirstFailure, Marks
from postmortem.diagnosis.case.values import Case
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts import checkpoints
from postmortem.extraction.facts.number_texts import normalise_step
from postmortem.extraction.facts.series import Series

MOST: Final = 120
"""Places that are kept of one kind in one process."""
_RESUMED: Final = "numerics.context.resumed"
_OVERFLOW: Final = "numerics.loss-scale.deepspeed-overflow"
_SKIPPED: Final = "skipped_iterations"
_EVALUATED: Final = ("eval_", "val_", "valid_", "validation_")
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
    if series.name.startswith(_EVALUATED):
        return "evaluation", list(zip(series.lines, series.steps, strict=True))
    return "overflow", list(_iter_overflows(series, extract))


def _iter_overflows(series: Series, extract: Extract) -> Iterator[_Place]:
    """Yield the steps that were skipped, by the scale, a flag a step, or a count of them."""
    if series.name == names.LOSS_SCALE:
        yield from _iter_scale_drops(series, all_events=_has_overflow_lines(series.source, extract))
    elif series.name == _SKIPPED:
        yield from ((line, step) for step, value, line in series.kept() if value > 0)
    elif series.name == names.SKIPPED_STEPS and not _has_scale(series.source, extract):
        for before, point in pairwise(series.kept()):
            if point.value > before.value:
                yield point.line, point.step


def _has_overflow_lines(source: int, extract: Extract) -> bool:
    """Say whether a source prints a line for each overflow."""
    return any(name == _OVERFLOW and where == source for name, where, _ in extract.findings)


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
        step = checkpoints.parse_step(fact.value)
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
