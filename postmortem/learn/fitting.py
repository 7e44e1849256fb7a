"""Fit the weights of a model of text.

In: sampled cases. Out: the content of a model's file. Not here: its calibration
(`learn.calibration`), reading it (`classifier.text_model`).

A linear support vector machine, one cause against the rest; of weights and rarities bytes are kept.
Only hashes of words are in it. The same cases give the same bytes.
"""

import json
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import scipy.sparse
from safetensors.numpy import save
from sklearn.svm import LinearSVC

from postmortem.diagnosis.classifier.hashed_words import BITS, VERSION
from postmortem.diagnosis.classifier.text_model import FORMAT, META, Calibration, encode_rarity
from postmortem.learn.samples import SampledLog

UNFITTED: Final = Calibration(10.0, (0.0, 1.0))
_SOFTNESS: Final = 1.0


class Weights(NamedTuple):
    """What is fitted: bytes, and what makes figures of them."""

    causes: list[str]
    stored: Any
    scale: list[float]
    bias: list[float]
    rarity: Any
    own: Sequence[str] = ()
    """Causes that a user has taught."""

    def pack(self, calibration: Calibration) -> bytes:
        """Write them as safetensors; our part of the header is one entry, so its order is fixed."""
        meta = {
            "format": FORMAT,
            "features": VERSION,
            "bits": BITS,
            "causes": self.causes,
            "scale": self.scale,
            "bias": self.bias,
            "calibration": calibration._asdict(),
            **({"own": [*self.own]} if self.own else {}),
        }
        tensors = {"weights": self.stored, "rarity": self.rarity}
        return bytes(save(tensors, {META: json.dumps(meta, sort_keys=True)}))


def fit_weights(samples: Sequence[SampledLog], seed: int = 0) -> Weights:
    """Fit weights to cases, a cause counting as the square root of how many it has.

    If each counted as much as any other, what is common would be named far too seldom; if each case
    did, what is rare.
    """
    rarity = _compute_rarity(samples)
    machine = LinearSVC(C=_SOFTNESS, random_state=seed)
    causes_of = [sample.label.cause for sample in samples]
    many = Counter(causes_of)
    each = np.array([many[cause] ** -0.5 for cause in causes_of])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few cases do not converge; what is reached serves
        machine.fit(_build_matrix(samples, rarity), causes_of, sample_weight=each / each.mean())
    weights, bias = machine.coef_, machine.intercept_
    causes = [str(cause) for cause in machine.classes_]
    if len(causes) == 2:  # of two causes one row is kept
        weights, bias = np.vstack([-weights, weights]), np.hstack([-bias, bias])
    scale = np.maximum(np.abs(weights).max(axis=1), 1e-9) / 127
    stored = np.round(weights / scale[:, None]).astype(np.int8)
    return Weights(
        causes,
        np.ascontiguousarray(stored.T),
        [float(f"{value:.7g}") for value in scale],
        [float(f"{value:.7g}") for value in bias],
        rarity,
    )


def _compute_rarity(samples: Sequence[SampledLog]) -> Any:
    """Give each bucket the byte of how rare it is."""
    seen = np.zeros(1 << BITS)
    for sample in samples:
        seen[list(sample.filled)] += 1
    rare = np.log((1 + len(samples)) / (1 + seen)) + 1
    return np.array([encode_rarity(value) for value in rare], dtype=np.uint8)


def _build_matrix(samples: Sequence[SampledLog], rarity: Any) -> Any:
    columns = np.concatenate([list(sample.filled) for sample in samples]).astype(int)
    ends = np.cumsum([0, *(len(sample.filled) for sample in samples)])
    matrix = scipy.sparse.csr_matrix(
        (rarity[columns] / 16.0, columns, ends), shape=(len(samples), 1 << BITS)
    )
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1))).ravel()
    return scipy.sparse.diags(1 / np.maximum(length, 1e-9)) @ matrix
