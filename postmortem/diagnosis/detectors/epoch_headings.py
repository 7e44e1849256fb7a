"""Give records the epoch of the heading above them, such as `Epoch 3/50`.

In: both ends of a source, the series of a process. Out: the series `epoch` of that process, as its
records would have printed it. Not here: records that name their epoch, those of several lines
(`formats.blocks`).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import ProcessId
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Series

_HEADING: Final = compile_lazily(
    r"(?:^|[\s\]>=*#|:-])(?:[Ee]poch|EPOCH)\s?[:#]?\s?\[?\s?(?P<epoch>\d{1,6})"
    r"(?:\s?(?:/|of)\s?\d{1,6})?[\s\]=*#:.|<-]{0,80}$"
)
_LONGEST: Final = 160
_FEWEST: Final = 2


def build_epoch_series(
    observed: Observed, members: Sequence[Series], process: tuple[int, ProcessId]
) -> list[Series]:
    """Give the epochs below whose headings the records of a process stand.

    None where records name their own, or where several processes write one source.

    Args:
        observed: of the job.
        members: the series of the process.
        process: its source and its name.
    """
    source, where = process
    of_source = (curve for curve in observed.series if curve.source == source)
    if any(curve.name == names.EPOCH or curve.where != where for curve in of_source):
        return []
    below = dict(_iter_lines_with_epoch(observed.kept_lines(source)))
    records = set[int]().union(*(below.keys() & curve.lines for curve in members if below))
    epochs = Series(names.EPOCH, "", source, where)
    for line in sorted(records):
        epochs.append(math.nan, below[line], line)
    epochs.settle()
    return [epochs] if len(set(epochs.values)) >= _FEWEST else []


def _iter_lines_with_epoch(kept: Iterable[tuple[int, str]]) -> Iterator[tuple[int, float]]:
    """Give the lines below headings with their epoch; behind a gap a heading must come again."""
    epoch, before = math.nan, 0
    for number, text in kept:
        epoch = epoch if number <= before + 1 else math.nan
        before = number
        found = _HEADING.search(text) if len(text) <= _LONGEST else None
        if found is not None:
            epoch = float(found["epoch"])
        elif not math.isnan(epoch):
            yield number, epoch
