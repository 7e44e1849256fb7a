"""What happened, in order.

Start, resumption, checkpoints, evaluations, warnings, the first bad value, overflows, the failure
and what came of it, the end.

In: gathered evidence, the case, the first failure. Out: `Event`s, in the order of time over the
files where all print it, else in the order of the files. Not here: choosing the failure (`views`),
showing events (`report`).
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from postmortem import names
from postmortem.case.case import Case
from postmortem.case.clock import Clock
from postmortem.facts import checkpoints, clock
from postmortem.facts.numbers import whole
from postmortem.facts.series import Series
from postmortem.facts.shapes import Shape
from postmortem.gathered import Gathered
from postmortem.model.diagnosis import Event, FirstFailure, Progress
from postmortem.model.lines import NOWHERE
from postmortem.model.said import NOTHING, Said, cut, labelled, quote, say

_MOST: Final = 60
_FOLDED: Final = 3
"""Processes that say the same and are told as one entry."""
_MOST_TEXT: Final = 400
_SAME_TEXT: Final = 100
"""Characters in which two entries of one line agree if they tell the same."""
_MOST_CHECKPOINTS: Final = 6
_FAILURE, _BAD, _EVIDENCE, _SAFE, _FRAME, _FATAL, _FOLLOWING, _WARNING, _ASIDE = (
    9,
    8,
    8,
    7,
    6,
    6,
    5,
    4,
    2,
)
"""What is kept where there is too much: the failure first, notes aside last."""
_NUMBER: Final = re.compile(r"\d+")

_FIRST: Final = say("first metric record", "第一条指标")
_LAST: Final = say("last metric record", "最后一条指标")
_FAILED: Final = say("first failure", "首个故障")
_END: Final = say("end of the log", "日志结束")
_SAVED: Final = ("checkpoint saved: {value}", "保存检查点：{value}")
_EVALUATED: Final = ("evaluation: eval_loss {value:.4g}", "评估：eval_loss {value:.4g}")
_TIMES: Final = (
    "{text} ({count} times, to line {line})",
    "{text}（共 {count} 次，到第 {line} 行）",
)
_PROCESSES: Final = ("{text} ({count} processes)", "{text}（{count} 个进程）")
_ENDED_BY: Final = (
    ("env.signal", ("signal {value}", "信号 {value}")),
    ("env.exit_status", ("exit status {value}", "退出码 {value}")),
)
_TURNS: Final = frozenset(
    {
        "hidden-nan",
        "nan-loss",
        "nan-component",
        "nan-grad-finite-loss",
        "nan-eval-only",
        "nan-recovers",
        "zero-loss",
        "loss-spike",
        "loss-divergence",
        "grad-explosion",
        "scale-collapse",
        "collapse",
        "flat-rewards",
        "memory-rising",
        "slow-down",
        "silence",
        "ranks-differ",
        "rank-behind",
        "one-rank-first",
        "spike-recovers",
        "steps-skipped",
        "same-step",
        "grad-huge-first",
    }
)
"""Shapes that happen at a place of the run and are worth telling."""
_BAD_TURNS: Final = frozenset(
    {
        "hidden-nan",
        "nan-loss",
        "loss-divergence",
        "grad-explosion",
        "scale-collapse",
        "nan-eval-only",
    }
)

_TOLD: Final = re.compile(r"^healthy\.|(?:^|\.)context\.")
"""Of the notes aside, starts, resumptions and ends."""


class _Entry(NamedTuple):
    weight: int
    event: Event[Said]
    same: str = ""
    """What entries of several processes agree in if they are told as one; empty where each stands for itself."""
    is_quote: bool = False
    """True if it quotes a line: of one line only the weightiest is told."""


def timeline(
    case: Case,
    failure: FirstFailure[Said] | None,
    done: Progress,
    titles: Callable[[str], Said] = quote,
    evidence: Container[tuple[int | None, int | None]] = frozenset(),
) -> tuple[tuple[Event[Said], ...], int]:
    """List what happened, at most _MOST events, and say how many were left out.

    Args:
        case: events, shapes, records, checkpoints, facts.
        failure: the first failure.
        done: names the checkpoint that is kept whatever else is left out.
        titles: gives the title of a signature.
        evidence: (source, line) of what speaks for the first causes; told even where much is left
            out.
    """
    gathered, logs = case.gathered, case.logs
    main = failure.source if failure is not None else min(logs, default=None)
    found = [
        *_records(gathered, main),
        *_saved(gathered, done),
        *_evaluations(gathered),
        *_turns(case.shapes.values(), gathered, failure),
        *_seen(case, gathered, titles),
        *_failed(gathered, failure),
    ]
    weighed = [_weighed(entry, evidence) for entry in found if entry.event.source in logs]
    entries = _folded(_once(weighed))
    taken = {_place(entry.event) for entry in entries}
    entries += [entry for entry in _ends(gathered, main) if _place(entry.event) not in taken]
    kept = sorted(entries, key=lambda entry: -entry.weight)[:_MOST]
    ordered = _ordered([entry.event for entry in kept], gathered, case.skews, failure)
    return tuple(ordered), len(entries) - len(kept)


def _weighed(entry: _Entry, evidence: Container[tuple[int | None, int | None]]) -> _Entry:
    """Keep what speaks for a cause whatever else is left out."""
    if entry.is_quote and _place(entry.event) in evidence:
        return entry._replace(weight=max(entry.weight, _EVIDENCE))
    return entry


def _failed(gathered: Gathered, failure: FirstFailure[Said] | None) -> Iterator[_Entry]:
    if failure is None:
        return
    event = Event(
        failure.source,
        failure.where,
        failure.line,
        failure.time,
        gathered.step_at(failure.source, failure.line),
        "cause",
        labelled(_FAILED, failure.why).settled(),
        _FAILED,
    )
    yield _Entry(_FAILURE, event, is_quote=True)


def _place(event: Event[Said]) -> tuple[int, int]:
    return event.source, event.line


def _once(entries: Iterable[_Entry]) -> list[_Entry]:
    """Tell a line once: of entries that quote it the weightiest, of others those that say something else."""
    found: dict[tuple[int, int, str], _Entry] = {}
    for entry in entries:
        key = (*_place(entry.event), "" if entry.is_quote else entry.event.text.en[:_SAME_TEXT])
        if key not in found or entry.weight > found[key].weight:
            found[key] = entry
    return list(found.values())


def _folded(entries: Sequence[_Entry]) -> list[_Entry]:
    """Tell what several processes say alike once, at the weightiest of its places.

    Who says something else stands alone.
    """
    groups: dict[tuple[str, str], list[_Entry]] = {}
    for number, entry in enumerate(entries):
        groups.setdefault((entry.event.role, entry.same or str(number)), []).append(entry)
    told = []
    for group in groups.values():
        count = len({(entry.event.source, entry.event.where) for entry in group})
        first = max(group, key=lambda entry: entry.weight)
        if count < _FOLDED or not first.same:
            told += group
        else:
            told.append(
                first._replace(
                    event=replace(
                        first.event,
                        text=say(*_PROCESSES, text=first.event.text, count=count).settled(),
                    )
                )
            )
    return told


def _ordered(
    events: list[Event[Said]],
    gathered: Gathered,
    apart: Mapping[int, float],
    failure: FirstFailure[Said] | None,
) -> list[Event[Said]]:
    """Sort by the printed time that stands nearest before, as far as the clocks can be compared, then by step; else by source and line; what another file says without a time of what followed from the failure, behind it."""
    sources = {event.source for event in events}
    heads = [
        (
            source,
            1,
            next(
                filter(
                    None, map(clock.time_of, gathered.heads.get(source, "").split("\n", 40)[:40])
                ),
                None,
            ),
        )
        for source in sources
    ]
    times = [*heads, *((event.source, event.line, event.time) for event in events)]
    by_time = Clock(times, apart, sources)
    steps = _carried(events) if by_time.is_of_use else {}

    def placed(source: int, line: int) -> tuple[float, float, int, int]:
        return by_time.key(source, line)[0], steps.get((source, line), 0.0), source, line

    def key(event: Event[Said]) -> tuple[tuple[float, float, int, int], bool, tuple[int, int]]:
        own = placed(event.source, event.line)
        origin = (
            placed(failure.source, failure.line)
            if failure is not None
            and event.role == "consequence"
            and event.time is None
            and event.source != failure.source
            else own
        )
        return max(own, origin), origin > own, _place(event)

    return sorted(events, key=key)


def _carried(events: Iterable[Event[Said]]) -> dict[tuple[int, int], float]:
    """Give each place the largest step that its source has told by then.

    Clocks often print whole seconds, in which many steps pass.
    """
    steps: dict[tuple[int, int], float] = {}
    reached: dict[int, float] = {}
    for event in sorted(events, key=lambda event: (event.source, event.line)):
        reached[event.source] = max(reached.get(event.source, 0.0), event.step or 0.0)
        steps[event.source, event.line] = reached[event.source]
    return steps


def _records(gathered: Gathered, main: int | None) -> Iterator[_Entry]:
    for source, (line, _) in gathered.first_record.items():
        last, weight = gathered.last_record[source][0], _FRAME if source == main else _ASIDE
        yield _Entry(
            weight,
            Event(
                source,
                NOWHERE,
                line,
                None,
                whole(gathered.step_at(source, line)),
                "context",
                _FIRST,
            ),
            "first",
        )
        if last != line:
            yield _Entry(
                weight,
                Event(
                    source,
                    NOWHERE,
                    last,
                    None,
                    whole(gathered.step_at(source, last)),
                    "context",
                    _LAST,
                ),
                "last",
            )


def _saved(gathered: Gathered, done: Progress) -> Iterator[_Entry]:
    """The first checkpoints, the last ones, and the one to go back to."""
    listed = checkpoints.saved(gathered.facts.checkpoints)
    chosen = [
        *listed[: _MOST_CHECKPOINTS // 2],
        *listed[max(_MOST_CHECKPOINTS // 2, len(listed) - _MOST_CHECKPOINTS // 2) :],
    ]
    chosen += [one for one in listed if one.value == done.resume_from and one not in chosen]
    for value, place in chosen:
        weight = _SAFE if value == done.resume_from else _ASIDE
        yield _Entry(
            weight,
            Event(
                place.source,
                NOWHERE,
                place.line,
                place.time,
                whole(place.step),
                "context",
                say(*_SAVED, value=value).cut(_MOST_TEXT),
            ),
        )


def _evaluations(gathered: Gathered) -> Iterator[_Entry]:
    """The first, the best, the last evaluation, and the first whose loss is not finite."""
    for series in gathered.series.values():
        if series.name != names.EVAL_LOSS or series.first is None or series.last is None:
            continue
        best = min(
            (point for point in series.samples() if point.value == series.min),
            default=None,
            key=lambda point: point.line,
        )
        for point in {
            point.line: point
            for point in (series.first, best, series.first_nonfinite, series.last)
            if point is not None
        }.values():
            yield _Entry(
                _ASIDE + 1,
                Event(
                    series.source,
                    series.where,
                    point.line,
                    None,
                    _step(series, point.step),
                    "context",
                    say(*_EVALUATED, value=point.value).settled(),
                ),
            )


def _step(series: Series, step: float) -> float | None:
    return None if series.interleaved else whole(step)


def _turns(
    shapes: Iterable[Shape], gathered: Gathered, failure: FirstFailure[Said] | None
) -> Iterator[_Entry]:
    """What the curves do, except where it is the failure itself."""
    for shape in shapes:
        if shape.id in _TURNS and (
            failure is None or (failure.source, failure.line) != (shape.source, shape.line)
        ):
            weight = _BAD if shape.id in _BAD_TURNS else _WARNING
            yield _Entry(
                weight,
                Event(
                    shape.source,
                    shape.where,
                    shape.line,
                    None,
                    whole(gathered.step_at(shape.source, shape.line)),
                    "warning",
                    shape.said.cut(_MOST_TEXT),
                ),
            )


def _seen(case: Case, gathered: Gathered, titles: Callable[[str], Said]) -> Iterator[_Entry]:
    """Each signature once a source, with how often it came."""
    shown: set[tuple[str, int]] = set()
    counts: dict[tuple[str, int], tuple[int, int]] = {}
    for (signature, source, _), kept in gathered.findings.items():
        count, last = counts.get((signature, source), (0, 0))
        counts[signature, source] = (count + kept.count, max(last, kept.last_line))
    for event in case.events:
        finding = event.finding
        is_aside = finding.role == "harmless" or (
            finding.role == "context" and not _TOLD.search(finding.signature)
        )
        if is_aside or (finding.signature, finding.source) in shown:
            continue
        shown.add((finding.signature, finding.source))
        line = finding.text.splitlines()[0]
        text = quote(cut(line, _MOST_TEXT))
        count, last = counts.get((finding.signature, finding.source), (1, 0))
        if count > 1:
            text = say(*_TIMES, text=text, count=count, line=last).settled()
        weight = {"cause": _FATAL, "consequence": _FOLLOWING, "warning": _WARNING}.get(
            event.role, _FRAME
        )
        title = NOTHING if event.role == "context" else titles(finding.signature)
        step = whole(gathered.step_at(finding.source, finding.line))
        yield _Entry(
            weight,
            Event(
                finding.source,
                finding.where,
                finding.line,
                finding.time,
                step,
                event.role,
                text,
                title,
            ),
            f"{finding.signature} {_NUMBER.sub('#', line)[:_SAME_TEXT]}",
            is_quote=True,
        )


def _ends(gathered: Gathered, main: int | None) -> Iterator[_Entry]:
    """How the processes ended, as far as a line says so, and where the log ends."""
    for name, words in _ENDED_BY:
        fact = gathered.facts.facts.get(name)
        if fact is not None and main is not None:
            source, line = (
                (fact.source, fact.line) if fact.line else (main, gathered.lines.get(main, 1))
            )  # told by the caller, printed nowhere
            yield _Entry(
                _FRAME,
                Event(
                    source,
                    NOWHERE,
                    line,
                    fact.time,
                    None,
                    "consequence",
                    say(*words, value=fact.value).settled(),
                ),
            )
    if main is not None and gathered.lines.get(main):
        yield _Entry(
            _FRAME, Event(main, NOWHERE, gathered.lines[main], None, None, "context", _END)
        )
