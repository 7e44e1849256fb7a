"""How far the run came, and where it stood best.

In: the extract, the case, the first failure, the raw lines around it, what names of metrics mean.
Out: `Progress`: the last good step, the checkpoint to go back to, the time lost behind the first
failure; printed clocks around the failure; `BestRecord`, which tells the checkpoint to keep. Not
here: sentences about it (`report.about_run`), names of checkpoints, which were saved
(`facts.fact_store`), clocks (`facts.clock`), whether the run overfits (`detectors.validation`).

What the run itself keeps the best value of goes first, then the loss of the validation, which
trainers choose a checkpoint by unless told otherwise, then its scores; where none is printed, a
score or reward of the run stands for them.
"""

import bisect
import math
import operator
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from postmortem.core import names
from postmortem.core.answer import BestRecord, Excerpt, FirstFailure, Progress
from postmortem.core.log_text import compile_lazily, normalise_step
from postmortem.core.message import Message
from postmortem.diagnosis.case.attempts import COMMAND, START
from postmortem.diagnosis.case.printed_progress import is_within_epochs, read_progress
from postmortem.diagnosis.case.values import Case
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts import clock, fact_store
from postmortem.extraction.facts.series import Point, Series
from postmortem.reading.prefixes import convert_to_seconds, get_time_basis
from postmortem.rules.vocabulary import MetricClass, MetricTable, Trait, has_trait

_HIGHER: Final = "higher"
_LOSSES: Final = ("loss", "value-error")
_PASSED: Final = ("aside", "machine", "throughput", "step-time", "policy-change", "coefficient")
_BEST: Final = compile_lazily(r"(?i)best|so_far|^(?:new|current)|[\W_]")
_OF_VALIDATION: Final = compile_lazily(
    r"(?i)(?:^|(?<=[\W_]))(?:val|valid|validation|eval|dev|test)(?=[\W_])"
)
"""What the name of a best value, and that of a metric, has besides what is measured."""
_PARTIAL: Final = ("retrieval", "top-accuracy")
"""What one side of is seen, as the precision, goes behind what tells the whole."""
_LOOKED_AT: Final = 100
"""Points of a score by which it is told whether it stands on the lines of the training."""


def find_best_record(extract: Extract, metrics: MetricTable) -> BestRecord | None:
    """Find the best value of the metric by which the checkpoints of an attempt are judged."""
    every = extract.copies.leading(extract.series)
    ranked = sorted(_iter_judging(every, metrics), key=lambda entry: entry[0])
    if not ranked:
        return None
    _, series, better = ranked[0]
    points = [point for point in series.kept() if math.isfinite(point.value)]
    choose = max if better == _HIGHER else min
    best = choose(points, key=lambda point: point.value)
    return BestRecord(
        name=series.name,
        value=best.value,
        step=None if is_within_epochs(series) else normalise_step(best.step),
        epoch=_find_epoch(every, series, best),
        source=series.source,
        line=best.line,
        better=better,
        last=points[-1].value,
    )


def _iter_judging(
    every: Sequence[Series], metrics: MetricTable
) -> Iterator[tuple[tuple[float, ...], Series, str]]:
    """Yield the series that may judge a checkpoint, with their rank and which way is better."""
    trained = _select_series(every, names.LOSS)
    losses = _select_series(every, names.EVAL_LOSS)
    evaluated = {line for series in losses for line in series.lines}
    tracked = {_get_core(series) for series in every if "best" in series.name.lower()}
    for index, series in enumerate(every):
        is_known = series.name == names.EVAL_LOSS
        kind = _classify(series, metrics)
        if kind is None:
            continue
        is_loss = kind.id in _LOSSES
        is_named = is_known or metrics.is_any(series.name, "validation")
        is_judged = is_named or (not is_loss and _is_apart(series, trained, evaluated))
        if not is_judged and is_loss:
            continue
        is_tracked = _get_core(series) in tracked
        rank = (_is_flat(series), not is_judged, not is_tracked, not is_known, is_loss)
        yield (*rank, not is_named, *_rank(series, kind), index), series, kind.better


def _classify(series: Series, metrics: MetricTable) -> MetricClass | None:
    """Give what a series measures; None where that judges nothing."""
    is_known = series.name == names.EVAL_LOSS
    kind = metrics["loss"][0] if is_known else metrics.classify(series.name)
    return None if kind is None or not kind.better or _is_passed(series, metrics) else kind


def _get_core(series: Series) -> str:
    """Give the metric that a series is of, whether or not it keeps its best value."""
    return _BEST.sub("", _OF_VALIDATION.sub("", series.name)).lower()


def _select_series(every: Sequence[Series], name: str) -> list[Series]:
    return [series for series in every if series.name == name]


def _is_passed(series: Series, metrics: MetricTable) -> bool:
    """Say whether a series judges nothing: of the training, an aside, without a finite value."""
    is_aside = "train" in series.name.lower() or metrics.is_any(series.name, *_PASSED)
    return is_aside or not math.isfinite(series.min)


def _is_flat(series: Series) -> bool:
    return series.points > 1 and series.min == series.max


def _rank(series: Series, kind: MetricClass) -> tuple[float, ...]:
    """Rank a series by what it measures: the whole, often, and strictly."""
    strictness = series.max if math.isfinite(kind.bounds[1]) else 0
    return kind.better != _HIGHER, kind.id in _PARTIAL, -series.points, strictness


def _is_apart(series: Series, trained: Sequence[Series], evaluated: set[int]) -> bool:
    """Say whether a score stands on lines of its own, or on those of the validation loss."""
    lines = series.lines[:_LOOKED_AT]
    if evaluated.issuperset(lines):
        return True
    return bool(trained) and not any(
        _is_among(line, loss.lines) for loss in trained for line in lines
    )


def _is_among(line: int, lines: Sequence[int]) -> bool:
    place = bisect.bisect_left(lines, line)
    return place < len(lines) and lines[place] == line


def _find_epoch(every: Sequence[Series], judged: Series, best: Point) -> float | None:
    """Give the epoch that stands on the line of a point, or was the last to be printed before."""
    if judged.producer == names.IN_LISTS:
        epochs = (series.steps for series in every if _is_list_of_epochs(series, judged))
        return next((best.step for steps in epochs if best.step in steps), None)
    found = [
        (series.lines[place - 1], series.values[place - 1])
        for series in every
        if series.name == names.EPOCH and series.source == judged.source
        if (place := bisect.bisect_right(series.lines, best.line))
    ]
    return max(found, default=(0, None))[1]


def _is_list_of_epochs(series: Series, judged: Series) -> bool:
    """Say whether a series is the list of the epochs of another one."""
    same = (judged.producer, judged.source, judged.where)
    return series.name == names.EPOCH and (series.producer, series.source, series.where) == same


_MANY: Final = 20
"""Sound records at the end of a loss with which it is back."""
_LEVEL: Final = 1.5
"""Times the level before, up to which it is."""
_TOGETHER: Final = 60.0
"""Seconds after a failure within which a process of the same submission may print its first."""
_EPOCHS: Final = 2
"""Times that a count begins anew before it is one within an epoch."""


def collect_stamps(
    extract: Extract, failure: FirstFailure[Message] | None, excerpt: Excerpt | None
) -> list[clock.Stamp]:
    """Collect the printed times around the first failure."""
    if failure is None:
        return []
    source = failure.source
    found = [
        clock.Stamp(sighting.finding.line, sighting.finding.time)
        for sighting in extract.seen()
        if sighting.finding.source == source and sighting.finding.time is not None
    ]
    found += [
        clock.Stamp(traceback.line, traceback.time)
        for traceback, _ in extract.tracebacks
        if traceback.source == source and traceback.time is not None
    ]
    if excerpt is not None and excerpt.source == source:
        found += clock.parse_stamps(excerpt.first_line, excerpt.lines)
    return found + _end_of(extract, source)


def add_time(
    failure: FirstFailure[Message] | None, known: Iterable[clock.Stamp]
) -> FirstFailure[Message] | None:
    """Give the first failure the time that its line prints."""
    if failure is None or failure.time is not None:
        return failure
    return replace(failure, time=clock.get_time_at(list(known), failure.line))


def _end_of(extract: Extract, source: int) -> list[clock.Stamp]:
    first, text = extract.tails.get(source, (1, ""))
    return clock.parse_stamps(first, text.split("\n"))


def compute_progress(
    extract: Extract,
    case: Case,
    failure: FirstFailure[Message] | None,
    cause: str,
    known: Iterable[clock.Stamp],
    logs: Collection[int],
) -> Progress:
    """Compute how far the run came and which checkpoint it can resume from.

    Args:
        extract: the evidence.
        case: tells where the curves go wrong.
        failure: the first failure.
        cause: the id that stands first.
        known: `clocks` around the failure.
        logs: indexes of the sources that are logs.
    """
    stamps = list(known)
    losses = _collect_losses(extract)
    bad = (
        _find_lasting_bad(extract, case, failure, stamps, losses)
        if not has_trait(cause, Trait.SOUND)
        else None
    )
    limit = bad or (
        _place(extract, failure.source, failure.line, stamps) if failure is not None else None
    )
    listed = fact_store.list_in_save_order(extract.facts.checkpoints)
    if (
        has_trait(cause, Trait.SPOILS_A_CHECKPOINT)
        and failure is not None
        and listed
        and _is_unfinished(extract, listed[-1].place, failure)
    ):
        listed.pop()
    before, good = _find_good_checkpoint(
        listed, limit, is_stopped=has_trait(cause, Trait.STOPPED_FROM_OUTSIDE) and not bad
    )
    return Progress(
        last_good_step=_select_last_good_step(_find_last_good_step(losses, bad), good, bad),
        last_checkpoint=listed[-1].value if listed else None,
        checkpoint_before_first_bad=before,
        seconds_after_failure=_compute_lost_time(extract, case, failure, stamps, logs),
        resume_from=good.value if good else None,
        first_bad=(normalise_step(bad.step), bad.line) if bad else None,
        **read_progress(extract, case.settings)._asdict(),
    )


def _find_good_checkpoint(
    listed: Sequence[fact_store.Saved], limit: fact_store.Place | None, *, is_stopped: bool
) -> tuple[str, fact_store.Saved | None]:
    """Say whether a good checkpoint stands before a place, and give it.

    Of a run that was stopped from outside the last one is good, wherever it stands.
    """
    if not is_stopped or not listed:
        return fact_store.find_checkpoint_before(listed, limit)
    return fact_store.find_checkpoint_before(listed[-1:], limit)[0], listed[-1]


def _place(
    extract: Extract, source: int, line: int, stamps: Iterable[clock.Stamp]
) -> fact_store.Place:
    return fact_store.Place(
        source, line, clock.get_time_at(list(stamps), line), extract.step_at(source, line)
    )


def _find_lasting_bad(
    extract: Extract,
    case: Case,
    failure: FirstFailure[Message] | None,
    stamps: Iterable[clock.Stamp],
    losses: Mapping[int, Sequence[Series]],
) -> fact_store.Place | None:
    """Give the place where the curves go wrong; none if the loss has outlived it."""
    bad = _find_first_bad_place(extract, case, failure, stamps)
    is_back = bad is not None and any(_is_back(point, bad) for point in losses.get(bad.source, ()))
    return None if is_back else bad


def _find_first_bad_place(
    extract: Extract,
    case: Case,
    failure: FirstFailure[Message] | None,
    stamps: Iterable[clock.Stamp],
) -> fact_store.Place | None:
    anomalies = sorted(
        (anomaly.source, anomaly.line)
        for name, anomaly in case.anomalies.items()
        if case.anomaly_types[name].spoils
    )
    if not anomalies:
        return None
    failing_place = (failure.source, failure.line) if failure is not None else None
    source, line = (
        failing_place if failing_place is not None and failing_place in anomalies else anomalies[0]
    )  # of several ranks, the one that went first
    return _place(
        extract, source, line, stamps if failure is not None and failure.source == source else ()
    )


def _is_unfinished(
    extract: Extract, place: fact_store.Place, failure: FirstFailure[Message]
) -> bool:
    """Say whether nothing was trained between a saving and the failure."""
    return (
        place.source == failure.source
        and extract.last_record.get(place.source, (0, 0))[0] < place.line <= failure.line
    )


def _collect_losses(extract: Extract) -> Mapping[int, Sequence[Series]]:
    """Give the training losses of the last attempt, by source."""
    found: dict[int, list[Series]] = {}
    for series in extract.copies.leading(extract.series):
        if series.name == names.LOSS:
            found.setdefault(series.source, []).append(series)
    return found


def _is_back(loss: Series, bad: fact_store.Place) -> bool:
    """Say whether a loss that went wrong ends with many sound records at its old level."""
    values = list(zip(loss.values, loss.lines, strict=True))
    before = [value for value, line in values if line < bad.line and math.isfinite(value)]
    behind = [value for value, line in values if line > bad.line][-_MANY:]
    if not before or len(behind) < _MANY or not all(map(math.isfinite, behind)):
        return False
    return statistics.median(behind) < _LEVEL * statistics.median(before[-_MANY:])


def _find_last_good_step(
    losses: Mapping[int, Sequence[Series]], bad: fact_store.Place | None
) -> float | None:
    """Give the last step whose training loss is finite, before the curves go wrong.

    Of several processes and files of a run that of the one that came furthest.
    """
    same_source = losses.get(bad.source, ()) if bad is not None else ()
    limit = bad.line if bad is not None and same_source else math.inf
    every = [loss for group in losses.values() for loss in group]
    steps = (_find_last_finite_step(loss, limit) for loss in same_source or every)
    return max((step for step in steps if step is not None), default=None)


def _find_last_finite_step(loss: Series, limit: float) -> float | None:
    """Give the last step that is finite, before a raw line.

    None where the count begins anew again and again: it is one within an epoch.
    """
    sound = [
        step
        for step, value, line in zip(loss.steps, loss.values, loss.lines, strict=True)
        if line < limit and math.isfinite(value)
    ]
    if not sound:
        return None
    restarts = sum(map(operator.lt, sound[1:], sound))
    return None if restarts >= _EPOCHS else normalise_step(sound[-1])


def _select_last_good_step(
    step: float | None, good: fact_store.Saved | None, bad: fact_store.Place | None
) -> float | None:
    """Give the last good step: a good checkpoint proves that its own was reached.

    One that stands behind the first bad value by its number counts otherwise, and proves nothing.
    """
    saved = None if good is None else good.place.step
    if step is None or saved is None:
        return step
    is_beyond = bad is not None and bad.step is not None and saved >= bad.step
    return step if is_beyond else max(step, saved)


def _compute_lost_time(
    extract: Extract,
    case: Case,
    failure: FirstFailure[Message] | None,
    stamps: Iterable[clock.Stamp],
    logs: Collection[int],
) -> float | None:
    """Compute how long the attempt went on after its first failure."""
    if failure is None:
        return None
    near = list(stamps)
    over = _find_next_start(case, failure)
    ends = [stamp.time for stamp in near if failure.line < stamp.line < over]
    failed = max((stamp for stamp in near if stamp.line <= failure.line), default=None)
    for source in logs:
        if (
            source != failure.source
            and failed is not None
            and _has_other_begun(extract, source, failed)
        ):
            found = _end_of(extract, source)
            ends += [stamp.time for stamp in found if get_time_basis(stamp.time) == "full"]
    lasted = clock.compute_seconds_after(near, failure.line, ends)
    return None if lasted is None else round(lasted, 3)


def _find_next_start(case: Case, failure: FirstFailure[Message]) -> float:
    """Give the line behind a failure at which another attempt begins; infinity without one."""
    starts = (
        event.finding.line
        for name in (START, COMMAND)
        for event in case.signatures(name)
        if event.finding.source == failure.source and event.finding.line > failure.line
    )
    return min(starts, default=math.inf)


def _has_other_begun(extract: Extract, source: int, failed: clock.Stamp) -> bool:
    """Say whether the log of another process had begun when the first one failed."""
    begun = clock.parse_stamps(1, extract.heads.get(source, "").split("\n"))
    first = next((stamp.time for stamp in begun if get_time_basis(stamp.time) == "full"), None)
    return (
        first is not None
        and convert_to_seconds(first) <= convert_to_seconds(failed.time) + _TOGETHER
    )
