"""How far the run came.

The last good step, the checkpoint to go back to, the time lost behind the first failure.

In: the extract, the case, the first failure, the raw lines around it. Out: `Progress`, printed
clocks around the failure. Not here: sentences about it (`report.parts`), names of checkpoints
(`facts.checkpoints`), clocks (`facts.clock`).
"""

import math
import operator
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from postmortem.core import names
from postmortem.core.message import Message
from postmortem.core.shown import Excerpt, FirstFailure, Progress
from postmortem.diagnosis.case.attempts import COMMAND, START
from postmortem.diagnosis.case.printed_progress import read_progress
from postmortem.diagnosis.case.values import Case
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts import checkpoints, clock
from postmortem.extraction.facts.number_texts import normalise_step
from postmortem.extraction.facts.series import Series
from postmortem.reading.prefixes import convert_to_seconds, get_time_basis
from postmortem.rules.traits import Trait, has_trait

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
    bad = _find_lasting_bad(extract, case, failure, stamps, losses) if _is_unsound(cause) else None
    limit = bad or (
        _place(extract, failure.source, failure.line, stamps) if failure is not None else None
    )
    listed = checkpoints.list_in_save_order(extract.facts.checkpoints)
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
    listed: Sequence[checkpoints.Saved], limit: checkpoints.Place | None, *, is_stopped: bool
) -> tuple[str, checkpoints.Saved | None]:
    """Say whether a good checkpoint stands before a place, and give it.

    Of a run that was stopped from outside the last one is good, wherever it stands.
    """
    if not is_stopped or not listed:
        return checkpoints.find_checkpoint_before(listed, limit)
    return checkpoints.find_checkpoint_before(listed[-1:], limit)[0], listed[-1]


def _place(
    extract: Extract, source: int, line: int, stamps: Iterable[clock.Stamp]
) -> checkpoints.Place:
    return checkpoints.Place(
        source, line, clock.get_time_at(list(stamps), line), extract.step_at(source, line)
    )


def _is_unsound(cause: str) -> bool:
    return not has_trait(cause, Trait.SOUND)


def _find_lasting_bad(
    extract: Extract,
    case: Case,
    failure: FirstFailure[Message] | None,
    stamps: Iterable[clock.Stamp],
    losses: Mapping[int, Sequence[Series]],
) -> checkpoints.Place | None:
    """Give the place where the curves go wrong; none if the loss has outlived it."""
    bad = _find_first_bad_place(extract, case, failure, stamps)
    is_back = bad is not None and any(_is_back(point, bad) for point in losses.get(bad.source, ()))
    return None if is_back else bad


def _find_first_bad_place(
    extract: Extract,
    case: Case,
    failure: FirstFailure[Message] | None,
    stamps: Iterable[clock.Stamp],
) -> checkpoints.Place | None:
    anomalies = sorted(
        (anomaly.source, anomaly.line)
        for name, anomaly in case.shapes.items()
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
    extract: Extract, place: checkpoints.Place, failure: FirstFailure[Message]
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


def _is_back(loss: Series, bad: checkpoints.Place) -> bool:
    """Say whether a loss that went wrong ends with many sound records at its old level."""
    values = list(zip(loss.values, loss.lines, strict=True))
    before = [value for value, line in values if line < bad.line and math.isfinite(value)]
    behind = [value for value, line in values if line > bad.line][-_MANY:]
    if not before or len(behind) < _MANY or not all(map(math.isfinite, behind)):
        return False
    return statistics.median(behind) < _LEVEL * statistics.median(before[-_MANY:])


def _find_last_good_step(
    losses: Mapping[int, Sequence[Series]], bad: checkpoints.Place | None
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
    step: float | None, good: checkpoints.Saved | None, bad: checkpoints.Place | None
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
