"""Detect a rank that is much slower than the others, which wait for it.

In: both ends of each source as text. Out: the anomaly `rank-slower`. Not here: one curve that
becomes slower (`detectors.speed`), a rank that stops altogether (`detectors.outlier_process`).

Programs print what each rank takes in two ways: all ranks on one line (Megatron: those at both ends
of their throughput), or a line a rank. What a rank spends in waiting for the others says the
opposite and is left out.
"""

import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import ProcessId
from postmortem.core.message import say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.reading.prefixes import clean

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
_RANK: Final = compile_lazily(r"\brank[ =:]{0,2}(?P<rank>\d{1,4})\b", re.IGNORECASE)


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
        named = _RANK.search(text)
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
