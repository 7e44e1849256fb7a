"""What happened, in order.

Start, resumption, checkpoints, evaluations, warnings, the first bad value, overflows, the failure
and what came of it, the end.

In: gathered evidence, the case, the first failure. Out: `Event`s, in the order of time over the
files where all print it, else in the order of the files. Not here: choosing the failure (`views`),
showing events (`report`).
"""

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from postmortem import names
from postmortem.facts import checkpoints, clock
from postmortem.facts.numbers import whole
from postmortem.facts.series import Series
from postmortem.gathered import Gathered
from postmortem.inference import case as cases
from postmortem.inference.clock import Clock
from postmortem.knowledge.catalogue import CATALOGUE
from postmortem.model.diagnosis import Event, FirstFailure, Progress
from postmortem.model.lines import NOWHERE
from postmortem.model.said import cut, labelled
from postmortem.shapes.shape import Shape

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

_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "first": "first metric record",
        "last": "last metric record",
        "failure": "first failure",
        "saved": "checkpoint saved: {value}",
        "evaluation": "evaluation: eval_loss {value:.4g}",
        "times": "{text} ({count} times, to line {line})",
        "exit": "exit status {value}",
        "signal": "signal {value}",
        "end": "end of the log",
        "processes": "{text} ({count} processes)",
    },
    "zh": {
        "first": "第一条指标",
        "last": "最后一条指标",
        "failure": "首个故障",
        "saved": "保存检查点：{value}",
        "evaluation": "评估：eval_loss {value:.4g}",
        "times": "{text}（共 {count} 次，到第 {line} 行）",
        "exit": "退出码 {value}",
        "signal": "信号 {value}",
        "end": "日志结束",
        "processes": "{text}（{count} 个进程）",
    },
}
_TOLD: Final = re.compile(r"^healthy\.|(?:^|\.)context\.")
"""Of the notes aside, starts, resumptions and ends."""


class _Entry(NamedTuple):
    weight: int
    event: Event
    same: str = ""
    """What entries of several processes agree in if they are told as one; empty where each stands for itself."""
    is_quote: bool = False
    """True if it quotes a line: of one line only the weightiest is told."""


def timeline(
    case: cases.Case,
    gathered: Gathered,
    failure: FirstFailure | None,
    done: Progress,
    language: str,
    logs: Collection[int],
    apart: Mapping[int, float] = MappingProxyType({}),
    titles: Callable[[str], str] = str,
    evidence: Container[tuple[int | None, int | None]] = frozenset(),
) -> tuple[tuple[Event, ...], int]:
    """List what happened, at most _MOST events, and say how many were left out.

    Args:
        case: events and shapes.
        gathered: records, checkpoints, facts.
        failure: the first failure.
        done: names the checkpoint that is kept whatever else is left out.
        language: of the texts.
        logs: indexes of the sources that are logs; what a dump says did not happen at a time.
        apart: seconds by which the clock of a source is ahead.
        titles: gives the title of a signature.
        evidence: (source, line) of what speaks for the first causes; told even where much is left
            out.
    """
    words = _WORDS[language]
    main = failure.source if failure is not None else min(logs, default=None)
    entries = [
        *_records(gathered, main, words),
        *_saved(gathered, done, words),
        *_evaluations(gathered, words),
        *_turns(case.shapes.values(), gathered, failure, language),
        *_seen(case, gathered, words, titles),
    ]
    if failure is not None:
        step = gathered.step_at(failure.source, failure.line)
        event = Event(
            failure.source,
            failure.where,
            failure.line,
            failure.time,
            step,
            "cause",
            labelled(words["failure"], failure.why).text(language),
            words["failure"],
        )
        entries.append(_Entry(_FAILURE, event, is_quote=True))
    entries = [
        (
            one._replace(weight=max(one.weight, _EVIDENCE))
            if one.is_quote and _place(one.event) in evidence
            else one
        )
        for one in entries
        if one.event.source in logs
    ]
    entries = _folded(_once(entries), words)
    taken = {_place(entry.event) for entry in entries}
    entries += [entry for entry in _ends(gathered, main, words) if _place(entry.event) not in taken]
    kept = sorted(entries, key=lambda entry: -entry.weight)[:_MOST]
    return tuple(_ordered([entry.event for entry in kept], gathered, apart, failure)), len(
        entries
    ) - len(kept)


def _place(event: Event) -> tuple[int, int]:
    return event.source, event.line


def _once(entries: Iterable[_Entry]) -> list[_Entry]:
    """Tell a line once: of entries that quote it the weightiest, of others those that say something else."""
    found: dict[tuple[int, int, str], _Entry] = {}
    for entry in entries:
        key = (*_place(entry.event), "" if entry.is_quote else entry.event.text[:_SAME_TEXT])
        if key not in found or entry.weight > found[key].weight:
            found[key] = entry
    return list(found.values())


def _folded(entries: Sequence[_Entry], words: Mapping[str, str]) -> list[_Entry]:
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
                        text=words["processes"].format(text=first.event.text, count=count),
                    )
                )
            )
    return told


def _ordered(
    events: list[Event],
    gathered: Gathered,
    apart: Mapping[int, float],
    failure: FirstFailure | None,
) -> list[Event]:
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

    def key(event: Event) -> tuple[tuple[float, float, int, int], bool, tuple[int, int]]:
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


def _carried(events: Iterable[Event]) -> dict[tuple[int, int], float]:
    """Give each place the largest step that its source has told by then.

    Clocks often print whole seconds, in which many steps pass.
    """
    steps: dict[tuple[int, int], float] = {}
    reached: dict[int, float] = {}
    for event in sorted(events, key=lambda event: (event.source, event.line)):
        reached[event.source] = max(reached.get(event.source, 0.0), event.step or 0.0)
        steps[event.source, event.line] = reached[event.source]
    return steps


def _records(gathered: Gathered, main: int | None, words: Mapping[str, str]) -> Iterator[_Entry]:
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
                words["first"],
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
                    words["last"],
                ),
                "last",
            )


def _saved(gathered: Gathered, done: Progress, words: Mapping[str, str]) -> Iterator[_Entry]:
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
                cut(words["saved"].format(value=value), _MOST_TEXT),
            ),
        )


def _evaluations(gathered: Gathered, words: Mapping[str, str]) -> Iterator[_Entry]:
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
                    words["evaluation"].format(value=point.value),
                ),
            )


def _step(series: Series, step: float) -> float | None:
    return None if series.interleaved else whole(step)


def _turns(
    shapes: Iterable[Shape], gathered: Gathered, failure: FirstFailure | None, language: str
) -> Iterator[_Entry]:
    """What the curves do, except where it is the failure itself."""
    for shape in shapes:
        if CATALOGUE[shape.id].is_turn and (
            failure is None or (failure.source, failure.line) != (shape.source, shape.line)
        ):
            weight = _BAD if CATALOGUE[shape.id].is_grave else _WARNING
            yield _Entry(
                weight,
                Event(
                    shape.source,
                    shape.where,
                    shape.line,
                    None,
                    whole(gathered.step_at(shape.source, shape.line)),
                    "warning",
                    cut(shape.said.text(language), _MOST_TEXT),
                ),
            )


def _seen(
    case: cases.Case, gathered: Gathered, words: Mapping[str, str], titles: Callable[[str], str]
) -> Iterator[_Entry]:
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
        text = cut(line, _MOST_TEXT)
        count, last = counts.get((finding.signature, finding.source), (1, 0))
        if count > 1:
            text = words["times"].format(text=text, count=count, line=last)
        weight = {"cause": _FATAL, "consequence": _FOLLOWING, "warning": _WARNING}.get(
            event.role, _FRAME
        )
        title = "" if event.role == "context" else titles(finding.signature)
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


def _ends(gathered: Gathered, main: int | None, words: Mapping[str, str]) -> Iterator[_Entry]:
    """How the processes ended, as far as a line says so, and where the log ends."""
    for name, key in (("env.signal", "signal"), ("env.exit_status", "exit")):
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
                    words[key].format(value=fact.value),
                ),
            )
    if main is not None and gathered.lines.get(main):
        yield _Entry(
            _FRAME, Event(main, NOWHERE, gathered.lines[main], None, None, "context", words["end"])
        )
