"""Compare ranks by their curves and times: which went bad first, has more to do, or is slower.

In: the series of all processes, both ends of each source as text. Out: the anomalies
`one-rank-first`, also of ranks that are printed side by side on one line, `uneven-work`,
`rank-slower`. Not here: collectives, a rank that stops altogether (`detectors.collectives`), one
curve alone (`detectors.speed`).

Gradients are averaged over the ranks, so what one rank spoils reaches all of them one step later. A
rate too high, or weights that are broken, show on all ranks in the same step; bad data and a bad
device show on one rank first. And since ranks take each step together, a rank with more steps than
another waits in its next collective for one that has ended.

Programs print what each rank takes in two ways: all ranks on one line (Megatron: those at both ends
of their throughput), or a line a rank. What a rank spends in waiting for the others says the
opposite and is left out.
"""

import math
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.log_text import compile_lazily, compile_lazily_with_words
from postmortem.core.message import Message, join_list, say
from postmortem.diagnosis.detectors.observed import Anomaly, Curves, Observed, show
from postmortem.extraction.facts.series import Point, Series
from postmortem.reading.prefixes import clean, has_srun_labels

_NOT_TRAINING: Final = ("eval", "val", "test")
_MOST_NAMED: Final = 64
_MOST_SHOWN: Final = 8
_OF: Final = compile_lazily_with_words(
    "step iter batch",
    r"\b(?P<word>step|iter(?:ation)?|batch)\W{0,3}(?P<done>\d{1,9}) ?/ ?(?P<total>\d{1,9})\b",
    re.IGNORECASE,
)
_PLANNED: Final = compile_lazily_with_words(
    "step iter batch",
    r"\b(?:(?P<done>\d{1,9}) of )?(?P<total>\d{1,9}) (?P<word>step|iter(?:ation)?|batch)(?:e?s)?\b"
    r"(?= per | in | done|,|;|\.?$| each| this)",
    re.IGNORECASE,
)
"""The same in words: `769 batches per epoch`, `12 of 768 batches`."""


def detect_first_nonfinite_process(observed: Observed) -> Iterable[Anomaly]:
    """Find the one process whose training loss stops being finite before that of all the others."""
    by_name: dict[str, list[Series]] = defaultdict(list)
    for series in observed.series:
        if _is_loss_of_a_process(series):
            by_name[series.name].append(series)
    for members in by_name.values():
        anomaly = _compare_processes(members)
        if anomaly is not None:
            return [anomaly]
    return []


def _is_loss_of_a_process(series: Series) -> bool:
    """Say whether it is a training loss of a process that is known."""
    return (
        "loss" in series.name
        and not series.name.startswith(_NOT_TRAINING)
        and series.where != NOWHERE
        and series.points > 0
    )


def _compare_processes(members: Sequence[Series]) -> Anomaly | None:
    """Compare one series over its processes."""
    bad = [
        (curve.first_nonfinite, curve)
        for curve in members
        if curve.first_nonfinite is not None and not math.isnan(curve.first_nonfinite.step)
    ]
    if not bad:
        return None
    (point, first), *others = sorted(bad, key=lambda pair: pair[0].step)
    is_alone = all(other.step > point.step for other, _ in others)
    if not is_alone or not any(
        curve.last is not None and curve.last.step >= point.step
        for curve in members
        if curve is not first
    ):
        return None
    message = say(
        "{rank}: {name} {value} at step {step:g}; {rest}",
        rank=first.where.describe(),
        name=first.name,
        value=point.value,
        step=point.step,
        rest=_describe_others(members, first, others),
    )
    return Anomaly("one-rank-first", message, first.source, first.where, point.line)


def _format_processes(processes: Sequence[Message]) -> Message:
    """List processes; of a crowd the first ones, and how many more there are."""
    names, over = join_list([*processes[:_MOST_NAMED]]), len(processes) - _MOST_NAMED
    if over <= 0:
        return names
    return say("{names} and {over} more", names=names, over=over)


def _describe_others(
    members: Sequence[Series], first: Series, others: Sequence[tuple[Point, Series]]
) -> Message:
    """Say how the others fared."""
    steps = sorted({f"{point.step:g}" for point, _ in others}, key=float)
    names = _format_processes(
        [series.where.describe() for series in members if series is not first]
    )
    if steps:
        return say("{names}: from step {step} on", names=names, step=steps[0])
    return say("{names}: finite throughout", names=names)


class _Total(NamedTuple):
    """How many steps a process counts to, and where it says so."""

    steps: int
    source: int
    line: int


def detect_uneven_step_counts(observed: Observed) -> Iterable[Anomaly]:
    """Find processes that count to different numbers of steps."""
    for word, totals in _read_step_totals(observed).items():
        if len({total.steps for total in totals.values()}) > 1:
            ordered = sorted(totals.items(), key=lambda entry: entry[1].steps)
            counts = [
                say(
                    "{total} on {rank}",
                    total=total.steps,
                    rank=where.describe(),
                )
                for where, total in ordered[:_MOST_SHOWN]
            ]
            message = say(
                "{word} counts to {counts}",
                word=word,
                counts=join_list(counts),
            )
            where, most = max(totals.items(), key=lambda entry: entry[1].steps)
            return [Anomaly("uneven-work", message, most.source, where, most.line)]
    return []


def _read_step_totals(observed: Observed) -> Mapping[str, Mapping[ProcessId, _Total]]:
    """Read off the last lines of each source to how many steps, or batches, each process counts."""
    totals: dict[str, dict[ProcessId, _Total]] = defaultdict(dict)
    for source, own in observed.processes.items():
        begin, text = observed.tails[source]
        srun = has_srun_labels(text)
        for number, raw in enumerate(text.split("\n"), begin):
            if (match := _OF.search(raw) or _PLANNED.search(raw)) is None:
                continue
            where = clean(raw, srun=srun).where.filled(own)
            if where != NOWHERE:
                totals[match["word"].lower()][where] = _Total(int(match["total"]), source, number)
    return totals


_RANK_COLUMN: Final = compile_lazily(
    r"(?P<before>(?:\w{0,30}[_/.@ -])?)(?:r|rk|ranks?|gpu|cuda|dev(?:ice)?|replica|worker|dp)"
    r"[_:\[ -]?(?P<rank>\d{1,4})\]?(?P<behind>(?:[_/. -]\w{1,30})?)",
    re.IGNORECASE,
)
_FEWEST: Final = 2


def detect_first_nonfinite_rank(observed: Observed) -> Iterable[Anomaly]:
    """Find the one column of a rank that stops being finite before those of all others."""
    curves = observed.curves
    for members in _group_by_rank(curves):
        bad = sorted(
            (
                (curve.first_nonfinite, curve)
                for curve in members
                if curve.first_nonfinite is not None
            ),
            key=lambda pair: pair[0].line,
        )
        if not bad or len(members) < _FEWEST or not _has_later_peer(members, bad[0][0]):
            continue
        (point, first), *others = bad
        if others and others[0][0].line <= point.line:
            continue
        message = say(
            "{shown}; the {count} others are finite there",
            shown=say("{name} {shown}", name=first.name, shown=show(point)),
            count=len(members) - 1,
        )
        return [curves.shape("one-rank-first", message, point.line)]
    return []


def _group_by_rank(curves: Curves) -> list[list[Series]]:
    """Put the columns side by side whose names differ in the rank alone."""
    groups: dict[tuple[str, str], list[Series]] = defaultdict(list)
    for name in curves.called(_RANK_COLUMN):
        if match := _RANK_COLUMN.fullmatch(name):
            groups[match["before"], match["behind"]].append(curves.by_name[name])
    return list(groups.values())


def _has_later_peer(members: Iterable[Series], point: Point) -> bool:
    """Say whether another column has a figure as late as a point."""
    return any(
        curve.last is not None
        and curve.last.line >= point.line
        and curve.first_nonfinite is not point
        for curve in members
    )


_FEWEST_RANKS: Final = 4
_FEWEST_TIMES: Final = 3
_SLOWER: Final = 1.8
_ALIKE: Final = 1.4
_LONGEST: Final = 2000
_MOST_LINES: Final = 800
_NUMBER: Final = r"\d{1,9}(?:\.\d{1,9})?"
_RANKS: Final = compile_lazily(
    rf"(?:^|(?<=[|\d\n]))(?P<label>[^|\d\n]{{3,200}}?)\[?"
    rf"(?P<all>(?<![\d.])(?:[Rr](?:ank)?[ _]?)?0\s?[:=]\s?{_NUMBER}"
    rf"(?:[sm,; ]{{1,4}}(?:[Rr](?:ank)?[ _]?)?\d{{1,4}}\s?[:=]\s?{_NUMBER}){{3,64}})"
)
_PAIR: Final = compile_lazily(rf"(?P<rank>\d{{1,4}})\s?[:=]\s?(?P<value>{_NUMBER})")
_LIST: Final = compile_lazily(
    rf"(?:^|(?<=[|\d\n]))(?P<label>[^|\d\n]{{0,200}}?\branks?\b[^|\d\n\[]{{0,30}})"
    rf"\[(?P<all>{_NUMBER}(?:,? {_NUMBER}){{3,64}})\]"
)
_RATES: Final = compile_lazily(
    rf"(?:lowest|highest)\s+[^:\d]{{2,40}}:\s?"
    rf"(?P<all>{_NUMBER}/\d{{1,6}}(?:, ?{_NUMBER}/\d{{1,6}}){{1,64}})"
)
"""The figures of some ranks at both ends of an order, each in front of its rank."""
_FIELD: Final = compile_lazily(
    rf"(?<![A-Za-z_])(?P<name>[A-Za-z][A-Za-z_]{{1,30}})\s?[:=]?\s{{0,3}}(?P<value>{_NUMBER})\s?(?:s|ms|sec)\b"
)
_OWN_WORK: Final = compile_lazily(
    r"time|sec|\bms\b|comput|step|iter|fwd|bwd|forward|backward|fw\b|bw\b|gpu|kernel|opt",
    re.IGNORECASE,
)
_WAITS: Final = compile_lazily(
    r"wait|comm|sync|reduce|gather|barrier|idle|data|load|eta|elapsed|total|wall", re.IGNORECASE
)
_RANK_LABEL: Final = compile_lazily(r"\brank[ =:]{0,2}(?P<rank>\d{1,4})\b", re.IGNORECASE)


def detect_straggler(observed: Observed) -> Iterator[Anomaly]:
    """Find the one rank whose own work takes much longer in each of several records."""
    by_name: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    places: dict[int, tuple[int, int]] = {}
    for source, line, text in _iter_edge_lines(observed):
        for name, rank, value in (
            *_iter_rank_times(text),
            *_iter_own_times(observed, source, text),
        ):
            by_name[name][rank].append(value)
            places.setdefault(rank, (source, line))
    for name, ranks in by_name.items():
        found = _find_outlier(ranks)
        if found is not None:
            rank, own, usual = found
            source, line = places[rank]
            message = say(
                "rank {rank}: {name} {own:.4g}, the others {usual:.4g} (medians)",
                rank=rank,
                name=name,
                own=own,
                usual=usual,
            )
            yield Anomaly("rank-slower", message, source, ProcessId(rank=rank), line)
            return


def _iter_edge_lines(observed: Observed) -> Iterator[tuple[int, int, str]]:
    """Give the lines of both ends of each source."""
    for source in observed.tails:
        if source not in observed.snapshots:
            for number, line in observed.kept_lines(source)[-_MOST_LINES:]:
                yield source, number, line[:_LONGEST]


def _iter_rank_times(text: str) -> Iterator[tuple[str, int, float]]:
    """Yield the times of all ranks on a line."""
    yield from _iter_numbered_rank_values(text)
    if "Ranks" in text and (rates := _RATES.search(text)) is not None:
        pairs = (pair.split("/") for pair in rates["all"].split(","))
        yield from (
            ("1/throughput", int(rank), 1 / float(rate)) for rate, rank in pairs if float(rate)
        )
    if "rank" in text and (found := _LIST.search(text)) and _is_work(found["label"]):
        values = re.findall(_NUMBER, found["all"])
        yield from (
            (_normalize_label(found["label"]), rank, float(value))
            for rank, value in enumerate(values)
        )


def _iter_numbered_rank_values(text: str) -> Iterator[tuple[str, int, float]]:
    """Give the figures of all ranks that are printed with their numbers."""
    has_pairs = "0" in text and text.count(":") + text.count("=") >= _FEWEST_RANKS
    found = _RANKS.search(text) if has_pairs else None
    if found is not None and _is_work(found["label"]):
        pairs = [(int(pair["rank"]), float(pair["value"])) for pair in _PAIR.finditer(found["all"])]
        if [rank for rank, _ in pairs] == list(range(len(pairs))):
            yield from ((_normalize_label(found["label"]), rank, value) for rank, value in pairs)


def _iter_own_times(observed: Observed, source: int, text: str) -> Iterator[tuple[str, int, float]]:
    """Yield the times that a line gives for one rank."""
    if "s" not in text:
        return
    rank = clean(text).where.rank
    if rank is None:
        named = _RANK_LABEL.search(text)
        rank = int(named["rank"]) if named else observed.processes.get(source, ProcessId()).rank
    if rank is not None:
        for field in _FIELD.finditer(text):
            if _is_work(field["name"]):
                yield field["name"], rank, float(field["value"])


def _is_work(label: str) -> bool:
    return _OWN_WORK.search(label) is not None and _WAITS.search(label) is None


def _normalize_label(label: str) -> str:
    return " ".join(label.strip(" :=-|,;[(").split())[-40:]


def _find_outlier(ranks: Mapping[int, Sequence[float]]) -> tuple[int, float, float] | None:
    """Give the one rank that takes much longer while all others are alike: rank, own, usual."""
    medians = {
        rank: statistics.median(values)
        for rank, values in ranks.items()
        if len(values) >= _FEWEST_TIMES
    }
    if len(medians) < _FEWEST_RANKS:
        return None
    worst = max(medians, key=lambda rank: medians[rank])
    others = [value for rank, value in medians.items() if rank != worst]
    usual = statistics.median(others)
    is_odd = usual > 0 and medians[worst] >= _SLOWER * usual and max(others) <= _ALIKE * min(others)
    is_always = min(ranks[worst]) > _ALIKE * usual
    return (worst, medians[worst], usual) if is_odd and is_always else None
