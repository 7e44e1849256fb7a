"""Ask the model of curves where no figure decides by itself whether a run is sound.

In: the curves of one process, what else was found. Out: the anomalies of `patterns/anomalies` that
have a `curve_class`, or the doubt that remains. Not here: the measures (`diagnosis.curves`), what a
class means for a cause (`patterns/causes`).

It is asked only of a run that shows no failure and no other anomaly that is bad
(`Observed.is_undecided`): what a log proves is not put to the vote.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from postmortem.diagnosis.curves.boosted_trees import SOUND, CurveModel
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.curve_conditions import choose_judged_curves, describe_course
from postmortem.diagnosis.detectors.curve_features import compute_features
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.role_curves import RoleCurve

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
