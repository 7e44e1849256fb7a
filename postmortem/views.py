"""The parts of a diagnosis that are read off the evidence without judging causes.

Outcome, first failure, series, excerpt.

In: gathered evidence and the case. Out: values of `model.diagnosis`. Not here: causes
(`inference`), the order of events (`timeline`), how far the run came (`progress`), rendering
(`report`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from postmortem import names
from postmortem.facts.environment import TOLD
from postmortem.facts.numbers import whole
from postmortem.facts.series import Point, Series
from postmortem.facts.shapes import Shape
from postmortem.facts.silence import STEP
from postmortem.gathered import Gathered, Seen
from postmortem.inference.case import Case
from postmortem.inference.events import ECHOES
from postmortem.inference.order import SURVIVED_RECORDS, Failure
from postmortem.knowledge.base import KnowledgeBase
from postmortem.model.diagnosis import (
    Evidence,
    Excerpt,
    FirstFailure,
    Progress,
    SeriesView,
    SignatureHit,
    Source,
)
from postmortem.model.lines import NOWHERE
from postmortem.model.said import cut, labelled, quote, say
from postmortem.reading.excerpt import lines_around
from postmortem.reading.opener import STDIN
from postmortem.reading.prefixes import time_basis

_MOST_TEXT: Final = 400
_MOST_LINES: Final = 120
_MOST_SAMPLES: Final = 400
"""Points of a series that the report shows, and of all of them together: of thousands of processes each shows fewer."""
_ALL_SAMPLES: Final = 200_000
_SUCCESS: Final = "healthy."
_STANDS_STILL: Final = "hang.stands-still."
_DUMPED: Final = "hang.faulthandler"
ONE_RANK: Final = "one-rank-first"
_BAD_SHAPES: Final = frozenset(
    {
        "hidden-nan",
        "nan-loss",
        "scale-collapse",
        "nan-eval-only",
        "loss-divergence",
        "grad-explosion",
        "huge-spike",
        "collapse",
        "zero-loss",
        "plateau-from-start",
        ONE_RANK,
    }
)


def frameworks(gathered: Gathered) -> dict[str, str | None]:
    """Name the frameworks whose output was recognised, the most talkative first, with their versions."""
    facts = gathered.facts
    aliases = {
        "transformers-trainer": "transformers",
        "pytorch": "torch",
        "lightning": "pytorch-lightning",
    }
    counts = dict(facts.framework_lines)
    for key in facts.facts:
        if key.startswith("framework."):
            counts.setdefault(key.removeprefix("framework."), 1)
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    return {
        name: facts.get(f"framework.{name}") or facts.get(f"package.{aliases.get(name, name)}")
        for name in ordered
    }


def outcome(
    gathered: Gathered,
    seen: Sequence[Seen],
    failures: Sequence[Failure],
    known: Mapping[str, Shape],
) -> str:
    """Tell how the run ended.

    Failed, completed, stalled, running, incomplete, or that this is no training log.
    """
    if _told_of_failure(gathered):
        return "failed"
    ended = [one for one in seen if one.finding.role == "consequence" and _is_last(one, gathered)]
    successes = [one for one in seen if one.finding.signature.startswith(_SUCCESS)]
    last_success = max(
        ((one.finding.source, one.finding.offset) for one in successes), default=None
    )
    # What a distributed run prints while it is taken down after its end is noise; any other failure
    # behind the marker is one.
    real = [
        failure
        for failure in failures
        if last_success is None
        or (failure.source, failure.offset) < last_success
        or failure.traceback
        or not (failure.finding and failure.finding.signature.startswith(ECHOES))
    ]
    if successes and not real:
        return "completed"
    if failures or ended:
        return "failed"
    is_still = "same-step" in known or any(
        one.finding.signature.startswith(_STANDS_STILL)
        or (one.finding.signature == _DUMPED and _is_last(one, gathered))
        for one in seen
    )
    if is_still or any(gathered.records.values()):
        return "stalled" if is_still else "completed" if "last-step" in known else "running"
    if any(one.finding.role in {"cause", "consequence", "warning"} for one in seen):
        return "unknown"
    return "incomplete" if seen or gathered.facts.facts else "not-a-training-log"


def _told_of_failure(gathered: Gathered) -> bool:
    """Say whether whoever ran the command has told how it ended, and it was not well."""
    told = {
        name: fact
        for name in ("exit_status", "signal")
        if (fact := gathered.facts.facts.get(f"env.{name}")) and fact.strength >= TOLD
    }
    return "signal" in told or ("exit_status" in told and told["exit_status"].value != "0")


def _is_last(one: Seen, gathered: Gathered) -> bool:
    return (
        gathered.records_beside(one.finding.source, one.finding.where) - one.records_before
        < SURVIVED_RECORDS
    )


def outcome_shapes(
    gathered: Gathered, how: str, seen: Sequence[Seen], known: Mapping[str, Shape]
) -> list[Shape]:
    """Give the shapes that speak for a healthy run."""
    source = next(iter(gathered.last_record), 0)
    line = gathered.last_record.get(source, (1, 0))[0]
    has_bad = any(
        name in known
        for name in (
            "nan-loss",
            "hidden-nan",
            "nan-eval-only",
            "loss-divergence",
            "scale-collapse",
            "zero-loss",
            "nan-grad-finite-loss",
            "grad-explosion",
        )
    )
    if how == "completed":
        marker = next(
            (one.finding for one in seen if one.finding.signature.startswith(_SUCCESS)), None
        )
        end = known.get("last-step")
        if marker is None and end is not None:
            return [end._replace(id="finished")]
        return [
            Shape(
                "finished",
                quote(cut(marker.text, 200) if marker else ""),
                marker.source if marker else source,
                NOWHERE,
                marker.line if marker else line,
            )
        ]
    if (
        how == "stalled"
        and not any(gathered.records.values())
        and all(
            len({match["step"] for match in STEP.finditer(text)}) < SURVIVED_RECORDS
            for _, text in gathered.tails.values()
        )
    ):
        said = say(
            "no metric record in {count} lines",
            "{count} 行日志里没有任何指标记录",
            count=sum(gathered.lines.values()),
        )
        return [Shape("no-record", said, source, NOWHERE, line)]
    if how in {"running", "stalled"} and not has_bad and any(gathered.records.values()):
        count = sum(gathered.records.values())
        said = say(
            "{count} metric records up to line {line}, no failure shown",
            "到第 {line} 行共 {count} 条指标记录，未见故障",
            count=count,
            line=line,
        )
        return [Shape("no-failure-shown", said, source, NOWHERE, line)]
    return []


def signature_hits(
    case: Case, gathered: Gathered, knowledge: KnowledgeBase, language: str
) -> tuple[SignatureHit, ...]:
    """List every kept finding with its role in this run."""
    hits = []
    for event in case.events:
        finding = event.finding
        rule = knowledge.by_id[finding.signature]
        hits.append(
            SignatureHit(
                finding.signature,
                event.role,
                event.because,
                finding.source,
                finding.where,
                finding.line,
                finding.end_line,
                finding.time,
                time_basis(finding.time),
                gathered.count_of(finding),
                finding.text,
                finding.captures,
                rule.title(language),
                max(map(len, rule.anchors), default=0),
            )
        )
    return tuple(hits)


def first_failure(
    first: Failure | None, case: Case, knowledge: KnowledgeBase, language: str, *, is_numeric: bool
) -> FirstFailure | None:
    """Name the first real failure over all sources and processes.

    Of a numerical cause, the first bad value before the exception.
    """
    bad = sorted(
        (shape for name, shape in case.shapes.items() if name in _BAD_SHAPES),
        key=lambda shape: (shape.id != ONE_RANK, shape.source, shape.line),
    )
    if bad and "grad-huge-first" in case.shapes:
        bad.insert(0, case.shapes["grad-huge-first"])
    is_earlier = bool(bad) and (
        first is None
        or (is_numeric and (bad[0].source != first.source or bad[0].line < first.line))
    )
    if is_earlier:
        return FirstFailure(
            bad[0].source, bad[0].where, bad[0].line, None, bad[0].said.text(language)
        )
    if first is None:
        return None
    if first.finding is not None:
        title = knowledge.by_id[first.finding.signature].title(language)
        return FirstFailure(
            first.source,
            first.finding.where,
            first.line,
            first.time,
            labelled(title, cut(first.finding.text.splitlines()[0], _MOST_TEXT)).text(language),
        )
    one = first.traceback
    assert one is not None  # noqa: S101 -- a Failure has one of the two
    said = [
        part
        for part in (one.exception, cut((one.message.splitlines() or [""])[0], _MOST_TEXT))
        if part
    ]
    return FirstFailure(one.source, one.where, one.exception_line, one.time, ": ".join(said))


def series_view(series: Series, failure: FirstFailure | None = None, beside: int = 1) -> SeriesView:
    """Give a series as the report shows it, one of so many, with all that is kept around the failure."""
    line = failure.line if failure is not None and failure.source == series.source else None
    first, last = (
        series.first or Point(math.nan, math.nan, 0),
        series.last or Point(math.nan, math.nan, 0),
    )
    bad = series.first_nonfinite
    has_finite = series.nonfinite < series.points
    return SeriesView(
        series.name,
        series.producer,
        series.source,
        series.where,
        series.unit,
        series.points,
        series.nonfinite,
        (whole(first.step), first.value),
        (whole(last.step), last.value),
        series.min if has_finite else None,
        series.max if has_finite else None,
        (whole(bad.step), bad.line) if bad else None,
        series.interleaved,
        tuple(
            (whole(point.step), point.value, point.line)
            for point in series.samples(min(_MOST_SAMPLES, _ALL_SAMPLES // beside), line)
        ),
    )


def known_numbers(gathered: Gathered, sources: Sequence[Source], done: Progress) -> dict[str, str]:
    """Collect what fixes may name beside the settings.

    The log, checkpoints, the largest printed rate.
    """
    rates = [
        series.max
        for series in gathered.series.values()
        if series.name == names.LEARNING_RATE and math.isfinite(series.max)
    ]
    found = {
        "log": next(
            (
                source.path
                for source in sources
                if source.kind in {"log", "notebook"} and source.path != STDIN
            ),
            "",
        ),
        "last_checkpoint": done.last_checkpoint or "",
        "good_checkpoint": done.resume_from or "",
        "checkpoint_before_first_bad": done.checkpoint_before_first_bad,
        "learning_rate": f"{max(rates):g}" if rates and max(rates) > 0 else "",
    }
    return {name: value for name, value in found.items() if value}


def captures_of(evidence: Sequence[Evidence], case: Case) -> dict[str, str]:
    """Give what the strongest signature of a cause has captured, under the names that fixes use."""
    strongest = next(
        (item for item in evidence if item.kind == "signature" and item.weight > 0), None
    )
    event = next(
        (
            event
            for event in case.events
            if strongest
            and event.finding.signature == strongest.id
            and event.finding.line == strongest.line
        ),
        None,
    )
    return {f"capture_{name}": value for name, value in event.finding.captures} if event else {}


def excerpt(
    gathered: Gathered, sources: Sequence[Source], failure: FirstFailure | None, case: Case
) -> Excerpt | None:
    """Give the raw lines around the first failure: kept ones, or read again.

    Without a failure, the end of the log.
    """
    if failure is not None:
        for kept in gathered.findings.values():
            for one in kept.first:
                lines = one.context[1].split("\n")
                begin = one.context[0]
                if (
                    begin
                    and one.finding.source == failure.source
                    and begin <= failure.line < begin + len(lines)
                ):
                    return Excerpt(
                        failure.source,
                        begin,
                        tuple(lines[:_MOST_LINES]),
                        _marked(case, failure, begin, len(lines)),
                    )
        again = (
            lines_around(sources[failure.source].path, failure.line)
            if failure.source < len(sources)
            else None
        )
        if again is not None:
            return Excerpt(
                failure.source,
                again[0],
                tuple(again[1]),
                _marked(case, failure, again[0], len(again[1])),
            )
    for source, (number, text) in gathered.tails.items():
        if text.strip():
            lines = text.rstrip("\n").split("\n")[-60:]
            begin = number + len(text.rstrip("\n").split("\n")) - len(lines)
            return Excerpt(source, begin, tuple(lines), ())
    return None


def _marked(case: Case, failure: FirstFailure, begin: int, count: int) -> tuple[int, ...]:
    lines = {
        event.finding.line
        for event in case.events
        if event.finding.source == failure.source and event.finding.role in {"cause", "consequence"}
    }
    return tuple(sorted(line for line in {*lines, failure.line} if begin <= line < begin + count))
