"""Ask the model of curves where no figure decides by itself whether a run is sound.

In: the curves of one process, what else was found. Out: the anomalies of `patterns/anomalies` that
have a `curve_class`. Not here: the measures (`diagnosis.curves`), what a class means for a cause
(`patterns/causes`).

It is asked only of a run that shows no failure and no other anomaly that is bad
(`Observed.is_undecided`): what a log proves is not put to the vote.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from postmortem.core.message import say
from postmortem.diagnosis.curves.boosted_trees import SOUND, CurveModel
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.curve_features import compute_features
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.role_curves import RoleCurve, choose_role_curves

_FEWEST: Final = 4
"""Records of a judged curve below which no curve is judged."""
_SURE: Final = 0.8
"""Share of all faults together from which on the likeliest of them is said.

Set on sound logs of public repositories, none of which is in the training set (MODEL_CARD.md).
"""


def detect_unsound_curves(
    observed: Observed, open_model: Callable[[], CurveModel]
) -> Iterator[Anomaly]:
    """Find curves that resemble those of runs with a silent fault."""
    curves = observed.curves
    roles = {
        role: chosen
        for role, chosen in choose_role_curves(curves).items()
        if curves.finite(chosen.name)
    }
    if max((curves.count(chosen.name) for chosen in roles.values()), default=0) < _FEWEST:
        return
    model = open_model()
    features = compute_features(curves, observed.facts)
    shares = model.compute_shares(features)
    doubt = 1.0 - shares.pop(SOUND, 1.0)
    best = max(shares, key=shares.__getitem__)
    kinds = [kind for kind in observed.anomaly_types.values() if kind.curve_class == best]
    if not kinds or doubt < _SURE:
        return
    yield _build_anomaly(curves, kinds[0].id, _find_telling_role(model, features, best, roles))


def _find_telling_role(
    model: CurveModel, features: Mapping[str, float], best: str, roles: Mapping[str, RoleCurve]
) -> RoleCurve:
    """Give the curve whose measures moved the model most."""
    pulls = dict.fromkeys(roles, 0.0)
    for name, pull in model.compute_pulls(features, best).items():
        role = {"losses": "eval_loss", "scores": "eval_score"}.get(
            name.split(".")[0], name.split(".")[0]
        )
        if role in pulls:
            pulls[role] += pull
    return roles[max(pulls, key=pulls.__getitem__)]


def _build_anomaly(curves: Curves, name: str, role: RoleCurve) -> Anomaly:
    """Tell the course of a curve, and the line from which on it is no longer better."""
    points = curves.finite(role.name)
    choose = max if role.is_higher_better else min
    best = choose(points, key=lambda point: point.value)
    message = say(
        "{name} {first:.4g} at first, {best:.4g} at best, {last:.4g} at last, {count} records",
        "{name} 开始时为 {first:.4g}，最好 {best:.4g}，最后 {last:.4g}，共 {count} 条记录",
        name=role.name,
        first=points[0].value,
        best=best.value,
        last=points[-1].value,
        count=len(points),
    )
    return curves.shape(name, message, best.line)
