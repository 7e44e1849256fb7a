"""Find the anomalies that `patterns/anomalies` states as bounds of features.

In: the curves of one process. Out: the anomalies with a `when` whose bounds are kept. Not here: the
features (`detectors.curve_features`), what no bound decides (`detectors.unsound_curves`).
"""

from collections.abc import Iterator, Mapping
from typing import Final

from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.curve_features import compute_features
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.role_curves import RoleCurve, choose_role_curves
from postmortem.rules.anomaly_type import AnomalyType, FeatureCondition

_FEWEST: Final = 4
"""Records of a curve below which no curve is judged."""


def choose_judged_curves(curves: Curves) -> dict[str, RoleCurve]:
    """Choose the curves with finite values by their roles; none if all of them are too short."""
    roles = {
        role: chosen
        for role, chosen in choose_role_curves(curves).items()
        if curves.finite(chosen.name)
    }
    most = max((curves.count(chosen.name) for chosen in roles.values()), default=0)
    return roles if most >= _FEWEST else {}


def detect_curve_conditions(observed: Observed) -> Iterator[Anomaly]:
    """Find curves whose features keep the bounds of an anomaly."""
    kinds = [kind for kind in observed.anomaly_types.values() if kind.when]
    roles = choose_judged_curves(observed.curves)
    if not kinds or not roles:
        return
    features = compute_features(observed.curves, observed.facts)
    for kind in kinds:
        held = _find_condition(kind, features, roles)
        if held is not None:
            yield describe_course(observed.curves, kind.id, roles[held.role])


def _find_condition(
    kind: AnomalyType, features: Mapping[str, float], roles: Mapping[str, RoleCurve]
) -> FeatureCondition | None:
    return next((one for one in kind.when if one.role in roles and one.holds(features)), None)


def describe_course(curves: Curves, name: str, role: RoleCurve) -> Anomaly:
    """Tell the course of a curve, and the line from which on it is no longer better."""
    points = curves.finite(role.name)
    choose = max if role.is_higher_better else min
    best = choose(points, key=lambda point: point.value)
    message = say(
        "{name} {first:.4g} at first, {best:.4g} at best, {last:.4g} at last, {count} records",
        name=role.name,
        first=points[0].value,
        best=best.value,
        last=points[-1].value,
        count=len(points),
    )
    return curves.shape(name, message, best.line)
