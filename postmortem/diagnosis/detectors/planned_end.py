"""Detect a run that has come to its planned end, though no line says so.

In: the series of a source, its last lines, the number of steps that is printed. Out: the anomaly
`planned-end`. Not here: a last step or epoch that is reached exactly (`detectors.ending`), closing
words (`detectors.closing`), the outcome.

Three counts show it: the next record would lie beyond the printed total, the learning rate would be
0 before it, or the count stands at a round number when the file ends. People plan round numbers; a
run that is cut anywhere stands at one in ten of them at most.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.findings import NOWHERE
from postmortem.core.log_text import compile_lazily, get_last_draw
from postmortem.core.message import Message, say
from postmortem.diagnosis.detectors.ending import PART, is_cut_short
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.extraction.facts.series import Series

_FEWEST: Final = 10
"""Records that show by how much a count rises."""
_RARE: Final = 10
"""Intervals between two numbers that count as round."""
_FEWEST_INTERVALS: Final = 40
"""Intervals of a count that is not taken for short: those end at any number."""
_BEHIND: Final = 8
"""Lines behind the last record with which a file still ends at it."""
_NEARLY: Final = 0.9
"""Share of the planned steps from which on the last record may be the last one."""
_TABLE: Final = compile_lazily(r"\s*(?:[|│].*|[^\w\n]*)")
"""A row of the table that a record is, and lines without words."""
_OFTEN: Final = 1.2
"""Records for each number of a count from which on it begins anew in each epoch."""
_UNEVEN: Final = 0.1
"""Share by which two falls of a rate in a line may differ."""
_SPENT: Final = 0.1
"""Share of the highest rate below which a schedule may be at its end."""


def detect_planned_end(observed: Observed) -> Iterator[Anomaly]:
    """Find a run of which every source with records shows that no further one was due."""
    found: list[Anomaly] = []
    for source, last in observed.last_records.items():
        curves = [
            curve
            for curve in observed.series
            if curve.source == source and curve.last and curve.last.line >= last - _BEHIND
        ]
        message = next(_iter_reasons(observed, source, curves), None)
        if message is None:
            return
        found.append(Anomaly("planned-end", message, source, NOWHERE, last))
    yield from found[:1]


def _iter_reasons(observed: Observed, source: int, curves: Sequence[Series]) -> Iterator[Message]:
    """Yield what shows that a source is at its end."""
    counts = list(_iter_counts(curves))
    for count in counts:
        interval = count[-1] - count[-2]
        is_due = count[-1] + interval <= observed.total_steps
        if not is_due and _NEARLY * observed.total_steps <= count[-1] <= observed.total_steps:
            yield say(
                "the last record is of step {step:g} of {total:g}, with one every {interval:g}",
                step=count[-1],
                total=observed.total_steps,
                interval=interval,
            )
    if not is_cut_short(observed, source):
        yield from _iter_spent_rates(curves)
    if curves and _is_full_count(observed, source, _find_last_line_of_longest(curves)):
        yield say("the count of the last record is full")
    if _is_at_end_of_file(observed, source):
        for count in counts:
            if (end := _find_round_number(count)) is not None:
                yield say(
                    "the log ends at the round number {end:g}, in a count of {interval:g} a record",
                    end=end,
                    interval=count[-1] - count[-2],
                )


def _iter_spent_rates(curves: Sequence[Series]) -> Iterator[Message]:
    for curve in curves:
        if curve.name == names.LEARNING_RATE and _is_rate_spent(
            [rate for rate, _ in itertools.groupby(curve.values)]
        ):
            yield say(
                "the schedule of the learning rate is at its end: {rate:g}",
                rate=curve.values[-1],
            )


def _iter_counts(curves: Sequence[Series]) -> Iterator[list[float]]:
    """Yield the counts that only rise from the beginning of the run on, evenly at last.

    Within its only epoch a count may be that of the epoch.
    """
    epochs = {value for curve in curves if curve.name == names.EPOCH for value in curve.values}
    for curve in curves if len(epochs) != 1 else ():
        column = _sort_counts(curve)
        if curve.name == names.EPOCH and not _is_last_as_long(column):
            continue
        count = [value for value, _ in itertools.groupby(column)]
        if _is_even_count(count):
            yield count


def _sort_counts(curve: Series) -> list[float]:
    """Give the counts of a curve by their lines; none where one is not finite.

    A line that waited to come again was put behind the next ones.
    """
    counts = curve.values if curve.name == names.EPOCH else curve.steps
    if not math.isfinite(sum(counts)):
        return []
    return [count for _, count in sorted(zip(curve.lines, counts, strict=True))]


def _is_even_count(count: Sequence[float]) -> bool:
    """Say whether whole numbers rise from the first interval on, by the same at last."""
    if len(count) < _FEWEST:
        return False
    rises = [after - before for before, after in itertools.pairwise(count)]
    interval = rises[-1]
    return (
        min(rises) > 0
        and interval >= 1
        and interval.is_integer()
        and count[0] <= interval
        and all(rise == interval for rise in rises[-_FEWEST // 2 :])
    )


def _is_last_as_long(column: Sequence[float]) -> bool:
    """Say whether the last epoch has as many records as the one before it."""
    lengths = [len(list(group)) for _, group in itertools.groupby(column)]
    return len(lengths) > 1 and lengths[-1] == lengths[-2]


def _find_round_number(count: Sequence[float]) -> float | None:
    """Give the round number that the last record reaches, if one does.

    Counted from 0 with every number printed, 49 is the fiftieth.
    """
    interval = count[-1] - count[-2]
    reached = count[-1] + (interval if count[0] == 0 and interval == 1 else 0)
    power = 10.0 ** math.floor(math.log10(reached))
    unit = power if power < _RARE**2 * interval else power / 2
    end = math.floor(reached / unit) * unit
    is_rare = unit >= _RARE * interval and end >= _FEWEST_INTERVALS * interval
    return end if is_rare and reached - interval < end else None


def _is_rate_spent(rates: Sequence[float]) -> bool:
    """Say whether a rate that falls in a line, or in a half wave, is 0 before the next record."""
    if len(rates) < _FEWEST or not all(map(math.isfinite, rates)) or min(rates) < 0:
        return False
    highest, last = max(rates), rates[-1]
    is_lowest = last < rates[-2] and last <= _SPENT * highest
    is_once = min(rates[rates.index(highest) :]) == last
    near = rates[-3:]
    return is_lowest and is_once and (_is_next_zero(near) or _is_next_zero([x**0.5 for x in near]))


def _is_next_zero(values: Sequence[float]) -> bool:
    """Say whether three values lie in a line that has come to 0 at the next one."""
    before, fall = values[0] - values[1], values[1] - values[2]
    return abs(before - fall) <= _UNEVEN * fall and values[2] <= (1 + _UNEVEN) * fall


def _find_last_line_of_longest(curves: Sequence[Series]) -> int:
    """Give the last line of the curve of most records: an evaluation may stand behind it."""
    return max(curves, key=lambda curve: len(curve.lines)).lines[-1]


def _is_full_count(observed: Observed, source: int, last: int) -> bool:
    """Say whether all counts such as `99/99` of a record are full, and only now.

    Beside an epoch of an unknown number of them, the steps of one epoch may be what is full.
    """
    rows = _list_rows(observed, source, last)
    row = rows[-1] if rows else ""
    parts = [(int(part["now"]), int(part["of"])) for part in PART.finditer(row)]
    if not parts or any(now < of for now, of in parts):
        return False
    if _are_steps_of_epoch(observed, source, {now for now, _ in parts}):
        return False
    others = {int(part["now"]) for row in rows[:-1] for part in [PART.search(row)] if part}
    _, whole = parts[0]
    is_counting = bool(others) and max(others) < whole
    return is_counting and observed.records.get(source, 0) <= _OFTEN * (whole + 1)


def _are_steps_of_epoch(observed: Observed, source: int, counts: set[int]) -> bool:
    """Say whether an epoch is printed that is none of the counts: they may be its steps."""
    epochs = [
        curve.last.value
        for curve in observed.series
        if curve.source == source and curve.name == names.EPOCH and curve.last is not None
    ]
    return bool(epochs) and not counts.intersection(epochs)


def _list_rows(observed: Observed, source: int, last: int) -> list[str]:
    """Give the last lines of a source up to a record."""
    first, text = observed.tails.get(source, (1, ""))
    return [get_last_draw(row) for row in text.split("\n")[: max(0, last - first + 1)]]


def _is_at_end_of_file(observed: Observed, source: int) -> bool:
    """Say whether the only file ends with its last record, and no count `20/99` near it is open."""
    if len(observed.last_records) > 1:
        return False
    first, text = observed.tails.get(source, (1, ""))
    last = observed.last_records[source]
    rows = [(number, get_last_draw(row)) for number, row in enumerate(text.split("\n"), first)]
    behind = [row for number, row in rows if number > last and not _TABLE.fullmatch(row)]
    counts: dict[int, list[int]] = {}
    for _, row in rows:
        for part in PART.finditer(row):
            counts.setdefault(int(part["of"]), []).append(int(part["now"]))
    return len(behind) <= _BEHIND and not any(_is_open(*count) for count in counts.items())


def _is_open(total: int, count: Sequence[int]) -> bool:
    """Say whether a count up to a total, begun anew or not, has not come to it.

    What falls otherwise counts no progress: right answers, for instance.
    """
    is_progress = all(
        after >= before or after <= total / _RARE for before, after in itertools.pairwise(count)
    )
    return is_progress and count[-1] < _NEARLY * total - 1
