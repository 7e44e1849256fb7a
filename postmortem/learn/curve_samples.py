"""Measure the curves of labelled logs for the model of curves.

In: folders of labelled logs. Out: `CurveSample`s. Not here: the measures (`diagnosis.curves`),
fitting (`learn.curve_fitting`).

Beside the fields of every label (`learn.labelled_logs`) those of the lab have `task`, the training
that was executed, `fault`, and `answer`, what the printed figures let an observer say. A fault that
they do not show teaches nothing: neither that it looks sound, nor what it looks like.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import yaml

from postmortem.core.errors import InputError
from postmortem.diagnosis.case import attempts
from postmortem.diagnosis.curves.boosted_trees import SOUND
from postmortem.diagnosis.detectors.curve_features import compute_features
from postmortem.diagnosis.detectors.observed import build_observed
from postmortem.diagnosis.detectors.registry import view_main_process
from postmortem.extraction.extract import Extract
from postmortem.extraction.job import read
from postmortem.learn.curve_fitting import CurveSample
from postmortem.learn.labelled_logs import LabelledLog, list_labelled_cases
from postmortem.pipeline import get_matcher
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.traits import Trait, has_trait


def read_curve_samples(
    folders: Sequence[Path], *, weight: float = 1.0, patterns: Sequence[Path] = ()
) -> Iterator[CurveSample]:
    """Yield a sample of each labelled log that has curves and whose class the model can tell.

    Raises:
        InputError: a folder holds no label, or a label is wrong.
    """
    machine = get_matcher(tuple(patterns))
    classes = {kind.curve_class for kind in machine.knowledge.anomalies.values()}
    for label in list_labelled_cases(folders):
        details = _read_details(label)
        cause = str(details.get("answer") or label.cause)
        answer = SOUND if has_trait(cause, Trait.SOUND) else cause
        is_hidden = bool(details.get("fault")) and answer == SOUND
        if label.is_held_out or is_hidden or (answer != SOUND and answer not in classes):
            continue
        try:
            extract = read([label.log], machine)
        except InputError:
            continue  # nothing in it is a log's: there are no curves either
        features = measure_last_attempt(extract, machine.knowledge)
        if features is not None:
            yield CurveSample(features, answer, str(details.get("task") or label.group), weight)


def measure_last_attempt(extract: Extract, knowledge: KnowledgeBase) -> dict[str, float] | None:
    """Measure the curves of the main process in the last attempt; None where there are none."""
    spans = attempts.list_spans(extract)
    number = attempts.choose_attempt(spans, None)
    part, begins = attempts.select_attempt(extract, spans, number)
    view = view_main_process(build_observed(part, (), begins, knowledge))
    return None if view is None else compute_features(view.curves, view.facts)


def list_feature_names(samples: Iterable[CurveSample]) -> list[str]:
    """List the names of all features, in order."""
    return sorted({name for sample in samples for name in sample.features})


def _read_details(label: LabelledLog) -> dict[str, object]:
    """Give the fields of a label that only runs of the lab have."""
    path = label.log.with_name(label.log.name.split(".")[0] + ".yaml")
    content = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None
    return content if isinstance(content, dict) else {}
