"""Train a model of text from folders of labelled logs.

In: folders. Out: the content of a model's file, and what it was made from. Not here: the steps
(`learn.samples`, `learn.fitting`, `learn.calibration`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from postmortem.core.errors import InputError
from postmortem.diagnosis.classifier.evidence_model import UNFITTED, serialize_evidence_model
from postmortem.diagnosis.classifier.text_model import Calibration, TextModel
from postmortem.learn.calibration import compute_shares, fit_calibration, iter_out_of_fold
from postmortem.learn.evidence_fit import EvidenceCase, collect_answers, fit_evidence_model
from postmortem.learn.fitting import fit_weights
from postmortem.learn.labelled_logs import list_labelled_cases
from postmortem.learn.model_extension import Lesson, count_cross_validated_hits, update_model
from postmortem.learn.samples import SampledLog, compute_first_half_buckets, fold_of, read_samples
from postmortem.pipeline import get_matcher

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
