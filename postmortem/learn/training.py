"""Train a model of text from folders of labelled logs.

In: folders. Out: the content of a model's file, and what it was made from. Not here: the steps
(`learn.samples`, `learn.fitting`, `learn.calibrating`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from postmortem.classify.evidence_model import UNFITTED, packed_evidence
from postmortem.classify.text_model import Calibration, TextModel
from postmortem.errors import InputError
from postmortem.learn.believing import Answered, answered, fitted_evidence
from postmortem.learn.calibrating import calibrated, shares_of, unseen
from postmortem.learn.extending import Lesson, extended, named_when_left_out
from postmortem.learn.fitting import fitted
from postmortem.learn.labelled import labelled_in
from postmortem.learn.samples import Sampled, beginnings, fold_of, sampled
from postmortem.pipeline import machine_for

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


def added(
    base: TextModel, folders: Sequence[Path], *, patterns: Sequence[Path] = (), seed: int = 0
) -> Trained:
    """Teach a model the labelled logs of a user's own; it keeps what it knows.

    Raises:
        InputError: a label is wrong, or something cannot be read.
    """
    samples = _samples(folders, patterns)
    lesson = Lesson(samples, beginnings(samples, patterns), seed)
    content, named = extended(base, lesson), named_when_left_out(base, lesson)
    return Trained(content, len(samples), _count(samples, "cause"), _count(samples, "group"), named)


def _samples(folders: Sequence[Path], patterns: Sequence[Path]) -> list[Sampled]:
    """Read the labelled logs that may be trained on."""
    known = machine_for(tuple(patterns)).knowledge.causes
    labels = [label for label in labelled_in(folders, known) if not label.is_held_out]
    samples = [sample for sample in sampled(labels, patterns) if sample.filled]
    if not samples:
        told = ", ".join(map(str, folders))
        raise InputError("no labelled log says anything", told, "label logs of failed runs")
    return samples


def trained(folders: Sequence[Path], *, patterns: Sequence[Path] = (), seed: int = 0) -> Trained:
    """Train on all cases of folders but those that are held out.

    Raises:
        InputError: there are too few cases, or something cannot be read.
    """
    samples = _samples(folders, patterns)
    if _count(samples, "cause") < _FEWEST:
        told = ", ".join(map(str, folders))
        raise InputError(
            "a model needs logs of two causes at least",
            told,
            "label more logs, or teach the package's model: postmortem train --add DIR",
        )
    pairs = list(unseen(samples, samples, FOLDS, seed))
    calibration = calibrated(pairs)
    content = fitted(samples, seed).packed(calibration)
    evidence = fitted_evidence(_answers(pairs, calibration, patterns))
    return Trained(
        content,
        len(samples),
        _count(samples, "cause"),
        _count(samples, "group"),
        evidence=packed_evidence(evidence),
    )


def _answers(
    pairs: Sequence[tuple[Sampled, TextModel]], calibration: Calibration, patterns: Sequence[Path]
) -> list[Answered]:
    heard = ((sample, shares_of(sample, model, calibration)) for sample, model in pairs)
    return answered(heard, machine_for(tuple(patterns)).knowledge)


def _count(samples: Sequence[Sampled], field: str) -> int:
    return len({getattr(sample.label, field) for sample in samples})


def cross_fitted(
    folders: Sequence[Path],
    wanted: Sequence[Sampled],
    *,
    patterns: Sequence[Path] = (),
    seed: int = 0,
) -> Iterator[tuple[Sampled, TextModel]]:
    """Give each wanted case with models that have seen no case of its group.

    The three figures of the calibration are of all cases that were trained on.
    """
    samples = _samples(folders, patterns)
    pairs = list(unseen(samples, samples, FOLDS, seed))
    calibration = calibrated(pairs)
    rows, fold, evidence = _answers(pairs, calibration, patterns), -1, UNFITTED
    for sample, model in unseen(samples, wanted, FOLDS, seed):
        if sample.fold(FOLDS) != fold:
            fold = sample.fold(FOLDS)
            evidence = fitted_evidence([row for row in rows if fold_of(row.group, FOLDS) != fold])
        yield sample, model._replace(calibration=calibration, evidence=evidence)
