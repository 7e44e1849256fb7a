"""What several processes say together.

Which of them went bad before the others, and whether they have equally much to do.

In: the series of all processes, the last lines of each source. Out: shapes `one-rank-first`,
`uneven-work`. Not here: collectives (`facts.collectives`), one curve alone (`facts.shapes`).

Gradients are averaged over the ranks, so what one rank spoils reaches all of them one step later. A
rate too high, or weights that are broken, show on all ranks in the same step; bad data and a bad
device show on one rank first. And since ranks take each step together, a rank with more steps than
another waits in its next collective for one that has ended.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from postmortem.facts.series import Point, Series
from postmortem.facts.shapes import Shape
from postmortem.model.lines import NOWHERE, Where
from postmortem.model.said import Said, listed, say
from postmortem.reading.prefixes import carries_srun_labels, clean

_NOT_TRAINING: Final = ("eval", "val", "test")
_OF: Final = re.compile(
    r"\b(?P<word>step|iter(?:ation)?|batch)\W{0,3}(?P<done>\d{1,9}) ?/ ?(?P<total>\d{1,9})\b",
    re.IGNORECASE,
)


def shapes(series: Iterable[Series]) -> list[Shape]:
    """Find the one process whose training loss stops being finite at an earlier step than that of all the others."""
    by_name: dict[str, list[Series]] = defaultdict(list)
    for one in series:
        if (
            "loss" in one.name
            and not one.name.startswith(_NOT_TRAINING)
            and one.where != NOWHERE
            and one.points
        ):
            by_name[one.name].append(one)
    found = [shape for members in by_name.values() if (shape := _first(members)) is not None]
    return found[:1]


def _first(members: list[Series]) -> Shape | None:
    """Compare one series over its processes."""
    bad = [
        (one.first_nonfinite, one)
        for one in members
        if one.first_nonfinite is not None and not math.isnan(one.first_nonfinite.step)
    ]
    if len(members) < 2 or not bad:
        return None
    (point, first), *others = sorted(bad, key=lambda pair: pair[0].step)
    reached = [
        one
        for one in members
        if one is not first and one.last is not None and one.last.step >= point.step
    ]
    if not reached or any(other.step <= point.step for other, _ in others):
        return None
    said = say(
        "{rank}: {name} {value} at step {step:g}; {rest}",
        "{rank}：{name} 在第 {step:g} 步为 {value}；{rest}",
        rank=first.where.said(),
        name=first.name,
        value=point.value,
        step=point.step,
        rest=_rest(members, first, others),
    )
    return Shape("one-rank-first", said, first.source, first.where, point.line)


def _rest(members: list[Series], first: Series, others: list[tuple[Point, Series]]) -> Said:
    """Say how the others fared."""
    steps = sorted({f"{point.step:g}" for point, _ in others}, key=float)
    names = listed([one.where.said() for one in members if one is not first])
    if steps:
        return say(
            "{names}: from step {step} on", "{names}：从第 {step} 步起", names=names, step=steps[0]
        )
    return say("{names}: finite throughout", "{names}：始终为有限值", names=names)


def uneven(ends: Iterable[tuple[int, Where, int, str]]) -> list[Shape]:
    """Find processes that count to different numbers of steps.

    Args:
        ends: for each source its index, the process that its name tells, the raw line number of the
            first of its last lines, and these lines.
    """
    totals: dict[str, dict[Where, tuple[int, int, int]]] = defaultdict(dict)
    for source, own, begin, text in ends:
        srun = carries_srun_labels(text)
        for number, raw in enumerate(text.split("\n"), begin):
            if (match := _OF.search(raw)) is None:
                continue
            where = clean(raw, srun=srun).where.filled(own)
            if where != NOWHERE:
                totals[match["word"].lower()][where] = (int(match["total"]), source, number)
    for word, processes in totals.items():
        if len({total for total, _, _ in processes.values()}) > 1:
            where, (_, source, line) = max(processes.items(), key=lambda one: one[1][0])
            counts = [
                say("{total} on {rank}", "{rank} 为 {total}", total=total, rank=process.said())
                for process, (total, _, _) in sorted(processes.items(), key=lambda one: one[1][0])[
                    :8
                ]
            ]
            return [
                Shape(
                    "uneven-work",
                    say(
                        "{word} counts to {counts}",
                        "{word} 的总数不同：{counts}",
                        word=word,
                        counts=listed(counts),
                    ),
                    source,
                    where,
                    line,
                )
            ]
    return []
