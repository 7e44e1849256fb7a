"""Fit a model of curves to the features of labelled runs.

In: folders of labelled logs; features, classes, groups. Out: `CurveSample`s, a `CurveModel`. Not
here: the features (`diagnosis.detectors.curve_features`).

Gradient boosting with a histogram of each feature, since it takes missing values as they are and
few hundred runs serve it; the trees are few and shallow, so that the file stays small.

Beside the fields of every label (`learn.labelled_logs`) those of the lab have `task`, the training
that was executed, `fault`, and `answer`, what the printed figures let an observer say. A fault that
they do not show teaches nothing: neither that it looks sound, nor what it looks like.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import yaml
from sklearn.ensemble import HistGradientBoostingClassifier

from postmortem.core.errors import InputError
from postmortem.diagnosis.case import attempts
from postmortem.diagnosis.detectors.boosted_trees import SOUND, CurveModel, Node, Tree
from postmortem.diagnosis.detectors.curve_features import compute_features
from postmortem.diagnosis.detectors.observed import build_observed
from postmortem.diagnosis.detectors.registry import view_main_process
from postmortem.extraction.extract import Extract
from postmortem.extraction.job import read
from postmortem.learn.labelled_logs import LabelledLog, list_labelled_cases
from postmortem.pipeline import get_matcher
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.vocabulary import Trait, has_trait

_ROUNDS: Final = 60
_LEAVES: Final = 8
_RATE: Final = 0.12
_LEAST_IN_LEAF: Final = 8
_VALUES: Final = 20
"""Different values from which on a feature is looked at."""


class CurveSample(NamedTuple):
    """A run: what was measured, and what it is an example of."""

    features: Mapping[str, float]
    answer: str
    group: str
    """A task of the lab, or a repository; runs of one group are never parted."""
    weight: float = 1.0


def fit_curve_model(
    samples: Sequence[CurveSample],
    features: Sequence[str],
    *,
    seed: int = 0,
    sharpness: float = 1.0,
    keep: Callable[[HistGradientBoostingClassifier], object] = id,
) -> CurveModel:
    """Fit a model.

    Features with few different values in these runs are left out.

    Args:
        samples: the runs.
        features: the names of features that are looked at.
        seed: of the choice of features at each node.
        sharpness: what the model's log-odds are to be multiplied by.
        keep: called with the library's own model.
    """
    table = build_table(samples, features)
    varied = [
        index for index in range(len(features)) if len(_list_values(table[:, index])) >= _VALUES
    ]
    table, features = table[:, varied], [features[index] for index in varied]
    answers = [sample.answer for sample in samples]
    weights = np.array([sample.weight for sample in samples])
    machine = HistGradientBoostingClassifier(
        learning_rate=_RATE,
        max_iter=_ROUNDS,
        max_leaf_nodes=_LEAVES,
        min_samples_leaf=_LEAST_IN_LEAF,
        l2_regularization=1.0,
        max_features=0.3,
        early_stopping=False,
        random_state=seed,
    )
    machine.fit(table, answers, sample_weight=weights / weights.mean())
    keep(machine)
    classes = [str(one) for one in machine.classes_]
    base = machine._baseline_prediction.ravel()  # noqa: SLF001 -- no public name for it
    rounds = machine._predictors  # noqa: SLF001 -- nor for the trees
    trees = [[_convert_tree(row[index].nodes) for row in rounds] for index in range(len(classes))]
    return CurveModel("", classes, list(features), _round_all(base), sharpness, trees)


def build_table(samples: Sequence[CurveSample], features: Sequence[str]) -> Any:
    """Give the features as an array of shape (runs, features), NaN where nothing tells."""
    return np.array(
        [[sample.features.get(name, np.nan) for name in features] for sample in samples], float
    )


def _list_values(column: Any) -> Any:
    return np.unique(column[~np.isnan(column)])


def _convert_tree(nodes: Any) -> Tree:
    """Give a tree of the library as nodes of ours; inner nodes tell what is known up to there."""
    return [
        Node(
            -1 if node["is_leaf"] else int(node["feature_idx"]),
            0.0 if node["is_leaf"] else float(f"{node['num_threshold']:.9g}"),
            int(node["left"]),
            int(node["right"]),
            not node["missing_go_to_left"],
            float(f"{node['value'] * (1 if node['is_leaf'] else _RATE):.5g}"),
        )
        for node in nodes
    ]


def _round_all(values: Any) -> list[float]:
    return [float(f"{value:.7g}") for value in values]


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
