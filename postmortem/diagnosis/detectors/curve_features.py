"""Measure all curves of a process as features, and judge by bounds or by the model of curves.

In: the curves of one process, the facts of its log, what else was found. Out: features by name, NaN
where nothing tells; the anomalies of `patterns/anomalies` whose `when` states bounds that are kept,
or that have a `curve_class`, or the doubt that remains. Not here: the measures of one curve
(`detectors.curve_course`), the model (`detectors.boosted_trees`), what a class means for a cause
(`patterns/causes`).

Names of features are `ROLE.MEASURE` for a curve and `PAIR.MEASURE` for two of them. A model is
trained on these names: one that it does not find is NaN to it, so that features may be added. The
model is asked only of a run that shows no failure and no other anomaly that is bad
(`Observed.is_undecided`): what a log proves is not put to the vote.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.message import say
from postmortem.diagnosis.detectors.boosted_trees import SOUND, CurveModel
from postmortem.diagnosis.detectors.chance_level import list_class_counts
from postmortem.diagnosis.detectors.curve_course import (
    MEASURES,
    compute_ratio,
    compute_size,
    get_levels,
    measure_course,
)
from postmortem.diagnosis.detectors.curve_roles import (
    BESIDE,
    RoleCurve,
    choose_role_curves,
    is_adversarial,
    is_policy,
    is_rewarded,
    is_rise_expected,
)
from postmortem.diagnosis.detectors.observed import Anomaly, Curves, Observed, as_share
from postmortem.diagnosis.detectors.scores import SHARES
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.facts.series import Point

JUDGED: Final = ("loss", "eval_loss", "score", "eval_score", "reward", "eval_reward")
"""Roles of which the whole course is measured."""
_OF_BESIDE: Final = (
    "count",
    "first_level",
    "last_level",
    "change",
    "late_slope",
    "repeats",
    "best_change",
)
_TWO: Final = 2
_MOST_CLASSES: Final = 1000
_HALF: Final = 0.6
"""A share beyond which a score is not that of guessing."""


def compute_features(curves: Curves, facts: FactStore) -> dict[str, float]:
    """Measure the curves of a process."""
    roles = choose_role_curves(curves)
    found: dict[str, float] = {}
    for role in JUDGED:
        chosen = roles.get(role)
        if chosen is None:
            found.update((f"{role}.{measure}", math.nan) for measure in MEASURES)
            continue
        course = _measure(curves, chosen)
        found.update((f"{role}.{measure}", value) for measure, value in course.items())
    for role in BESIDE:
        chosen = roles.get(role)
        course = _measure(curves, chosen) if chosen is not None else {}
        found.update((f"{role}.{one}", course.get(one, math.nan)) for one in _OF_BESIDE)
    found.update(_compare_losses(curves, roles))
    found.update(_compare_scores(curves, roles, facts))
    found.update(_measure_rate(curves))
    found.update(_measure_norm(curves))
    found.update(_measure_times(curves))
    found["run.is_policy"] = float(is_policy(curves))
    found["run.is_rewarded"] = float(is_rewarded(curves))
    found["run.is_adversarial"] = float(is_adversarial(curves))
    found["run.may_rise"] = float(is_rise_expected(curves))
    found["run.curves"] = math.log10(1 + len(curves.by_name))
    found["run.first_step"] = _measure_beginning(curves)
    found["scale.halvings"] = _measure_loss_scale(curves)
    found["divergence.by_loss"] = found["divergence.last_level"] - found["loss.last_level"]
    for role in ("diversity", "explained"):
        points = curves.finite(roles[role].name) if role in roles else []
        found[f"{role}.best"] = max((point.value for point in points), default=math.nan)
    return found


def _measure(curves: Curves, chosen: RoleCurve) -> dict[str, float]:
    values = [point.value for point in curves.points(chosen.name)]
    return measure_course(values, is_higher_better=chosen.is_higher_better)


def _compare_losses(curves: Curves, roles: Mapping[str, RoleCurve]) -> dict[str, float]:
    """Compare the validation loss with the training loss."""
    keys = ("gap_first", "gap_best", "gap_last", "train_behind_best", "since_best")
    found = {f"losses.{key}": math.nan for key in keys}
    if "loss" not in roles or "eval_loss" not in roles:
        return found
    trained = curves.finite(roles["loss"].name)
    judged = curves.finite(roles["eval_loss"].name)
    if len(trained) < _TWO or len(judged) < _TWO:
        return found
    at = min(range(len(judged)), key=lambda index: judged[index].value)
    scale = max(abs(trained[0].value), abs(judged[0].value), abs(judged[at].value), 1e-12)
    places = (("gap_first", judged[0]), ("gap_best", judged[at]), ("gap_last", judged[-1]))
    for key, point in places:
        beside = _get_level_at(trained, point.line)
        found[f"losses.{key}"] = compute_ratio(point.value - beside, scale)
    last = _get_level_at(trained, trained[-1].line)
    at_best = _get_level_at(trained, judged[at].line)
    found["losses.train_behind_best"] = compute_ratio(at_best - last, max(abs(at_best), 1e-12))
    found["losses.since_best"] = 1 - at / (len(judged) - 1)
    return found


def _get_level_at(points: Sequence[Point], line: int) -> float:
    """Give the median of the last five points up to a line, of the first ones if there is none."""
    before = [point.value for point in points if point.line <= line][-5:]
    return statistics.median(before or [point.value for point in points[:3]])


def _compare_scores(
    curves: Curves, roles: Mapping[str, RoleCurve], facts: FactStore
) -> dict[str, float]:
    """Compare scores with each other and with what guessing gives."""
    found = dict.fromkeys(
        (
            "scores.gap_first",
            "scores.gap_last",
            "score.share_first",
            "score.share_last",
            "score.share_best",
            "eval_score.share_first",
            "eval_score.share_last",
            "eval_score.share_best",
            "score.by_chance",
            "eval_score.by_chance",
            "loss.by_chance",
            "loss.by_score",
            "eval_loss.by_chance",
            "score.near_chance",
            "eval_score.near_chance",
            "balanced.near_chance",
            "score.is_share",
            "eval_score.is_share",
        ),
        math.nan,
    )
    counts = [count for count in list_class_counts(facts, 2) if count <= _MOST_CLASSES]
    classes = counts[0] if counts else math.nan
    shares, levels = {*curves.of(*SHARES)}, {}
    for role in ("score", "eval_score", "balanced"):
        chosen = roles.get(role)
        points = curves.finite(chosen.name) if chosen and chosen.is_higher_better else []
        values = [as_share(point.value) for point in points]
        if len(values) < _TWO:
            continue
        first, last = get_levels(values)
        found[f"{role}.near_chance"] = _measure_distance_to_chance(last)
        if role == "balanced":
            continue
        found[f"{role}.is_share"] = float(chosen is not None and chosen.name in shares)
        levels[role] = first, last
        found[f"{role}.share_first"], found[f"{role}.share_last"] = first, last
        found[f"{role}.share_best"] = max(values)
        found[f"{role}.by_chance"] = last * classes
    if len(levels) == _TWO:
        found["scores.gap_first"] = levels["score"][0] - levels["eval_score"][0]
        found["scores.gap_last"] = levels["score"][1] - levels["eval_score"][1]
    share = levels.get("score", levels.get("eval_score", (math.nan, math.nan)))[1]
    found.update(_compare_loss_with_chance(curves, roles, classes, share))
    return found


def _compare_loss_with_chance(
    curves: Curves, roles: Mapping[str, RoleCurve], classes: float, share: float
) -> dict[str, float]:
    """Compare the last losses with that of guessing, and what such a share of answers costs."""
    found = {}
    for role in ("loss", "eval_loss"):
        chosen = roles.get(role)
        values = [point.value for point in curves.finite(chosen.name)] if chosen else []
        if not values:
            continue
        level = get_levels(values)[1]
        found[f"{role}.by_chance"] = level / math.log(classes) if classes > 1 else math.nan
        if role == "loss" and 0 < share < 1:
            found["loss.by_score"] = compute_ratio(level, -math.log(share))
    return found


def _measure_distance_to_chance(share: float) -> float:
    """Give how far a share of right answers is from one in so many, as a share of that."""
    if not 0 < share <= _HALF:
        return math.nan
    return abs(share * round(1 / share) - 1)


def _measure_rate(curves: Curves) -> dict[str, float]:
    values = [point.value for point in curves.finite(names.LEARNING_RATE)]
    found = dict.fromkeys(("rate.highest", "rate.last", "rate.zero", "rate.at"), math.nan)
    if values:
        highest = max(values)
        found["rate.highest"] = compute_size(highest)
        found["rate.last"] = compute_ratio(values[-1], highest) if highest else 0.0
        found["rate.zero"] = sum(value == 0 for value in values) / len(values)
        found["rate.at"] = values.index(highest) / len(values)
    return found


def _measure_norm(curves: Curves) -> dict[str, float]:
    every = [point.value for point in curves.points(names.GRAD_NORM)]
    values = [value for value in every if math.isfinite(value)]
    keys = ("first", "last", "highest", "zero", "nonfinite", "change")
    found = {f"norm.{key}": math.nan for key in keys}
    if len(values) < _TWO:
        return found
    first, last = get_levels(values)
    middle = statistics.median(values)
    found["norm.first"], found["norm.last"] = compute_size(first), compute_size(last)
    found["norm.highest"] = compute_size(max(values)) - compute_size(middle)
    found["norm.zero"] = sum(value == 0 for value in values) / len(values)
    found["norm.nonfinite"] = 1 - len(values) / len(every)
    found["norm.change"] = compute_size(last) - compute_size(first)
    return found


def _measure_times(curves: Curves) -> dict[str, float]:
    """Measure which share of a step is waiting for data, and whether steps grow longer."""
    found = dict.fromkeys(
        ("time.waiting", "time.growth", "time.longest", "time.throughput"), math.nan
    )
    steps = curves.by_line(names.STEP_TIME)
    waits = [
        point.value / steps[point.line]
        for point in curves.finite(names.DATA_TIME)
        if steps.get(point.line, 0) > 0
    ]
    if waits:
        found["time.waiting"] = statistics.median(waits)
    values = [point.value for point in curves.finite(names.STEP_TIME)][1:]
    if len(values) > _TWO:
        first, last = get_levels(values)
        found["time.growth"] = compute_ratio(last, first)
        found["time.longest"] = compute_ratio(max(values), statistics.median(values))
    speeds = [point.value for point in curves.finite(names.THROUGHPUT)][1:]
    if len(speeds) > _TWO:
        first, last = get_levels(speeds)
        found["time.throughput"] = compute_ratio(last, first)
    return found


def _measure_beginning(curves: Curves) -> float:
    """Give the first step of the loss as a share of its last: whether the start is printed."""
    points = [point for point in curves.finite(names.LOSS) if not math.isnan(point.step)]
    if len(points) < _TWO or points[-1].step <= 0:
        return math.nan
    return points[0].step / points[-1].step


def _measure_loss_scale(curves: Curves) -> float:
    """Count how often in a row a loss scale was halved at the end of the run."""
    values = [point.value for point in curves.finite(names.LOSS_SCALE)]
    if len(values) < _TWO:
        return math.nan
    drops = [later < earlier for earlier, later in itertools.pairwise(values)]
    return sum(drops) / len(drops)


_FEWEST_JUDGED: Final = 4
"""Records of a curve below which no curve is judged."""


def choose_judged_curves(curves: Curves) -> dict[str, RoleCurve]:
    """Choose the curves with finite values by their roles; none if all of them are too short."""
    roles = {
        role: chosen
        for role, chosen in choose_role_curves(curves).items()
        if curves.finite(chosen.name)
    }
    most = max((curves.count(chosen.name) for chosen in roles.values()), default=0)
    return roles if most >= _FEWEST_JUDGED else {}


def detect_curve_conditions(observed: Observed) -> Iterator[Anomaly]:
    """Find curves whose features keep the bounds of an anomaly."""
    kinds = [kind for kind in observed.anomaly_types.values() if kind.when]
    roles = choose_judged_curves(observed.curves)
    if not kinds or not roles:
        return
    features = compute_features(observed.curves, observed.facts)
    for kind in kinds:
        held = next((one for one in kind.when if one.role in roles and one.holds(features)), None)
        if held is not None:
            yield describe_course(observed.curves, kind.id, roles[held.role])


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


_SURE: Final = 0.8
"""Share of all faults together from which on the likeliest of them is said.

Set on sound logs of public repositories, none of which is in the training set (MODEL_CARD.md).
"""
_DOUBTFUL: Final = 0.5
"""Share from which on a run is not called sound with certainty.

Of logs that were said to have ended well, eleven of 80 reached it, among them all four that had
not.
"""


def detect_unsound_curves(
    last: Observed, whole: Observed | None, open_model: Callable[[], CurveModel]
) -> Iterator[Anomaly]:
    """Find curves that resemble those of runs with a silent fault.

    Args:
        last: the view of the last training of a process, which is judged.
        whole: the view of all its trainings, which may cast doubt on the last one; None if that is
            the only one.
        open_model: gives the model.
    """
    roles = choose_judged_curves(last.curves)
    if not roles:
        return
    model = open_model()
    features = compute_features(last.curves, last.facts)
    shares = model.compute_shares(features)
    doubt = 1.0 - shares.pop(SOUND, 1.0)
    best = max(shares, key=shares.__getitem__)
    kinds = [
        kind.id
        for kind in last.anomaly_types.values()
        if kind.curve_class == best and not any(one.holds(features) for one in kind.contradicted_by)
    ]
    if doubt >= _SURE and kinds:
        name = kinds[0]
    elif max(doubt, _doubt_all_trainings(whole, model)) >= _DOUBTFUL:
        name = "unlike-sound-runs"
    else:
        return
    yield describe_course(last.curves, name, _find_telling_role(model, features, best, roles))


def _doubt_all_trainings(whole: Observed | None, model: CurveModel) -> float:
    """Give the share of all faults for the trainings of a process together; 0 if it is but one."""
    if whole is None:
        return 0.0
    shares = model.compute_shares(compute_features(whole.curves, whole.facts))
    return 1.0 - shares.get(SOUND, 1.0)


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
