"""Tell which lists of figures are curves: the history of a run.

In: the arrays and rows of a text (`formats.arrays`), what names of metrics mean. Out: `Curve`s, or
a record for each row. Not here: files and logs that hold them (`extraction.run_files`,
`extraction.multiline`).

Predictions, weights and token ids are lists of figures, too. Of a history one list has the name of
a metric and others beside it are as long; or it stands alone and its name leaves no doubt.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.findings import NOWHERE
from postmortem.core.log_text import compile_lazily
from postmortem.extraction.formats.arrays import (
    Document,
    FigureArray,
    FigureRow,
    parse_arrays,
)
from postmortem.extraction.formats.csv_metrics import list_metric_names
from postmortem.extraction.formats.record_parts import normalise_metric_name
from postmortem.extraction.formats.records import Curve, Record, RecordLists
from postmortem.rules.vocabulary import MetricTable

_OBJECTIVES: Final = (
    "loss", "accuracy", "reward", "mean-reward", "value-error", "perplexity",
)  # fmt: skip
"""Classes of metrics of which one list is a curve, whatever stands beside it."""
_SCORES: Final = (
    "top-accuracy", "agreement", "detection", "error-rate", "error-share", "likeness", "distance",
    "adversarial",
)  # fmt: skip
"""Those of which it is one where another list is as long."""
_NO_CURVE: Final = compile_lazily(
    r"(?:^|[\W_])(?:per(?!_epoch)|by|each|class(?:es|wise)?|confusion|matri(?:x|ces)|thresh\w*|bins?"
    r"|weights?|coef\w*|scales?|ratios?|labels?|pred(?:s|ict\w*)?|targets?|logits?|probs?\w*|ids?"
    r"|tokens?|ci|intervals?|bounds?|quantiles?|percentiles?|fpr|tpr|indices|fn|names?|config|args"
    r"|samples?|hist(?:ogram)?_bins|sorted|importances?|milestones?|schedule|candidates)(?:$|[\W_])",
    re.IGNORECASE,
)
"""Words of what a list tells of something else than the course of a run."""
_OF_FOLDS: Final = compile_lazily(r"(?:^|[\W_])(?:folds?|cv)(?:$|[\W_])", re.IGNORECASE)
"""The same of a list that holds a figure of each training."""
_ENDING: Final = compile_lazily(
    r"(?<=[A-Za-z])[_ -](?:history|hist|list|lst|values?|vals|curve|log|logs|array|arr|all"
    r"|per_epoch|track(?:er)?|over_(?:time|epochs))$",
    re.IGNORECASE,
)
"""What a name says of being a list."""
_PLACES: Final = compile_lazily(
    r"(?:(?:val|valid|validation|eval|test|train)_)?(?:(?P<epoch>epochs?)|(?:global_?|train_?|total_?|env_?|time_?)?steps?|timesteps?"
    r"|iter(?:ation)?s?|episodes?|updates?|rounds?)(?:_(?:list|history|hist|log|num\w{0,3}))?$",
    re.IGNORECASE,
)
_KEY: Final = compile_lazily(r"(?:(?P<kind>[A-Za-z]{1,12})[ _-]?)?(?P<number>\d{1,9})$")
"""A number under which a row stands: `12`, `epoch_12`."""
_SPLIT: Final = compile_lazily(
    r"(?:^|[\W_])(?:val(?:id(?:ation)?)?|test(?:ing)?|dev|eval(?:uation)?|train(?:ing)?)(?:$|[\W_])",
    re.IGNORECASE,
)
_MAY_BE: Final = compile_lazily(
    r"\s{0,80}(?:\{\s{0,80}[\"'][^\"'\n]{0,80}[\"']\s?:|\[\s{0,80}\{\s{0,80}[\"'])"
)
"""How a mapping begins, or a list of them."""
_WRAPPER: Final = compile_lazily(
    r"(?:training_?)?(?:history|logs?|metrics|results|curves|data|stats|records)$", re.IGNORECASE
)
_SPLIT_WORD: Final = compile_lazily(r"(?:val|test|dev|eval|train)", re.IGNORECASE)
_FEWEST, _FEWEST_ALONE, _FEWEST_ROWS = 2, 3, 2
_NEARLY: Final = 1
"""Entries by which one list is longer than another where a run was stopped between the two."""


def select_curves(arrays: Sequence[FigureArray], metrics: MetricTable) -> list[Curve]:
    """Select the curves among the lists of a text, those of one name joined."""
    called = list(zip(_name_arrays(arrays, metrics), arrays, strict=True))
    lengths = Counter((found.path[:-1], found.length) for found in arrays)
    leaders = [
        (found.path[:-1], found.length)
        for name, found in called
        if _is_objective(name, found, metrics, lengths)
    ]
    if not leaders:
        return []
    curves, lists_of_places = (
        list[Curve](),
        [(kind, found) for _, found in called if (kind := _get_place_kind(found)) and found.values],
    )
    for name, found in called:
        if _get_place_kind(found) is None and _is_companion(found, name, leaders):
            steps = _find_steps(found, lists_of_places)
            curves.append(Curve(normalise_metric_name(name), steps, found.values, found.lines))
    return [*_iter_epochs(lists_of_places, leaders), *curves]


def _name_arrays(arrays: Sequence[FigureArray], metrics: MetricTable) -> list[str]:
    """Name lists by the keys that lead to them.

    Without those that lead to all or tell nothing, and numbers of folds and runs: these are
    trainings one behind the other.
    """
    heads = [found.path[:-1] for found in arrays if _get_place_kind(found) is None]
    common = 0
    for key, *others in itertools.zip_longest(*heads):
        if key is None or set(others) - {key} or _SPLIT.search(key) or metrics.classify(key):
            break
        common += 1
    return [
        "/".join(
            (
                *(key for key in found.path[common:-1] if not _is_without_name(key)),
                _ENDING.sub("", "_".join(found.path[-1].split())),
            )
        )
        for found in arrays
    ]


def _is_without_name(key: str) -> bool:
    """Say whether a key numbers a training of several, or says that it leads to a history."""
    is_number = _KEY.match(key) is not None and _SPLIT_WORD.match(key) is None
    return is_number or _WRAPPER.match(key) is not None


def _is_objective(
    name: str,
    found: FigureArray,
    metrics: MetricTable,
    lengths: Counter[tuple[tuple[str, ...], int]],
) -> bool:
    """Say whether a list is a curve by itself, or with those that are as long."""
    is_other = _NO_CURVE.search("/".join(found.path)) or _OF_FOLDS.search(found.path[-1])
    if found.length < _FEWEST or is_other:
        return False
    is_alone = lengths[found.path[:-1], found.length] == 1
    if is_alone:
        return found.length >= _FEWEST_ALONE and metrics.is_any(name, *_OBJECTIVES)
    return metrics.is_any(name, *_OBJECTIVES, *_SCORES)


def _is_companion(
    found: FigureArray, name: str, leaders: Sequence[tuple[tuple[str, ...], int]]
) -> bool:
    """Say whether a list stands beside one that is a curve, and is as long."""
    return (
        found.length >= _FEWEST
        and len(found.values) > 0
        and not _NO_CURVE.search(name)
        and any(
            path[: len(found.path) - 1] == found.path[:-1]
            and abs(length - found.length) <= (_NEARLY if len(path) == len(found.path) - 1 else 0)
            for path, length in leaders
        )
    )


def _get_place_kind(found: FigureArray) -> str | None:
    """Say what a list counts where it tells the places of others; None if it does not."""
    named = _PLACES.match(found.path[-1])
    if named is None or any(b < a for a, b in itertools.pairwise(found.values)):
        return None
    return names.EPOCH if named["epoch"] else "step"


def _find_steps(found: FigureArray, places: Sequence[tuple[str, FigureArray]]) -> Sequence[float]:
    """Give the places of figures: those of a list beside them, else their number in their own."""
    for _, other in places:
        is_above = found.path[: len(other.path) - 1] == other.path[:-1]
        if is_above and other.length == found.length == len(other.values):
            return [other.values[place - 1] for place in found.places]
    return [float(place) for place in found.places]


def _iter_epochs(
    places: Sequence[tuple[str, FigureArray]], leaders: Sequence[tuple[tuple[str, ...], int]]
) -> Iterator[Curve]:
    """Yield the lists of epochs of the curves."""
    for kind, found in places:
        if kind == names.EPOCH and any(
            path[: len(found.path) - 1] == found.path[:-1] and length == found.length
            for path, length in leaders
        ):
            yield Curve(names.EPOCH, found.values, found.values, found.lines)


def select_records(rows: Sequence[FigureRow], metrics: MetricTable) -> list[tuple[Record, int]]:
    """Make a record of each row of the largest list of rows that name a metric."""
    lists = dict[tuple[str, ...], list[FigureRow]]()
    for row in rows:
        if not row.key or _KEY.match(row.key):
            lists.setdefault(row.path, []).append(row)
    found = max(lists.values(), key=len, default=[])
    counts = Counter(name for row in found for name in row.values)
    called = dict(zip(counts, list_metric_names(list(counts)), strict=True))
    usual = [called[name] or name for name, count in counts.items() if 2 * count >= len(found)]
    if len(found) < _FEWEST_ROWS or not (
        _name_metric(usual, metrics) and _are_placed(found, called)
    ):
        return []
    is_on_one_line = found[0].line == found[-1].line
    return [_build_record(row, called, is_on_one_line=is_on_one_line) for row in found]


def _name_metric(columns: Iterable[str], metrics: MetricTable) -> bool:
    """Say whether one of the columns of most rows is a metric."""
    return any(
        metrics.is_any(name, *_OBJECTIVES) and not _NO_CURVE.search(name) for name in columns
    )


def _are_placed(rows: Sequence[FigureRow], called: dict[str, str]) -> bool:
    """Say whether rows tell where in the run they stand: a list of other things does not."""
    if rows[0].key:
        return True
    placed = sum(any(called[name] in {"step", names.EPOCH} for name in row.values) for row in rows)
    return 2 * placed >= len(rows)


def _build_record(
    row: FigureRow, called: dict[str, str], *, is_on_one_line: bool
) -> tuple[Record, int]:
    values = {called[name]: value for name, value in reversed(row.values.items()) if called[name]}
    step = values.pop("step", math.nan)
    key = _KEY.match(row.key) if row.key else None
    if key is not None and math.isnan(step) and names.EPOCH not in values:
        values[names.EPOCH] = float(key["number"])
    if is_on_one_line and math.isnan(step):
        step = values.get(names.EPOCH, math.nan)
    return Record(step, list(values.items())[::-1], NOWHERE), row.line


def is_history(head: str, metrics: MetricTable) -> bool:
    """Say whether a file that begins like this is the history of a run and nothing else."""
    if _MAY_BE.match(head) is None:
        return False
    document = parse_arrays(head)
    return document.is_whole and any(True for _ in iter_records(document, metrics))


def iter_records(
    document: Document, metrics: MetricTable
) -> Iterator[tuple[Record, int] | RecordLists]:
    """Yield the curves of a text, or the records of its rows where they are the history."""
    curves = select_curves(document.arrays, metrics)
    if curves:
        yield RecordLists(curves)
    else:
        yield from select_records(document.rows, metrics)
