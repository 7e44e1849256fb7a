"""Fit a model of curves to the features of labelled runs.

In: features, classes, groups. Out: a `CurveModel`. Not here: the features (`diagnosis.curves`),
reading the logs (`learn.curve_samples`).

Gradient boosting with a histogram of each feature, since it takes missing values as they are and
few hundred runs serve it; the trees are few and shallow, so that the file stays small.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from postmortem.diagnosis.curves.boosted_trees import CurveModel, Node, Tree

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
