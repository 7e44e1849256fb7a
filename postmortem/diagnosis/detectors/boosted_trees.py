"""A model of boosted trees in one JSON file, evaluated without any library.

In: the path of a model, features by name. Out: the share of each class, and which features carried
it. Not here: the features (`detectors.curve_features`), fitting (`learn.curve_fitting`), what
follows for the verdict (`detectors.curve_features`).

A tree is a list of nodes, the root first: the index of its feature (-1 in a leaf), its threshold,
the index of the node for values up to the threshold, of the one for larger values, the side that a
feature without a value takes (0 or 1), and what the tree would answer here. The answers of the
nodes on a way down say how much each feature moved the answer.
"""

import functools
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import xxhash

from postmortem.core.errors import InputError
from postmortem.core.message import say

FORMAT: Final = 1
SOUND: Final = "sound"
"""The class of a run without a fault."""
_DEEPEST: Final = 64


class Node(NamedTuple):
    """A question, or an answer."""

    feature: int
    """Index of the feature; -1 in a leaf."""
    threshold: float
    below: int
    above: int
    missing_above: bool
    value: float
    """In log-odds: of a leaf what is added, of another node what is known up to here."""


Tree = Sequence[Node]


class CurveModel(NamedTuple):
    """A model that has been opened."""

    digest: str
    classes: Sequence[str]
    features: Sequence[str]
    base: Sequence[float]
    """The log-odds of each class before any tree is asked."""
    sharpness: float
    """By which log-odds are multiplied before they become shares; fitted on held-out tasks."""
    trees: Sequence[Sequence[Tree]]
    """By class."""

    def compute_shares(self, features: Mapping[str, float]) -> dict[str, float]:
        """Give the share of each class; they add up to one."""
        values = [features.get(name, math.nan) for name in self.features]
        scores = [
            self.sharpness * (base + math.fsum(_find_leaf(tree, values).value for tree in trees))
            for base, trees in zip(self.base, self.trees, strict=True)
        ]
        highest = max(scores)
        raised = [math.exp(score - highest) for score in scores]
        whole = sum(raised)
        return {one: share / whole for one, share in zip(self.classes, raised, strict=True)}

    def compute_pulls(self, features: Mapping[str, float], one: str) -> dict[str, float]:
        """Give by how much each feature moved the log-odds of a class."""
        values = [features.get(name, math.nan) for name in self.features]
        pulls: defaultdict[str, float] = defaultdict(float)
        for tree in self.trees[self.classes.index(one)]:
            node = tree[0]
            while node.feature >= 0:
                following = tree[_choose(node, values[node.feature])]
                pulls[self.features[node.feature]] += following.value - node.value
                node = following
        return dict(pulls)


def _find_leaf(tree: Tree, values: Sequence[float]) -> Node:
    node = tree[0]
    while node.feature >= 0:
        node = tree[_choose(node, values[node.feature])]
    return node


def _choose(node: Node, value: float) -> int:
    """Give the index of the next node."""
    is_above = node.missing_above if math.isnan(value) else value > node.threshold
    return node.above if is_above else node.below


@functools.lru_cache(maxsize=4)
def load_curve_model(path: Path) -> CurveModel:
    """Open a model.

    Raises:
        InputError: there is none, or it is damaged.
    """
    try:
        data = path.read_bytes()
        return _parse(json.loads(data), xxhash.xxh3_128_hexdigest(data))
    except OSError as error:
        raise _build_input_error(path, error.strerror or str(error)) from error
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _build_input_error(path, "it is no model of this program, or damaged") from error


def serialize_curve_model(model: CurveModel) -> bytes:
    """Give the content of a model's file."""
    content = {
        "format": FORMAT,
        "classes": list(model.classes),
        "features": list(model.features),
        "base": list(model.base),
        "sharpness": model.sharpness,
        "trees": [
            [[[*node[:4], int(node[4]), node[5]] for node in tree] for tree in trees]
            for trees in model.trees
        ],
    }
    return json.dumps(content, separators=(",", ":")).encode("utf-8")


def _parse(content: Mapping[str, Any], digest: str) -> CurveModel:
    if content["format"] != FORMAT:
        raise ValueError(content["format"])
    classes, features = list(map(str, content["classes"])), list(map(str, content["features"]))
    base = [float(value) for value in content["base"]]
    trees = [[_parse_tree(tree, len(features)) for tree in trees] for trees in content["trees"]]
    if not len(classes) == len(base) == len(trees) > 1:
        raise ValueError(classes)
    return CurveModel(digest, classes, features, base, float(content["sharpness"]), trees)


def _parse_tree(rows: Sequence[Sequence[Any]], count: int) -> Tree:
    """Give a tree whose ways all lead down to a leaf."""
    nodes = [
        Node(int(row[0]), float(row[1]), int(row[2]), int(row[3]), bool(row[4]), float(row[5]))
        for row in rows
    ]
    for index, node in enumerate(nodes):
        is_leaf = node.feature < 0
        if not is_leaf and not (
            node.feature < count and index < node.below < len(nodes) > node.above > index
        ):
            raise ValueError(node)
    if not nodes or len(nodes) > 2**_DEEPEST:
        raise ValueError(len(nodes))
    return nodes


def _build_input_error(path: Path, why: str) -> InputError:
    return InputError(
        say("the model of curves cannot be used: {why}", why=why),
        path,
        "install the package again, or leave the models out with --no-model",
    )
