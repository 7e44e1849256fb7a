"""Train a model of text from folders of labelled logs, or extend one with logs of the user's own.

In: folders; a model to extend. Out: the content of a model's file, and what it was made from. Not
here: the steps (`learn.samples`, `learn.fitting`), reading labels (`learn.labelled_logs`).

The logs that a model was trained on are not available. But it holds how rare each bucket was, and
which ones indicate a cause: logs drawn from these stand for all others, and so does the first half
of each log of the user's, where nothing had failed yet. A taught cause is separated from these; its
weights are added to those that it had, and all other causes keep theirs. The same cases and seed
give the same bytes.
"""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.svm import LinearSVC

from postmortem.core.errors import InputError
from postmortem.diagnosis.classifier.models import (
    RARITY_UNIT,
    UNFITTED,
    Calibration,
    TextModel,
    parse_text_model,
    serialize_evidence_model,
)
from postmortem.diagnosis.classifier.text_features import CIRCUMSTANCE, TextPassage
from postmortem.learn.fitting import (
    EvidenceCase,
    Weights,
    collect_answers,
    compute_shares,
    fit_calibration,
    fit_evidence_model,
    fit_weights,
    iter_out_of_fold,
)
from postmortem.learn.labelled_logs import list_labelled_cases
from postmortem.learn.samples import SampledLog, compute_first_half_buckets, fold_of, read_samples
from postmortem.pipeline import get_matcher

_DRAWN: Final = 600
"""Logs that stand for all others."""
_TELLING: Final = 40
"""Buckets of a cause that stand in a drawn log, out of the first ones that speak for it."""
_FIRST: Final = 200
_SOFTNESS: Final = 1.0
_TIMES: Final = 4
"""Times that a sound beginning counts as a drawn log: it is a real one."""
FOLDS_OF_EXTENSION: Final = 10


class Unpacked(NamedTuple):
    """A model as figures."""

    causes: list[str]
    weights: Any
    """A row for each cause."""
    bias: Any
    rarity: Any
    """Bytes, as they are stored."""


class Lesson(NamedTuple):
    """What a model is taught."""

    samples: Sequence[SampledLog]
    sound: Sequence[Mapping[int, TextPassage]]
    """What is worded like none of them: logs of these runs before anything failed."""
    seed: int = 0


def update_model(base: TextModel, lesson: Lesson) -> bytes:
    """Teach a model the causes of some cases."""
    return _fit_new_causes(base, lesson.samples, _draw_other_logs(base, lesson), lesson.seed)


def _fit_new_causes(
    base: TextModel, samples: Sequence[SampledLog], others: Any, seed: int
) -> bytes:
    model = _unpack_model(base)
    rows = scipy.sparse.vstack(
        [*(_build_row(_list_word_buckets(sample), model.rarity) for sample in samples), others]
    )
    causes, weights, bias = list(model.causes), model.weights, model.bias
    for cause in sorted({sample.label.cause for sample in samples}):
        hits = np.array(
            [sample.label.cause == cause for sample in samples] + [False] * others.shape[0]
        )
        row, shift = _fit_separator(rows, hits, seed)
        if cause in causes:
            place = causes.index(cause)
            weights[place] += row
            bias[place] += shift + 1.0  # what is surely another cause's keeps its score
        else:
            causes.append(cause)
            weights, bias = np.vstack([weights, row]), np.append(bias, shift)
    scale = np.maximum(np.abs(weights).max(axis=1), 1e-9) / 127
    stored = np.ascontiguousarray(np.round(weights / scale[:, None]).astype(np.int8).T)
    own = sorted({sample.label.cause for sample in samples} | base.own)
    scale, bias = _shorten_numbers(scale), _shorten_numbers(bias)
    return Weights(causes, stored, scale, bias, model.rarity, own).pack(base.calibration)


def _shorten_numbers(row: Any) -> list[float]:
    return [float(f"{value:.7g}") for value in row]


def _unpack_model(base: TextModel) -> Unpacked:
    stored = np.frombuffer(base.weights, dtype=np.int8).reshape(-1, len(base.causes))
    return Unpacked(
        list(base.causes),
        stored.T * np.array(base.scale)[:, None],
        np.array(base.bias),
        np.frombuffer(base.rarity, dtype=np.uint8),
    )


def _fit_separator(rows: Any, hits: Any, seed: int) -> tuple[Any, float]:
    """Part the logs of a cause from all others."""
    machine = LinearSVC(C=_SOFTNESS, class_weight="balanced", random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few cases do not converge; what is reached serves
        machine.fit(rows, hits)
    return machine.coef_[0], float(machine.intercept_[0])


def _draw_other_logs(base: TextModel, lesson: Lesson) -> Any:
    """Sample logs like those the model was trained on: common buckets and some typical of a cause.

    With them stand the sound beginnings.
    """
    model, chance = _unpack_model(base), np.random.default_rng(lesson.seed)
    rarity = model.rarity / RARITY_UNIT
    logs = math.exp(float(rarity.max()) - 1.0) - 1.0
    shares = np.clip((np.exp(1.0 - rarity) * (logs + 1.0) - 1.0) / max(logs, 1.0), 0.0, 1.0)
    first = [np.argsort(-row * rarity, kind="stable")[:_FIRST] for row in model.weights]
    drawn = [_build_row(sample, model.rarity) for sample in lesson.sound] * _TIMES
    for number in range(_DRAWN):
        common = np.flatnonzero(chance.random(len(shares)) < shares)
        telling = chance.choice(first[number % len(first)], _TELLING, replace=False)
        drawn.append(_build_row(np.union1d(common, telling), model.rarity))
    return scipy.sparse.vstack(drawn)


def _list_word_buckets(sample: SampledLog) -> list[int]:
    """Give the buckets of words: what else holds of a few runs is by chance."""
    return [place for place, passage in sample.filled.items() if passage.kind != CIRCUMSTANCE]


def _build_row(filled: Any, rarity: Any) -> Any:
    """Give a log as the model sees it: of length one."""
    places = np.array(sorted(filled), dtype=int)
    values = rarity[places] / RARITY_UNIT
    length = max(float(np.sqrt((values * values).sum())), 1e-9)
    return scipy.sparse.csr_matrix(
        (values / length, (np.zeros(len(places), dtype=int), places)), shape=(1, len(rarity))
    )


def count_cross_validated_hits(base: TextModel, lesson: Lesson) -> int:
    """Count the cases whose cause comes first in a model that was taught the others only."""
    samples, seed = lesson.samples, lesson.seed
    others, named = _draw_other_logs(base, lesson), 0
    folds = min(FOLDS_OF_EXTENSION, len(samples))
    for fold in range(folds):
        held_out = [sample for number, sample in enumerate(samples) if number % folds == fold]
        rest = [sample for number, sample in enumerate(samples) if number % folds != fold]
        if rest:
            model = parse_text_model(_fit_new_causes(base, rest, others, seed), Path("fold"))
            named += sum(_get_top_cause(model, sample) in sample.label.right for sample in held_out)
    return named


def _get_top_cause(model: TextModel, sample: SampledLog) -> str:
    shares = model.shares(sample.filled)
    return max(shares, key=lambda cause: shares[cause])


FOLDS: Final = 8
_FEWEST: Final = 2


class Trained(NamedTuple):
    """A model, and how many cases, causes and groups it was made from."""

    content: bytes
    cases: int
    causes: int
    groups: int
    named: int | None = None
    """Cases whose cause came first while they were left out; None where that was not asked."""
    evidence: bytes = b""
    """The content of the evidence model's file, where one was fitted."""


def train_incrementally(
    base: TextModel, folders: Sequence[Path], *, patterns: Sequence[Path] = (), seed: int = 0
) -> Trained:
    """Teach a model the labelled logs of a user's own; it keeps what it knows.

    Raises:
        InputError: a label is wrong, or something cannot be read.
    """
    samples = _read_training_samples(folders, patterns)
    lesson = Lesson(samples, compute_first_half_buckets(samples, patterns), seed)
    content, named = update_model(base, lesson), count_cross_validated_hits(base, lesson)
    return Trained(content, len(samples), _count(samples, "cause"), _count(samples, "group"), named)


def _read_training_samples(folders: Sequence[Path], patterns: Sequence[Path]) -> list[SampledLog]:
    """Read the labelled logs that may be trained on."""
    known = get_matcher(tuple(patterns)).knowledge.causes
    labels = [label for label in list_labelled_cases(folders, known) if not label.is_held_out]
    samples = [sample for sample in read_samples(labels, patterns) if sample.filled]
    if not samples:
        listed = ", ".join(map(str, folders))
        raise InputError("no labelled log says anything", listed, "label logs of failed runs")
    return samples


def train_model(
    folders: Sequence[Path], *, patterns: Sequence[Path] = (), seed: int = 0
) -> Trained:
    """Train on all cases of folders but those that are held out.

    Raises:
        InputError: there are too few cases, or something cannot be read.
    """
    samples = _read_training_samples(folders, patterns)
    if _count(samples, "cause") < _FEWEST:
        listed = ", ".join(map(str, folders))
        raise InputError(
            "a model needs logs of two causes at least",
            listed,
            "label more logs, or teach the package's model: postmortem train --add DIR",
        )
    pairs = list(iter_out_of_fold(samples, samples, FOLDS, seed))
    calibration = fit_calibration(pairs)
    content = fit_weights(samples, seed).pack(calibration)
    evidence = fit_evidence_model(_collect_answers(pairs, calibration, patterns))
    return Trained(
        content,
        len(samples),
        _count(samples, "cause"),
        _count(samples, "group"),
        evidence=serialize_evidence_model(evidence),
    )


def _collect_answers(
    pairs: Sequence[tuple[SampledLog, TextModel]],
    calibration: Calibration,
    patterns: Sequence[Path],
) -> list[EvidenceCase]:
    opinions = ((sample, compute_shares(sample, model, calibration)) for sample, model in pairs)
    return collect_answers(opinions, get_matcher(tuple(patterns)).knowledge)


def _count(samples: Sequence[SampledLog], field: str) -> int:
    return len({getattr(sample.label, field) for sample in samples})


def fit_across_folds(
    folders: Sequence[Path],
    wanted: Sequence[SampledLog],
    *,
    patterns: Sequence[Path] = (),
    seed: int = 0,
) -> Iterator[tuple[SampledLog, TextModel]]:
    """Give each wanted case with models that have seen no case of its group.

    The three figures of the calibration are of all cases that were trained on.
    """
    samples = _read_training_samples(folders, patterns)
    pairs = list(iter_out_of_fold(samples, samples, FOLDS, seed))
    calibration = fit_calibration(pairs)
    rows, fold, evidence = _collect_answers(pairs, calibration, patterns), -1, UNFITTED
    for sample, model in iter_out_of_fold(samples, wanted, FOLDS, seed):
        if sample.fold(FOLDS) != fold:
            fold = sample.fold(FOLDS)
            evidence = fit_evidence_model(
                [row for row in rows if fold_of(row.group, FOLDS) != fold]
            )
        yield sample, model._replace(calibration=calibration, evidence=evidence)
