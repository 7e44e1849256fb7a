"""Find the anomalies that `patterns/anomalies` states as bounds of features.

In: the curves of one process. Out: the anomalies with a `when` whose bounds are kept. Not here: the
features (`detectors.curve_features`), what no bound decides (`detectors.unsound_curves`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from postmortem.core import names
from postmortem.core.errors import PatternError
from postmortem.core.lines import NOWHERE
from postmortem.core.message import say
from postmortem.diagnosis.detectors.aligned import Curves
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.curve_features import compute_features
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.role_curves import RoleCurve, choose_role_curves
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.facts.series import Series
from postmortem.rules.anomaly_type import AnomalyType, FeatureCondition, build_anomaly_types

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
        "{name} 开始时为 {first:.4g}，最好 {best:.4g}，最后 {last:.4g}，共 {count} 条记录",
        name=role.name,
        first=points[0].value,
        best=best.value,
        last=points[-1].value,
        count=len(points),
    )
    return curves.shape(name, message, best.line)


def find_anomaly_errors(rows: Iterable[Mapping[str, Any]]) -> Iterator[PatternError]:
    """Yield a fault for each unknown feature, and each example that the bounds tell wrongly."""
    known = frozenset(compute_features(Curves(()), FactStore()))
    for row in rows:
        kind = build_anomaly_types([row])
        bounds = [*kind[row["id"]].when, *kind[row["id"]].contradicted_by]
        unknown = sorted({name for one in bounds for name in one.list_features()} - known)
        if unknown:
            yield PatternError(
                f"{row['id']}: no feature is called {unknown[0]!r}",
                str(row.get("file", "")),
                "name one of detectors/curve_features.py",
            )
        if unknown or not row.get("when"):
            continue
        for group, is_meant in (("shows", True), ("silent", False)):
            for number, example in enumerate(row["examples"][group], 1):
                found = list(detect_curve_conditions(_build_observed(example["curves"], kind)))
                if bool(found) != is_meant:
                    says = "is not found" if is_meant else "is found"
                    yield PatternError(
                        f"{row['id']}: it {says} in example {number} of `{group}`",
                        str(row.get("file", "")),
                        "correct the bounds or the example",
                    )


def _build_observed(
    curves: Mapping[str, Sequence[float | None]], kinds: Mapping[str, AnomalyType]
) -> Observed:
    """Give the view of a process with some curves; the n-th record stands on line n."""
    series = [_build_series(name, values) for name, values in curves.items()]
    view = Observed(series=series, anomaly_types=kinds)
    return view.of(Curves(series, metrics=view.metrics))


def _build_series(name: str, values: Iterable[float | None]) -> Series:
    one = Series(name, names.PLAIN_LOOP, 0, NOWHERE)
    for index, value in enumerate(values, 1):
        if value is not None:
            one.append(float(index), value, index)
    one.settle()
    return one
