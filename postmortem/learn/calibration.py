"""Calibrate the shares of a text classifier on cases that it was not trained on.

In: sampled cases. Out: `Calibration`, and each case with a model that has not seen its group. Not
here: weights (`learn.fitting`), how far a verdict may be believed (`learn.evidence_fit`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression

from postmortem.diagnosis.classifier.text_model import Calibration, TextModel, parse_text_model
from postmortem.diagnosis.inference.belief import log_odds
from postmortem.learn.fitting import UNFITTED, fit_weights
from postmortem.learn.samples import SampledLog

_LEAST: Final = 1e-6


def iter_out_of_fold(
    train: Sequence[SampledLog], wanted: Sequence[SampledLog], folds: int, seed: int
) -> Iterator[tuple[SampledLog, TextModel]]:
    """Give each case with a model that was fitted without its group."""
    for fold in range(folds):
        held_out = [sample for sample in wanted if sample.fold(folds) == fold]
        rest = [sample for sample in train if sample.fold(folds) != fold]
        if held_out and len({sample.label.cause for sample in rest}) > 1:
            packed = fit_weights(rest, seed).pack(UNFITTED)
            model = parse_text_model(packed, Path("fold"))
            yield from ((sample, model) for sample in held_out)


def fit_calibration(pairs: Sequence[tuple[SampledLog, TextModel]]) -> Calibration:
    """Fit both parts of a calibration, the second on what the first gives."""
    usable = [pair for pair in pairs if pair[0].filled]
    if not usable:
        return UNFITTED  # all logs of a cause are of one origin: nothing can be left out
    sharp = UNFITTED._replace(sharpness=_fit_sharpness(usable))
    tops = [_compute_top_odds(sample, model, sharp) for sample, model in usable]
    return sharp._replace(alone=_fit_line(tops))


def compute_shares(
    sample: SampledLog, model: TextModel, calibration: Calibration
) -> dict[str, float]:
    """Give the share of each cause in what a case sounds like."""
    sharp = model._replace(calibration=calibration)
    return sharp.shares(sample.filled) if sample.filled else {}


def _fit_sharpness(pairs: Sequence[tuple[SampledLog, TextModel]]) -> float:
    """Find the factor under which the shares of right answers are the likeliest."""
    unit = UNFITTED._replace(sharpness=1.0)
    scores = []
    for sample, model in pairs:
        shares = compute_shares(sample, model, unit)
        scores.append(({cause: math.log(share) for cause, share in shares.items()}, sample))

    def surprise(factor: float) -> float:
        return sum(_compute_log_loss(odds, factor, sample.label.right) for odds, sample in scores)

    found = minimize_scalar(surprise, bounds=(0.5, 40.0), method="bounded")
    return round(float(found.x), 4)


def _compute_log_loss(odds: Mapping[str, float], factor: float, right: frozenset[str]) -> float:
    highest = max(odds.values())
    raised = {cause: math.exp(factor * (value - highest)) for cause, value in odds.items()}
    share = sum(raised.get(cause, 0.0) for cause in right) / sum(raised.values())
    return -math.log(max(share, _LEAST))


def _compute_top_odds(
    sample: SampledLog, model: TextModel, calibration: Calibration
) -> tuple[float, bool]:
    shares = compute_shares(sample, model, calibration)
    best = max(shares, key=lambda cause: shares[cause])
    return log_odds(shares[best]), best in sample.label.right


def _fit_line(tops: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """Fit log-odds to log-odds: shift and slope; unfitted without any miss."""
    hits = [hit for _, hit in tops]
    if len({*hits}) < 2:
        return 0.0, 1.0
    found: Any = LogisticRegression(C=1.0).fit([[odds] for odds, _ in tops], hits)
    return round(float(found.intercept_[0]), 4), round(float(found.coef_[0][0]), 4)
